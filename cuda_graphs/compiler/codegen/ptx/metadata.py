# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The numbered metadata of a module for GPUs: how far LLVM unrolls loops, and which accesses do not meet.

Iterations that a thread runs together do not access what another one of them stores, as they may run in any order. Each
has an alias scope of its own, so all their loads may come first, and LLVM joins neighbouring accesses.
"""

from __future__ import annotations

__all__ = ["METADATA", "NOT_UNROLLED", "UNROLLED", "WIDTH", "scopes_of"]

UNROLLED = ", !llvm.loop !2"  # LLVM would not unroll loops with an unknown iteration count
NOT_UNROLLED = ", !llvm.loop !4"  # ptxas would unroll loops of few iterations, and needs registers for that

# Numbers of metadata nodes, for each of the most iterations of a group: its alias scope, the list of that scope, the
# list of the others.
WIDTH, SCOPE, LISTS, OTHERS = 16, 10, 30, 50
METADATA = (
    "!2 = distinct !{!2, !3}",
    '!3 = !{!"llvm.loop.unroll.count", i32 4}',
    "!4 = distinct !{!4, !5}",
    '!5 = !{!"llvm.loop.unroll.disable"}',
    '!1 = distinct !{!1, !"iterations of a group"}',
    *(f"!{SCOPE + lane} = distinct !{{!{SCOPE + lane}, !1}}" for lane in range(WIDTH)),
    *(f"!{LISTS + lane} = !{{!{SCOPE + lane}}}" for lane in range(WIDTH)),
    *(
        f"!{OTHERS + lane} = !{{{', '.join(f'!{SCOPE + other}' for other in range(WIDTH) if other != lane)}}}"
        for lane in range(WIDTH)
    ),
)


def scopes_of(lane: int) -> str:
    """Return the metadata of the accesses of an iteration."""
    return f", !alias.scope !{LISTS + lane}, !noalias !{OTHERS + lane}"
