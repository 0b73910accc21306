# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The differential table: one row an instruction form. A row is data: PTX text for one element, inputs, what NumPy says
the results are, and how far off they may be. Nothing here knows how the kernels are run, so that the host driver and a
GPU can be held to the same rows.

    for row in rows():
        text = module_text([row])          # PTX with one kernel, named row.kernel
        arrays = row.arrays()              # one a source; out and scratch come before them
        launch(row.kernel, out, scratch, *arrays, np.uint32(row.count))     # 128 threads a block
        row.check(out)

`scratch` has 16 bytes an element. In a row's code {d} is the result, {a} {b} {c} the sources, {slot} the address of the
element's scratch memory (global), {sh} the 32-bit address of 16 bytes of the thread's own shared memory.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

HEADER = ".version 9.0\n.target sm_90\n.address_size 64\n"
BLOCK = 128

ARRAY = {
    **{f"{kind}{bits}": np.dtype(f"uint{bits}") for kind in "ub" for bits in (8, 16, 32, 64)},
    **{f"s{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
    "f16": np.dtype("float16"),
    "f32": np.dtype("float32"),
    "f64": np.dtype("float64"),
    "bf16": np.dtype("uint16"),
    "f16x2": np.dtype("uint32"),
    "bf16x2": np.dtype("uint32"),
    "u16x2": np.dtype("uint32"),
    "s16x2": np.dtype("uint32"),
}
# The type of the register that holds a value, and of the access that moves it.
REGISTER = {
    **dict.fromkeys(("u8", "s8", "b8", "f16", "bf16"), "b16"),
    **dict.fromkeys(("f16x2", "bf16x2", "u16x2", "s16x2"), "b32"),
}
ACCESS = {
    **dict.fromkeys(("f16", "bf16"), "b16"),
    **dict.fromkeys(("f16x2", "bf16x2", "u16x2", "s16x2"), "b32"),
}


@dataclass(frozen=True)
class Row:
    name: str
    code: str
    sources: tuple[str, ...]
    result: str
    inputs: Callable[[], tuple[np.ndarray, ...]]
    expect: Callable[..., np.ndarray]
    ulps: float = 0  # of the result's type, for floating point results
    absolute: float = 0  # or this far off
    undefined: Callable[..., np.ndarray] | None = None  # inputs for which PTX promises nothing
    registers: str = ""  # more declarations
    kernel: str = field(default="", compare=False)

    def arrays(self) -> tuple[np.ndarray, ...]:
        with np.errstate(all="ignore"):
            found = self.inputs()
        assert len(found) == len(self.sources)
        for array, kind in zip(found, self.sources, strict=True):
            assert array.dtype == ARRAY[kind], (self.name, array.dtype, kind)
        return found

    @property
    def count(self) -> int:
        return len(self.arrays()[0])

    def output(self) -> np.ndarray:
        return np.zeros(self.count, ARRAY[self.result])

    def expected(self) -> np.ndarray:
        with np.errstate(all="ignore"):
            found = np.asarray(self.expect(*self.arrays()))
        assert found.dtype == ARRAY[self.result], (self.name, found.dtype)
        return found

    def differences(self, out: np.ndarray) -> np.ndarray:
        """The indices of the elements that are wrong."""
        expected = self.expected()
        bad = ~self._agree(out, expected)
        if self.undefined is not None:
            with np.errstate(all="ignore"):
                bad &= ~self.undefined(*self.arrays())
        return np.flatnonzero(bad)

    def check(self, out: np.ndarray) -> None:
        wrong = self.differences(out)
        if len(wrong):
            expected = self.expected()
            lines = [
                f"  ({', '.join(str(array[i]) for array in self.arrays())}) -> {out[i]!r}, not {expected[i]!r}"
                for i in wrong[:10]
            ]
            raise AssertionError(f"{self.name}: {len(wrong)} of {self.count} are wrong\n" + "\n".join(lines))

    def _agree(self, out: np.ndarray, expected: np.ndarray) -> np.ndarray:
        a, b = as_floats(out, self.result), as_floats(expected, self.result)
        if a is None or b is None:
            return out == expected
        same = (a == b) & (np.signbit(a) == np.signbit(b)) | (np.isnan(a) & np.isnan(b))
        if self.ulps or self.absolute:
            with np.errstate(all="ignore"):
                off = np.abs(a.astype(np.float64) - b.astype(np.float64))
                spacing = np.spacing(np.abs(b)).astype(np.float64)
                same |= (off <= self.ulps * spacing) | (off <= self.absolute)
        return same if same.ndim == 1 else same.all(axis=1)


def as_floats(array: np.ndarray, kind: str) -> np.ndarray | None:
    """An array of a floating point type as NumPy floats (two columns for a packed type), else None."""
    if kind in ("f16", "f32", "f64"):
        return array
    if kind == "f16x2":
        return array.view(np.float16).reshape(-1, 2)
    if kind in ("bf16", "bf16x2"):
        wide = (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
        return wide.reshape(-1, 2) if kind == "bf16x2" else wide
    return None


def kernel_text(row: Row, kernel: str) -> str:
    """Loads the sources of one element, runs the row's code, stores the result."""
    names = "abc"[: len(row.sources)]
    params = "".join(f", .param .u64 p_{name}" for name in names)
    lines = [
        f".visible .entry {kernel}(.param .u64 p_out, .param .u64 p_scratch{params}, .param .u32 p_n) {{",
        "  .reg .pred %guard; .reg .b32 %i, %m, %n, %sh; .reg .b64 %at, %wide, %slot;",
        f"  .reg .{REGISTER.get(row.result, row.result)} %d;",
        "  .reg .pred %p, %q; .reg .b32 %t, %u; .reg .b64 %x; .reg .b16 %h;",
        *(
            f"  .reg .{REGISTER.get(kind, kind)} %{name};"
            for name, kind in zip(names, row.sources, strict=True)
        ),
        f"  {row.registers}",
        f"  .shared .align 16 .b8 own[{16 * BLOCK}];",
        "  mov.u32 %i, %ctaid.x; mov.u32 %m, %ntid.x; mov.u32 %n, %tid.x;",
        "  mov.u32 %sh, own; mad.lo.s32 %sh, %n, 16, %sh;",
        "  mad.lo.s32 %i, %i, %m, %n; ld.param.u32 %n, [p_n];",
        "  setp.ge.u32 %guard, %i, %n; @%guard bra done;",
        "  ld.param.u64 %slot, [p_scratch]; cvta.to.global.u64 %slot, %slot;",
        "  mul.wide.u32 %wide, %i, 16; add.s64 %slot, %slot, %wide;",
    ]
    for name, kind in zip(names, row.sources, strict=True):
        lines += _element(f"p_{name}", kind)
        lines.append(f"  ld.global.{ACCESS.get(kind, kind)} %{name}, [%at];")
    values = {name: f"%{name}" for name in "abcdpqtuxh"}
    lines.append("  " + row.code.format(slot="%slot", sh="%sh", **values))
    lines += _element("p_out", row.result)
    lines.append(f"  st.global.{ACCESS.get(row.result, row.result)} [%at], %d;")
    lines += ["done:", "  ret;", "}", ""]
    return "\n".join(lines)


def _element(param: str, kind: str) -> list[str]:
    return [
        f"  ld.param.u64 %at, [{param}]; cvta.to.global.u64 %at, %at;",
        f"  mul.wide.u32 %wide, %i, {ARRAY[kind].itemsize}; add.s64 %at, %at, %wide;",
    ]


def module_text(some: list[Row]) -> str:
    return HEADER + "".join(kernel_text(row, row.kernel) for row in some)


def rows() -> list[Row]:
    """All rows, with kernel names."""
    from dataclasses import replace

    from tests.ptx import rows_bits, rows_compare, rows_convert, rows_float, rows_integer, rows_memory

    found = []
    for family in (rows_integer, rows_bits, rows_compare, rows_float, rows_convert, rows_memory):
        name = family.__name__.rpartition("_")[2]
        found += [replace(row, kernel=f"{name}_{number}") for number, row in enumerate(family.rows())]
    assert len({row.name for row in found}) == len(found), "two rows have one name"
    return found


def family(row: Row) -> str:
    return row.kernel.partition("_")[0]
