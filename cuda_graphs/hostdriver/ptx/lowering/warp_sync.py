# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""IR of the functions that synchronise lanes of a warp (barrier_state.py) and combine their values.

Each warp instruction is one call of @warp.ready and one suspension point. LLVM's coroutine pass takes time that grows
with the code around suspension points: with everything inline, a kernel of 48 sums took minutes.
"""

from __future__ import annotations

from .barrier_state import BARRIER_RECORD, PROGRESS, RESULT, SOURCE, VALUE, WARP

# Reductions of the values of lanes: (start value, operation that adds a lane).
REDUCTIONS = {
    "add": ("0", "add i64 %acc, %value"),
    "and": ("-1", "and i64 %acc, %value"),
    "or": ("0", "or i64 %acc, %value"),
    "xor": ("0", "xor i64 %acc, %value"),
    "smin": (str((1 << 63) - 1), "call i64 @llvm.smin.i64(i64 %acc, i64 %value)"),
    "smax": (str(-(1 << 63)), "call i64 @llvm.smax.i64(i64 %acc, i64 %value)"),
}


def results(kind: str) -> str:
    """Returns the function @warp.<kind>(record, members), which stores the results of the member lanes."""
    if kind in REDUCTIONS:
        return _reduction(kind, *REDUCTIONS[kind])
    return {"gather": _GATHER, "equal": _EQUAL}[kind]


def ready(kind: str) -> str:
    """Returns the function @warp.ready[.<kind>](warp record, block record, own bit, members) -> may this lane continue?

    The last lane that arrives computes the results and releases all lanes. The PTX ISA leaves a lane that is not in its
    own mask undefined; here that lane waits for the others.
    """
    name = f"warp.ready.{kind}" if kind else "warp.ready"
    compute = f"  call void @warp.{kind}(ptr %warp, i32 %needed)\n" if kind else ""
    return f"""define internal i1 @{name}(ptr %warp, ptr %barriers, i32 %bit, i32 %members) noinline nounwind {{
entry:
  %arrived.at = getelementptr i8, ptr %warp, i64 {WARP["arrived"][0]}
  %released.at = getelementptr i8, ptr %warp, i64 {WARP["released"][0]}
  %released = load i32, ptr %released.at
  %mine = and i32 %released, %bit
  %may.go = icmp ne i32 %mine, 0
  br i1 %may.go, label %take, label %test
test:
  %arrived.old = load i32, ptr %arrived.at
  %arrived = or i32 %arrived.old, %bit
  store i32 %arrived, ptr %arrived.at
  %live = load i32, ptr %warp
  %named = or i32 %members, %bit
  %needed = and i32 %named, %live
  %here = and i32 %arrived, %needed
  %all = icmp eq i32 %here, %needed
  br i1 %all, label %release, label %wait
release:
{compute}  %others = xor i32 %needed, -1
  %left = and i32 %arrived, %others
  store i32 %left, ptr %arrived.at
  %more = or i32 %released, %needed
  store i32 %more, ptr %released.at
  br label %take
take:
  %before = load i32, ptr %released.at
  %not.mine = xor i32 %bit, -1
  %after = and i32 %before, %not.mine
  store i32 %after, ptr %released.at
{progress(PROGRESS)}  ret i1 true
wait:
  ret i1 false
}}
"""


def progress(which: int | str) -> str:
    """Returns IR that records in the block record that this round of threads made progress."""
    at = f"  %progress.at = getelementptr i8, ptr %barriers, i64 {BARRIER_RECORD['progress'][0]}\n"
    return (
        f"{at}  %progress.old = load i32, ptr %progress.at\n  %progress.new = or i32 %progress.old, {which}\n"
        "  store i32 %progress.new, ptr %progress.at\n"
    )


def _lanes(body: str, before: str = "") -> str:
    """Returns a loop over the member lanes."""
    return f"""  br label %loop
loop:
  %lane = phi i32 [ 0, %entry ], [ %next, %after ]
{before}  %bit = shl i32 1, %lane
  %and = and i32 %bit, %members
  %is.member = icmp ne i32 %and, 0
  br i1 %is.member, label %member, label %after
member:
  %at = zext i32 %lane to i64
{body}
  br label %after
after:
"""


_NEXT = """  %next = add i32 %lane, 1
  %more = icmp ult i32 %next, 32
  br i1 %more, label %loop, label %end
