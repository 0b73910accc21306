# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Records for threads of a block that wait for each other, in kernels with warp instructions.

Without warp instructions all threads reach the same barriers, and a resumed thread may always continue. With them,
warps may be at different places. Each barrier and each warp therefore has a record of the threads that have arrived and
of the threads that may continue. A waiting thread reads the record whenever it is resumed. The last thread that a
barrier or warp instruction needs releases the others. A thread that has ended is not needed.

    barrier b   arrived[b], votes[b]; generation[b] changes when all have arrived
    warp        arrived, released: masks of lanes; value, source: operands of lanes; result: a result for each lane

The thread that releases lanes computes results for these lanes only, because another group of the same warp may still
have to read its results. If a round of all threads changes nothing, no thread can ever continue: the kernel ends with a
trap. A thread that polls memory yields to the others (`polls` of call_graph.py). It never counts as stuck, because
another block or the host may write the value that it waits for.

This file has the records. warp_sync.py has the functions for warps, barrier_arrivals.py the functions for barriers.
"""

from __future__ import annotations

from .blocks import get_field

# The record of a block: field -> (offset, LLVM type). A block has 16 barriers (PTX ISA, "bar").
BARRIERS = 16
BARRIER_RECORD = {"live": (0, "i32"), "progress": (4, "i32")}
PROGRESS, YIELDED = (
    1,
    2,
)  # flags of a round of threads: a thread advanced; a thread polled memory, which other blocks may change
ARRIVED, GENERATION, VOTES = 64, 128, 192  # offsets of arrays with an i32 for each barrier
ZEROED_BYTES = 256
# Results of bar.red by barrier and generation: arrivals << 16 | votes for the predicate. All results of a generation
# are read within one round of threads. A block of 1024 threads completes at most 32 generations of a barrier in a
# round, because each needs at least a warp.
RESULTS, RESULTS_KEPT = 256, 32
BARRIER_RECORD_BYTES = RESULTS + 4 * BARRIERS * RESULTS_KEPT

# The record of a warp.
WARP = {
    "live": (0, "i32"),  # lanes that have not ended
    "arrived": (4, "i32"),
    "released": (8, "i32"),
    "asking": (12, "i32"),  # lanes at an activemask
}
VALUE, SOURCE, RESULT = 64, 320, 448  # offsets of arrays with an i64, i32 and i64 for each lane
WARP_BYTES = 704

# A suspension point of a thread. `noduplicate` keeps LLVM from unrolling loops with suspension points (the halving of a
# reduction). Unrolled copies, each with its own resume point, doubled compile time and ran no faster.
SUSPEND = "call i8 @llvm.coro.suspend(token none, i1 false) noduplicate"

# Code at the start of a thread. It ends with a suspension: LLVM would compile code before the first suspension point
# twice, because a thread may pass a barrier without waiting. The records come from calls, because LLVM's coroutine pass
# recomputes values after each suspension point but saves results of calls.
BEGIN = f"""  %barriers = call ptr @barrier.begin(ptr %block, i64 %linear)
  %warp = call ptr @warp.begin(ptr %block, ptr %barriers, i64 %linear)
  %lane64 = and i64 %linear, 31
  %lane = trunc i64 %lane64 to i32
  %lane.bit = shl i32 1, %lane
  %lane.others = xor i32 %lane.bit, -1
  %starts = {SUSPEND}
  switch i8 %starts, label %suspend [ i8 0, label %started
                                      i8 1, label %suspend ]
started:"""

# Code at the end of a thread.
END = "  call void @barrier.end(ptr %barriers, ptr %warp, i32 %lane.others)"

# The records lie behind the frames. The first thread of a block or warp starts first and initialises its record.
_BARRIERS_BEGIN = f"""define internal ptr @barrier.begin(ptr %block, i64 %linear) noinline nounwind {{
entry:
{get_field("arena")}
{get_field("stride")}
{get_field("threads")}
  %frames = mul i64 %threads, %stride
  %barriers = getelementptr i8, ptr %arena, i64 %frames
  %is.first = icmp eq i64 %linear, 0
  br i1 %is.first, label %new, label %old
new:
  call void @llvm.memset.p0.i64(ptr %barriers, i8 0, i64 {ZEROED_BYTES}, i1 false)
  %threads32 = trunc i64 %threads to i32
  store i32 %threads32, ptr %barriers
  br label %old
old:
  ret ptr %barriers
}}
"""

_WARP_BEGIN = f"""define internal ptr @warp.begin(ptr %block, ptr %barriers, i64 %linear) noinline nounwind {{
entry:
{get_field("threads")}
  %number = lshr i64 %linear, 5
  %place = mul i64 %number, {WARP_BYTES}
  %behind = add i64 %place, {BARRIER_RECORD_BYTES}
  %warp = getelementptr i8, ptr %barriers, i64 %behind
  %lane = and i64 %linear, 31
  %is.first = icmp eq i64 %lane, 0
  br i1 %is.first, label %new, label %old
new:
  call void @llvm.memset.p0.i64(ptr %warp, i8 0, i64 {WARP_BYTES}, i1 false)
  %left = sub i64 %threads, %linear
  %is.full = icmp uge i64 %left, 32
  %some = shl i64 1, %left
  %some.mask = sub i64 %some, 1
  %lanes64 = select i1 %is.full, i64 4294967295, i64 %some.mask
  %lanes = trunc i64 %lanes64 to i32
  store i32 %lanes, ptr %warp
  br label %old
old:
  ret ptr %warp
}}
"""

_END = f"""define internal void @barrier.end(ptr %barriers, ptr %warp, i32 %others) noinline nounwind {{
entry:
  %threads = load i32, ptr %barriers
  %fewer = sub i32 %threads, 1
  store i32 %fewer, ptr %barriers
  %progress.at = getelementptr i8, ptr %barriers, i64 {BARRIER_RECORD["progress"][0]}
  store i32 {PROGRESS}, ptr %progress.at
  %lanes = load i32, ptr %warp
  %rest = and i32 %lanes, %others
  store i32 %rest, ptr %warp
  ret void
}}
"""

FUNCTIONS = {"barrier.begin": _BARRIERS_BEGIN, "warp.begin": _WARP_BEGIN, "barrier.end": _END}

# Bytes of the records in the arena, after the frames of the threads.
MORE_BYTES = f"""  %warps.above = add i64 %threads, 31
  %warps = lshr i64 %warps.above, 5
  %warps.bytes = mul i64 %warps, {WARP_BYTES}
  %barriers.bytes = add i64 %warps.bytes, {BARRIER_RECORD_BYTES}
  %total = add i64 %frames.bytes, %barriers.bytes"""
