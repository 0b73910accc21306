# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The form of the functions in the code of a CPU: entries, and the functions that they call."""

from __future__ import annotations

from collections.abc import Sequence

from cuda_graphs.compiler.artifact import Layout
from cuda_graphs.compiler.codegen.llvm.emitter import Emitter
from cuda_graphs.compiler.ir import ir
from cuda_graphs.native import llvm
from cuda_graphs.native.units import Unit

__all__ = ["HIDDEN", "INTERNAL", "PARAMETERS", "function", "passes_of", "receive", "unit_of"]

INTERNAL = "internal "  # the linkage of functions that LLVM may inline
HIDDEN = "hidden "  # that of functions which other units call
PARAMETERS = "ptr %launch, ptr %params, ptr noalias %shared, i64 %first, i64 %end"


def receive(e: Emitter, slots: Layout) -> None:
    """Emit the loads of parameters of the kernel."""
    for slot, what in slots:
        at = e.let(f"getelementptr i8, ptr %params, i64 {slot.offset}")
        e.receive(slot, what, e.let(f"load {e.slot_type(slot, what)}, ptr {at}, !invariant.load !3"))


def function(e: Emitter, name: str, passes: str = "", linkage: str = "", further: Sequence[str] = ()) -> str:
    """Return the text of an entry, or of a function that an entry calls.

    Args:
        passes: An attribute of native/llvm.py.
        further: Types and names of parameters after the usual ones.
    """
    e.line("ret void")
    given = ", ".join([PARAMETERS, *further])
    return f"define {linkage}void @{name}({given}) {passes} {{\n{e.text()}\n}}\n"


def passes_of(body: ir.Block) -> str:
    """Return the attribute that chooses the passes of a function without lanes, or "" for the usual ones."""
    has_loops = any(isinstance(each, (ir.For, ir.While)) for each in ir.walk_called(body))
    return "" if has_loops else llvm.SERIAL


def unit_of(name: str, functions: list[str], declarations: dict[str, str]) -> Unit:
    return Unit(name, "\n".join([*functions, *declarations.values(), METADATA]))


METADATA = """
!0 = distinct !{}
!1 = distinct !{!1, !2}
!2 = !{!"llvm.loop.parallel_accesses", !0}
!3 = !{}
!4 = distinct !{!4, !5}
!5 = !{!"llvm.loop.unroll.disable"}
!6 = distinct !{!6, !5, !7}
!7 = !{!"llvm.loop.vectorize.enable", i1 false}
!8 = distinct !{!8, !2, !10}
!9 = distinct !{!9, !2, !11}
!10 = !{!"llvm.loop.interleave.count", i32 8}
!11 = !{!"llvm.loop.interleave.count", i32 4}
!12 = distinct !{!12, !13}
!13 = !{!"llvm.loop.unroll.runtime.disable"}
"""
