# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Special registers. The host driver's device has one multiprocessor."""

from collections.abc import Callable

from cuda_graphs.hostdriver.ptx.abi import INVARIANT, LAUNCH, TOGETHER_AT
from cuda_graphs.hostdriver.ptx.analysis.layout import RESERVED_BYTES
from cuda_graphs.hostdriver.ptx.lowering.function import FunctionLowering
from cuda_graphs.hostdriver.ptx.lowering.table import SPECIAL

AXES = ("x", "y", "z")


def _launch(name: str) -> Callable[[FunctionLowering], tuple[str, str]]:
    def read(f: FunctionLowering) -> tuple[str, str]:
        at = f.let(f"getelementptr i8, ptr {f.hidden('launch')}, i64 {LAUNCH[name]}")
        return f.let(f"load i32, ptr {at}, {INVARIANT}"), "i32"

    return read


def _hidden(name: str) -> Callable[[FunctionLowering], tuple[str, str]]:
    return lambda f: (f.hidden(name), "i32")


def _constant(value: int, kind: str = "i32") -> Callable[[FunctionLowering], tuple[str, str]]:
    return lambda f: (str(value), kind)


def _service(name: str, shift: int = 0, kind: str = "i64") -> Callable[[FunctionLowering], tuple[str, str]]:
    def read(f: FunctionLowering) -> tuple[str, str]:
        f.count += 1
        result = f"%time{f.count}"
        f.lines.append(f.module.services.call(result, name, "i64", ""))
        if shift:
            result = f.let(f"lshr i64 {result}, {shift}")
        return f.convert(result, "i64", kind), kind

    return read


def _cluster(op: str, register: str, axis: str) -> Callable[[FunctionLowering], tuple[str, str]]:
    """Returns a reader of a cluster register; `udiv`: in whole clusters, `urem`: inside the cluster."""

    def read(f: FunctionLowering) -> tuple[str, str]:
        whole = f.hidden(f"ctaid.{axis}") if register == "ctaid" else _launch(f"{register}.{axis}")(f)[0]
        return f.let(f"{op} i32 {whole}, {_launch(f'cluster_nctaid.{axis}')(f)[0]}"), "i32"

    return read


def _cluster_rank(f: FunctionLowering) -> tuple[str, str]:
    """Returns the block's rank in its cluster."""
    x, y, z = (_cluster("urem", "ctaid", axis)(f)[0] for axis in AXES)
    columns, rows = (_launch(f"cluster_nctaid.{axis}")(f)[0] for axis in "xy")
    row_number = f.let(f"add i32 {f.let(f'mul i32 {z}, {rows}')}, {y}")
    return f.let(f"add i32 {f.let(f'mul i32 {row_number}, {columns}')}, {x}"), "i32"


def _cluster_size(f: FunctionLowering) -> tuple[str, str]:
    x, y, z = (_launch(f"cluster_nctaid.{axis}")(f)[0] for axis in AXES)
    return f.let(f"mul i32 {f.let(f'mul i32 {x}, {y}')}, {z}"), "i32"


def _is_cluster(f: FunctionLowering) -> tuple[str, str]:
    """Returns whether the launch has clusters. A launch with explicit clusters of one block counts as without."""
    return f.let(f"icmp ugt i32 {_cluster_size(f)[0]}, 1"), "i1"


def _grid_words(shift: int) -> Callable[[FunctionLowering], tuple[str, str]]:
    """Returns a reader of %envreg1 or %envreg2.

    They are the halves of an address: the words of a cooperative launch for grid.sync() (NVRTC's cooperative_groups.h).
    Without a cooperative launch they are 0.
    """

    def read(f: FunctionLowering) -> tuple[str, str]:
        at = f.let(f"getelementptr i8, ptr {f.hidden('launch')}, i64 {TOGETHER_AT}")
        together = f.let(f"load ptr, ptr {at}")
        nothing = f"@{f.module.prelude.no_cluster()}"
        is_alone = f.let(f"icmp eq ptr {together}, null")
        words = f.let(f"load ptr, ptr {f.let(f'select i1 {is_alone}, ptr {nothing}, ptr {together}')}")
        half = f.let(f"lshr i64 {f.let(f'ptrtoint ptr {words} to i64')}, {shift}")
        return f.let(f"trunc i64 {half} to i32"), "i32"

    return read


