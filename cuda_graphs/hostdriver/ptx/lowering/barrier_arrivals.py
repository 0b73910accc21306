# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""IR of the functions that implement barriers of a block, or of a part of it (barrier_state.py).

    barrier.arrive(record, number, needed, vote) -> generation     counts a thread; the last thread releases the others
    barrier.ready(record, number, needed, generation) -> i1        true when the threads of this generation may continue
    barrier.record(record, which)                                    records PROGRESS or YIELDED
    barrier.result(record, number, generation) -> i32              the votes of bar.red: arrivals << 16 | yes

`needed` is the number of threads that the instruction names; 0 means all threads that have not ended. With 0, a thread
that ends may complete the barrier.
"""

from __future__ import annotations

from .barrier_state import ARRIVED, BARRIERS, GENERATION, PROGRESS, RESULTS, RESULTS_KEPT, VOTES
from .warp_sync import progress


def _at(name: str, offset: int) -> str:
    return (
        f"  %{name}.base = getelementptr i8, ptr %barriers, i64 {offset}\n"
        f"  %{name}.at = getelementptr i32, ptr %{name}.base, i32 %n\n"
        f"  %{name} = load i32, ptr %{name}.at\n"
    )


def _result_at(generation: str) -> str:
    return f"""  %kept = and i32 {generation}, {RESULTS_KEPT - 1}
  %first = mul i32 %n, {RESULTS_KEPT}
  %place = add i32 %first, %kept
  %result.base = getelementptr i8, ptr %barriers, i64 {RESULTS}
  %result.at = getelementptr i32, ptr %result.base, i32 %place
"""


ATTRIBUTES = "noinline nounwind"
NUMBER = f"  %n = and i32 %number, {BARRIERS - 1}\n"

_TRY = f"""define internal i1 @barrier.try(ptr %barriers, i32 %n, i32 %needed) {ATTRIBUTES} {{
entry:
{_at("arrived", ARRIVED)}  %live = load i32, ptr %barriers
  %is.all = icmp eq i32 %needed, 0
  %wanted = select i1 %is.all, i32 %live, i32 %needed
  %complete = icmp uge i32 %arrived, %wanted
  br i1 %complete, label %release, label %wait
release:
{_at("votes", VOTES)}{_at("generation", GENERATION)}{_result_at("%generation")}  %high = shl i32 %arrived, 16
  %both = or i32 %high, %votes
  store i32 %both, ptr %result.at
  store i32 0, ptr %arrived.at
  store i32 0, ptr %votes.at
  %next = add i32 %generation, 1
  store i32 %next, ptr %generation.at
  ret i1 true
wait:
  ret i1 false
}}
"""

_ARRIVE = f"""define internal i32 @barrier.arrive(ptr %barriers, i32 %number, i32 %needed, i32 %vote) {ATTRIBUTES} {{
entry:
{NUMBER}{_at("generation", GENERATION)}{_at("arrived", ARRIVED)}{_at("votes", VOTES)}  %one.more = add i32 %arrived, 1
  store i32 %one.more, ptr %arrived.at
  %votes.now = add i32 %votes, %vote
  store i32 %votes.now, ptr %votes.at
{progress(PROGRESS)}  %released = call i1 @barrier.try(ptr %barriers, i32 %n, i32 %needed)
  ret i32 %generation
}}
"""

_READY = f"""define internal i1 @barrier.ready(ptr %barriers, i32 %number, i32 %needed, i32 %came) {ATTRIBUTES} {{
entry:
{NUMBER}{_at("generation", GENERATION)}  %is.over = icmp ne i32 %generation, %came
  br i1 %is.over, label %go, label %test
test:
  %released = call i1 @barrier.try(ptr %barriers, i32 %n, i32 %needed)
  br i1 %released, label %go, label %wait
go:
{progress(PROGRESS)}  ret i1 true
wait:
  ret i1 false
}}
"""

_RESULT = f"""define internal i32 @barrier.result(ptr %barriers, i32 %number, i32 %came) {ATTRIBUTES} {{
entry:
{NUMBER}{_result_at("%came")}  %result = load i32, ptr %result.at
  ret i32 %result
}}
"""

_NOTE = f"""define internal void @barrier.record(ptr %barriers, i32 %which) {ATTRIBUTES} {{
entry:
{progress("%which")}  ret void
}}
"""

FUNCTIONS = {
    "barrier.try": _TRY,
    "barrier.arrive": _ARRIVE,
    "barrier.ready": _READY,
    "barrier.result": _RESULT,
    "barrier.record": _NOTE,
}
