# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Helper functions that generated code calls; a module has only those that it uses."""

from __future__ import annotations

from cuda_graphs.hostdriver.ptx.abi import TOGETHER_BYTES
from cuda_graphs.hostdriver.ptx.analysis import bounds_guard

from . import (
    barrier_arrivals,
    barrier_state,
    blocks,
    clusters,
    fast_functions,
    interpolator,
    mbarriers,
    thread_scheduling,
    warp_sync,
)
from .services import ServiceCalls

# Arguments of llvm.set.rounding.
ROUNDING = {"rz": 0, "rn": 1, "rp": 2, "rm": 3}

_ARITY = {"fadd": 2, "fsub": 2, "fmul": 2, "fdiv": 2, "sqrt": 1, "fma": 3}


class Prelude:
    """The helper functions of a module.

    Args:
        declarations: The declarations of the module, by name.
        services: The calls of services in the module.
        ordered: True if the driver chooses the order of threads.
        fast: True if functions of the special function unit need not have the bits of a GPU.
    """

    def __init__(
        self, declarations: dict[str, str], services: ServiceCalls, *, ordered: bool, fast: bool
    ) -> None:
        self.declarations = declarations
        self.services = services
        self.ordered, self.fast = ordered, fast
        self.functions: dict[str, str] = {}

    def text(self) -> str:
        return "\n".join(self.functions.values())

    def declare(self, name: str, result: str, args: tuple[str, ...]) -> None:
        self.declarations.setdefault(name, f"declare {result} @{name}({', '.join(args)})")

    def blocks(self) -> str:
        """Returns the name of the function that runs blocks of threads that never wait (blocks.py)."""
        self.functions["blocks"] = blocks.text()
        return "blocks"

    def next_in_bounds(self) -> str:
        """Returns the name of the function that finds the next threads in bounds of a row (bounds_guard.py)."""
        self.functions["bounds.next"] = bounds_guard.NEXT
        return "bounds.next"

    def frame(self, divergent: bool) -> str:
        """Returns the name of the function that returns the frame of a resumable thread (thread_scheduling.py)."""
        name = "frame" + ".divergent" * divergent
        if name not in self.functions:
            self.functions[name] = thread_scheduling.frame(self.services, name, divergent=divergent)
            if divergent:
                self.functions |= barrier_state.FUNCTIONS
                self.declare("llvm.memset.p0.i64", "void", ("ptr", "i8", "i64", "i1"))
        return name

    def scheduler(self, divergent: bool, clustered: bool) -> str:
        """Returns the name of the function that runs blocks of resumable threads (thread_scheduling.py)."""
        name = "schedule" + ".divergent" * divergent + ".clustered" * clustered
        if name not in self.functions:
            self.declare("llvm.coro.resume", "void", ("ptr",))
            self.declare("llvm.coro.done", "i1", ("ptr",))
            if divergent:
                self.declare("sched_yield", "i32", ())
            self.functions[name] = thread_scheduling.scheduler(
                self.services, name, divergent=divergent, clustered=clustered, ordered=self.ordered
            )
        return name

    def results(self, kind: str) -> str:
        """Returns the name of a function that stores the results of synchronised lanes (warp_sync.py)."""
        name = f"warp.{kind}"
        if name not in self.functions:
            self.functions[name] = warp_sync.results(kind)
            for bound in ("smin", "smax"):
                self.declare(f"llvm.{bound}.i64", "i64", ("i64", "i64"))
        return name

    def ready(self, kind: str) -> str:
        """Returns the name of a function that says whether a lane may continue; the last lane stores results."""
        name = f"warp.ready.{kind}" if kind else "warp.ready"
        if name not in self.functions:
            if kind:
                self.results(kind)
            self.functions[name] = warp_sync.ready(kind)
        return name

    def cluster(self, name: str) -> str:
        """Returns the name of a function for clusters (clusters.py)."""
        self.functions |= clusters.FUNCTIONS
        return f"cluster.{name}"

    def no_cluster(self) -> str:
        """Returns the name of a zero cgh_together, for launches without a cgh_together."""
        self.functions["no.cluster"] = (
            f"@no.cluster = internal constant [{TOGETHER_BYTES} x i8] zeroinitializer, align 8"
        )
        return "no.cluster"

    def mbarrier(self) -> str:
        """Returns the name of the function that changes an mbarrier object (mbarriers.py)."""
        self.functions["mbarrier.update"] = mbarriers.UPDATE
        return "mbarrier.update"

    def barrier(self, name: str) -> str:
        """Returns the name of a function for barriers (barrier_arrivals.py)."""
        self.functions |= barrier_arrivals.FUNCTIONS
        return f"barrier.{name}"

    def interpolator(self, name: str) -> str:
        """Returns the name of a function of a GPU's special function unit (interpolator.py)."""
        if f"interpolator.{name}" not in self.functions:
            fast = fast_functions.functions(name) if self.fast else None
            self.functions |= fast or interpolator.functions(name)
            for intrinsic, signature in interpolator.INTRINSICS.items():
                self.declare(intrinsic, *signature)
        return f"interpolator.{name}"

    def directed(self, operation: str, mode: str) -> str:
        """Returns the name of a function for a double operation in a directed rounding mode.

        It sets the machine's rounding mode around the operation. This is exact for subnormal results and overflow,
        where error-free transformations in double are not. It is not inlined, because strictfp must stay inside it.
        """
        name = f"directed.{operation}.{mode}"
        if name not in self.functions:
            arity = _ARITY[operation]
            params = ", ".join(f"double %a{i}" for i in range(arity))
            kinds = "".join("double, " for _ in range(arity))
            intrinsic = f"llvm.experimental.constrained.{operation}.f64"
            self.declarations[intrinsic] = f"declare double @{intrinsic}({kinds}metadata, metadata)"
            self.declarations["llvm.set.rounding"] = "declare void @llvm.set.rounding(i32)"
            self.functions[name] = f"""
define internal double @{name}({params}) noinline strictfp nounwind {{
  call void @llvm.set.rounding(i32 {ROUNDING[mode]}) strictfp
  %r = call double @{intrinsic}({params}, metadata !"round.dynamic", metadata !"fpexcept.strict") strictfp
  call void @llvm.set.rounding(i32 {ROUNDING["rn"]}) strictfp
  ret double %r
}}"""
        return name
