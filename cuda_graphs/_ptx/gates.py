# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Where threads of a block wait for each other in kernels with warp instructions.

Without these all threads come to the same barriers, and one that is resumed may go on. With them, warps may be at
different places, so each barrier and each warp has a record: who has come, and who may go on. A thread that waits looks
there whenever it is resumed; the last one of those who are needed lets all go. A thread that has ended is not needed.

    barrier b   generation[b] changes when all have come
    warp        arrived, released: masks of lanes; value, source: what lanes gave; result: what each gets

The one who lets lanes go computes their results, for them alone: another group of the same warp may still have to
read its own. Where a round of all threads changes nothing, they wait for ever, and the kernel ends with a trap.
"""

from __future__ import annotations

# The record of a block: field -> (offset, LLVM type). A block has 16 barriers (PTX ISA, "bar").
BARRIERS = 16
GATE = {"live": (0, "i32"), "progress": (4, "i32")}
ARRIVED, GENERATION = 64, 128  # of each barrier, an i32
GATE_BYTES = 192

# The record of a warp.
WARP = {
    "live": (0, "i32"),  # lanes that have not ended
    "arrived": (4, "i32"),
    "released": (8, "i32"),
    "asking": (12, "i32"),  # lanes at an activemask
}
VALUE, SOURCE, RESULT = 64, 320, 448  # of each lane: i64, i32, i64
WARP_BYTES = 704

# Combinations of the values of lanes: where they begin, and one more of them.
REDUCTIONS = {
    "add": ("0", "add i64 %acc, %value"),
    "and": ("-1", "and i64 %acc, %value"),
    "or": ("0", "or i64 %acc, %value"),
    "xor": ("0", "xor i64 %acc, %value"),
    "smin": (str((1 << 63) - 1), "call i64 @llvm.smin.i64(i64 %acc, i64 %value)"),
    "smax": (str(-(1 << 63)), "call i64 @llvm.smax.i64(i64 %acc, i64 %value)"),
}


def meeting(kind: str) -> str:
    """The function @warp.<kind>(record, members), which leaves the results of lanes that meet."""
    if kind in REDUCTIONS:
        return _reduction(kind, *REDUCTIONS[kind])
    return {"gather": _GATHER, "equal": _EQUAL}[kind]


def _lanes(body: str, before: str = "") -> str:
    """A loop over the lanes that are members."""
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


# result[lane] = value[source[lane]]; the own one, where nobody is at the source.
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

# result[lane]: the mask of members with the same value; in its high half that of all members.
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


# What a thread does when it starts: %memory is the arena, %gate and %warp its records. The first thread of a block and
# of a warp, which start first, make them new.
BEGIN = f"""  %frames = mul i64 %count, %stride
  %gate = getelementptr i8, ptr %memory, i64 %frames
  %warp.number = lshr i64 %linear, 5
  %warp.place = mul i64 %warp.number, {WARP_BYTES}
  %warp.first = add i64 %warp.place, {GATE_BYTES}
  %warp = getelementptr i8, ptr %gate, i64 %warp.first
  %lane64 = and i64 %linear, 31
  %lane = trunc i64 %lane64 to i32
  %lane.bit = shl i32 1, %lane
  %lane.others = xor i32 %lane.bit, -1
  %is.first = icmp eq i64 %linear, 0
  br i1 %is.first, label %new.gate, label %old.gate
new.gate:
  call void @llvm.memset.p0.i64(ptr %gate, i8 0, i64 {GATE_BYTES}, i1 false)
  %count32 = trunc i64 %count to i32
  store i32 %count32, ptr %gate
  br label %old.gate
old.gate:
  %is.lane.0 = icmp eq i32 %lane, 0
  br i1 %is.lane.0, label %new.warp, label %old.warp
new.warp:
  call void @llvm.memset.p0.i64(ptr %warp, i8 0, i64 {WARP_BYTES}, i1 false)
  %left = sub i64 %count, %linear
  %is.full = icmp uge i64 %left, 32
  %some = shl i64 1, %left
  %some.mask = sub i64 %some, 1
  %lanes64 = select i1 %is.full, i64 4294967295, i64 %some.mask
  %lanes = trunc i64 %lanes64 to i32
  store i32 %lanes, ptr %warp
  br label %old.warp
old.warp:"""

# What it does when it ends.
END = f"""  %live.threads = load i32, ptr %gate
  %live.fewer = sub i32 %live.threads, 1
  store i32 %live.fewer, ptr %gate
  %progress.at = getelementptr i8, ptr %gate, i64 {GATE["progress"][0]}
  store i32 1, ptr %progress.at
  %live.lanes = load i32, ptr %warp
  %live.rest = and i32 %live.lanes, %lane.others
  store i32 %live.rest, ptr %warp"""

# More of the arena, after the frames of the threads.
MORE_BYTES = f"""  %warps.above = add i64 %threads, 31
  %warps = lshr i64 %warps.above, 5
  %warps.bytes = mul i64 %warps, {WARP_BYTES}
  %gates.bytes = add i64 %warps.bytes, {GATE_BYTES}
  %total = add i64 %frames.bytes, %gates.bytes"""
