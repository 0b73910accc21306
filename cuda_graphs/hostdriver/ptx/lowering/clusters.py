# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""IR of the functions for clusters. The blocks of a cluster run at the same time, each on an OS thread of its own, and
access each other's shared memory. The driver gives them a cgh_together (image_loader.h). A block that was launched
without a cluster makes a cgh_together for itself.

A shared address from `mapa` has the number of the block plus one in its upper byte. An upper byte of 0 means the
executing block. The barrier is one word, so that threads of all blocks can change it atomically:

    generation << 48 | ended << 24 | arrived

    cluster.arrive(together) -> generation       cluster.leave(together)       cluster.ready(together, generation) -> i1
    cluster.address(together, own shared memory, address) -> pointer          cluster.rank(together, pointer) -> number
"""

from __future__ import annotations

from cuda_graphs.hostdriver.ptx.abi import TOGETHER

RANK_SHIFT = 24
OFFSET_MASK = (1 << RANK_SHIFT) - 1


def _field(name: str) -> str:
    offset, kind = TOGETHER[name]
    return f"  %{name}.at = getelementptr i8, ptr %together, i64 {offset}\n  %{name} = load {kind}, ptr %{name}.at\n"


def _change(name: str, result: str, arrives: int, ends: int, give: str) -> str:
    return f"""define internal {result} @cluster.{name}(ptr %together) noinline nounwind {{
entry:
{_field("threads")}  %all = zext i32 %threads to i64
  %barrier.at = getelementptr i8, ptr %together, i64 {TOGETHER["barrier"][0]}
  %first = load atomic i64, ptr %barrier.at monotonic, align 8
  br label %again
again:
  %old = phi i64 [ %first, %entry ], [ %seen, %again ]
  %new = add i64 %old, {arrives + (ends << 24)}
  %arrived = and i64 %new, 16777215
  %high = lshr i64 %new, 24
  %ended = and i64 %high, 16777215
  %here = add i64 %arrived, %ended
  %all.here = icmp eq i64 %here, %all
  %somebody = icmp ne i64 %arrived, 0
  %complete = and i1 %all.here, %somebody
  %none.arrived = sub i64 %new, %arrived
  %next = add i64 %none.arrived, 281474976710656
  %wanted = select i1 %complete, i64 %next, i64 %new
  %pair = cmpxchg ptr %barrier.at, i64 %old, i64 %wanted acq_rel acquire, align 8
  %seen = extractvalue {{ i64, i1 }} %pair, 0
  %is.done = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %is.done, label %done, label %again
done:
{give}
}}
"""


_ARRIVE = _change("arrive", "i64", 1, 0, "  %came = lshr i64 %old, 48\n  ret i64 %came")
_LEAVE = _change("leave", "void", 0, 1, "  ret void")

_READY = f"""define internal i1 @cluster.ready(ptr %together, i64 %came) noinline nounwind {{
  %barrier.at = getelementptr i8, ptr %together, i64 {TOGETHER["barrier"][0]}
  %now = load atomic i64, ptr %barrier.at acquire, align 8
  %generation = lshr i64 %now, 48
  %is.over = icmp ne i64 %generation, %came
  ret i1 %is.over
}}
"""

_ADDRESS = f"""define internal ptr @cluster.address(ptr %together, ptr %own, i64 %address) nounwind {{
{_field("shared")}{_field("step")}  %number = lshr i64 %address, {RANK_SHIFT}
  %is.own = icmp eq i64 %number, 0
  %rank = sub i64 %number, 1
  %distance = mul i64 %rank, %step
  %other = getelementptr i8, ptr %shared, i64 %distance
  %base = select i1 %is.own, ptr %own, ptr %other
  %offset = and i64 %address, {OFFSET_MASK}
  %found = getelementptr i8, ptr %base, i64 %offset
  ret ptr %found
}}
"""

_RANK = f"""define internal i64 @cluster.rank(ptr %together, ptr %pointer) nounwind {{
{_field("shared")}{_field("step")}  %start = ptrtoint ptr %shared to i64
  %place = ptrtoint ptr %pointer to i64
  %distance = sub i64 %place, %start
  %rank = udiv i64 %distance, %step
  ret i64 %rank
}}
"""

FUNCTIONS = {
    "cluster.arrive": _ARRIVE,
    "cluster.leave": _LEAVE,
    "cluster.ready": _READY,
    "cluster.address": _ADDRESS,
    "cluster.rank": _RANK,
}