def _linear(f: FunctionLowering) -> str:
    """Returns the thread's number in its block."""
    x, y = (_launch(f"ntid.{axis}")(f)[0] for axis in "xy")
    rows = f.let(f"mul i32 {f.hidden('tid.z')}, {y}")
    row_number = f.let(f"add i32 {rows}, {f.hidden('tid.y')}")
    return f.let(f"add i32 {f.let(f'mul i32 {row_number}, {x}')}, {f.hidden('tid.x')}")


def _lane(f: FunctionLowering) -> tuple[str, str]:
    return f.let(f"and i32 {_linear(f)}, 31"), "i32"


def _warp(f: FunctionLowering) -> tuple[str, str]:
    return f.let(f"lshr i32 {_linear(f)}, 5"), "i32"


def _warps(f: FunctionLowering) -> tuple[str, str]:
    x, y, z = (_launch(f"ntid.{axis}")(f)[0] for axis in AXES)
    threads = f.let(f"mul i32 {f.let(f'mul i32 {x}, {y}')}, {z}")
    return f.let(f"lshr i32 {f.let(f'add i32 {threads}, 31')}, 5"), "i32"


def _lane_mask(make: str) -> Callable[[FunctionLowering], tuple[str, str]]:
    """Returns a reader of a lane mask: the lanes whose number is `make` ("eq", "lt", ...) the own lane's number."""

    def read(f: FunctionLowering) -> tuple[str, str]:
        bit = f.let(f"shl i32 1, {_lane(f)[0]}")
        below = f.let(f"sub i32 {bit}, 1")
        up_to = f.let(f"or i32 {bit}, {below}")
        found = {"eq": bit, "lt": below, "le": up_to}
        if make in found:
            return found[make], "i32"
        return f.let(f"xor i32 {up_to if make == 'gt' else below}, -1"), "i32"

    return read


def _total_shared(f: FunctionLowering) -> tuple[str, str]:
    dynamic, _ = _launch("dynamic_smem_size")(f)
    return f.let(f"add i32 {f.hidden('dyn')}, {dynamic}"), "i32"


def _reserved(distance: int) -> Callable[[FunctionLowering], tuple[str, str]]:
    def read(f: FunctionLowering) -> tuple[str, str]:
        assert f.kernel is not None
        return str(f.module.layout.reserved[f.kernel.name] + distance), "i32"

    return read


SPECIAL |= {
    **{f"%tid.{axis}": _hidden(f"tid.{axis}") for axis in AXES},
    **{f"%ctaid.{axis}": _hidden(f"ctaid.{axis}") for axis in AXES},
    **{f"%ntid.{axis}": _launch(f"ntid.{axis}") for axis in AXES},
    **{f"%nctaid.{axis}": _launch(f"nctaid.{axis}") for axis in AXES},
    **{f"%clusterid.{axis}": _cluster("udiv", "ctaid", axis) for axis in AXES},
    **{f"%nclusterid.{axis}": _cluster("udiv", "nctaid", axis) for axis in AXES},
    **{f"%cluster_ctaid.{axis}": _cluster("urem", "ctaid", axis) for axis in AXES},
    **{f"%cluster_nctaid.{axis}": _launch(f"cluster_nctaid.{axis}") for axis in AXES},
    "%cluster_ctarank": _cluster_rank,
    "%cluster_nctarank": _cluster_size,
    "%laneid": _lane,
    "%warpid": _warp,
    "%nwarpid": _warps,
    "%smid": _constant(0),
    "%nsmid": _constant(1),
    "%gridid": _constant(0, "i64"),
    "%clock": _service("clock64", kind="i32"),
    "%clock_hi": _service("clock64", 32, "i32"),
    "%clock64": _service("clock64"),
    "%globaltimer": _service("globaltimer"),
    "%globaltimer_lo": _service("globaltimer", kind="i32"),
    "%globaltimer_hi": _service("globaltimer", 32, "i32"),
    **{f"%lanemask_{make}": _lane_mask(make) for make in ("eq", "lt", "le", "gt", "ge")},
    "%dynamic_smem_size": _launch("dynamic_smem_size"),
    "%total_smem_size": _total_shared,
    "%aggr_smem_size": _total_shared,
    "%is_explicit_cluster": _is_cluster,
    **{f"%reserved_smem_offset_{name}": _reserved(0) for name in ("begin", "0", "1")},
    "%reserved_smem_offset_end": _reserved(RESERVED_BYTES),
    "%reserved_smem_offset_cap": _constant(RESERVED_BYTES),
    "%envreg1": _grid_words(32),
    "%envreg2": _grid_words(0),
}