end:
"""


def _place(name: str, offset: int, kind: str, index: str = "%at") -> str:
    return (
        f"  %{name}.base = getelementptr i8, ptr %warp, i64 {offset}\n"
        f"  %{name}.at = getelementptr {kind}, ptr %{name}.base, i64 {index}\n"
    )


# result[lane] = value[source[lane]]; a lane whose source lane is not a member gets its own value.
_GATHER_LANE = (
    _place("source", SOURCE, "i32")
    + """  %source = load i32, ptr %source.at
  %there.bit = shl i32 1, %source
  %there.and = and i32 %there.bit, %members
  %there = icmp ne i32 %there.and, 0
  %from32 = select i1 %there, i32 %source, i32 %lane
  %from = zext i32 %from32 to i64
"""
    + _place("value", VALUE, "i64", "%from")
    + "  %value = load i64, ptr %value.at\n"
    + _place("result", RESULT, "i64")
    + "  store i64 %value, ptr %result.at"
)
_GATHER = f"""define internal void @warp.gather(ptr %warp, i32 %members) nounwind {{
entry:
{_lanes(_GATHER_LANE)}{_NEXT}  ret void
}}
"""

# result[lane]: in the low half the mask of members with the same value, in the high half the mask of all members.
_EQUAL = f"""define internal void @warp.equal(ptr %warp, i32 %members) nounwind {{
entry:
  br label %outer
outer:
  %one = phi i32 [ 0, %entry ], [ %one.next, %found ]
  %one.at = zext i32 %one to i64
  %own.base = getelementptr i8, ptr %warp, i64 {VALUE}
  %own.at = getelementptr i64, ptr %own.base, i64 %one.at
  %own = load i64, ptr %own.at
  br label %loop
loop:
  %lane = phi i32 [ 0, %outer ], [ %next, %loop ]
  %mask = phi i64 [ 0, %outer ], [ %mask.new, %loop ]
  %at = zext i32 %lane to i64
  %value.at = getelementptr i64, ptr %own.base, i64 %at
  %value = load i64, ptr %value.at
  %same = icmp eq i64 %value, %own
  %bit = shl i64 1, %at
  %with = or i64 %mask, %bit
  %mask.new = select i1 %same, i64 %with, i64 %mask
  %next = add i32 %lane, 1
  %more = icmp ult i32 %next, 32
  br i1 %more, label %loop, label %inside
inside:
  %members64 = zext i32 %members to i64
  %equal = and i64 %mask.new, %members64
  %own.bit = shl i32 1, %one
  %own.and = and i32 %own.bit, %members
  %is.member = icmp ne i32 %own.and, 0
  br i1 %is.member, label %write, label %found
write:
  %result.base = getelementptr i8, ptr %warp, i64 {RESULT}
  %result.at = getelementptr i64, ptr %result.base, i64 %one.at
  %members.high = shl i64 %members64, 32
  %both = or i64 %equal, %members.high
  store i64 %both, ptr %result.at
  br label %found
found:
  %one.next = add i32 %one, 1
  %one.more = icmp ult i32 %one.next, 32
  br i1 %one.more, label %outer, label %end
end:
  ret void
}}
"""


def _reduction(kind: str, start: str, join: str) -> str:
    total = f"  %acc = phi i64 [ {start}, %entry ], [ %joined, %after ]\n"
    loop = _lanes(
        _place("value", VALUE, "i64") + f"  %value = load i64, ptr %value.at\n  %new = {join}", total
    )
    return f"""define internal void @warp.{kind}(ptr %warp, i32 %members) nounwind {{
entry:
{loop}  %joined = phi i64 [ %acc, %loop ], [ %new, %member ]
{_NEXT}  br label %give
give:
  %to = phi i64 [ 0, %end ], [ %to.next, %given ]
  %to.bit = shl i64 1, %to
  %members64 = zext i32 %members to i64
  %to.and = and i64 %to.bit, %members64
  %to.member = icmp ne i64 %to.and, 0
  br i1 %to.member, label %write, label %given
write:
  %result.base = getelementptr i8, ptr %warp, i64 {RESULT}
  %result.at = getelementptr i64, ptr %result.base, i64 %to
  store i64 %joined, ptr %result.at
  br label %given
given:
  %to.next = add i64 %to, 1
  %to.more = icmp ult i64 %to.next, 32
  br i1 %to.more, label %give, label %done
done:
  ret void
}}
"""
