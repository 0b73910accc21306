# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The function that runs blocks of resumable threads. Kernels of a module with the same needs share one:

    schedule(threads' function, offset of dynamic shared memory, entry arguments)

    for every block: for z, y, x: start(thread)                 runs to the first suspension point
                     until all have ended: for every thread: resume

Where warps may be at different places (barrier_state.py), a round in which no thread makes progress is the last.
"""

from __future__ import annotations

from cuda_graphs.hostdriver.ptx.abi import TOGETHER, TOGETHER_AT, TOGETHER_BYTES

from . import barrier_state
from .blocks import ARGUMENTS, begin, blocks_begin, blocks_end, get_field, set_field
from .clusters import RANK_SHIFT
from .services import ServiceCalls


def _together(divergent: bool, clustered: bool) -> str:
    """Returns IR that loads the launch's cgh_together and, for clusters, chooses the cluster's or a new record."""
    if not divergent:
        return ""
    launched = f"""  %together.at = getelementptr i8, ptr %launch, i64 {TOGETHER_AT}
  %together = load ptr, ptr %together.at"""
    if not clustered:
        return launched
    return f"""{launched}
  %own = alloca [{TOGETHER_BYTES} x i8], align 8
{_field("own", "shared", "%shared")}
{_field("own", "step", str(1 << RANK_SHIFT))}
{_field("own", "threads", "%threads32")}
  %is.launched.alone = icmp eq ptr %together, null
  %polled.together = select i1 %is.launched.alone, ptr %own, ptr %together
  %first.shared.at = getelementptr i8, ptr %polled.together, i64 {TOGETHER["shared"][0]}
  %first.shared = load ptr, ptr %first.shared.at
  %no.cluster = icmp eq ptr %first.shared, null
  %cluster = select i1 %no.cluster, ptr %own, ptr %polled.together
{set_field("cluster", "%cluster")}"""


def _new_cluster(clustered: bool) -> str:
    """Returns IR that resets the block's own cluster record; it runs before each block."""
    return _field("own", "barrier", "0") if clustered else ""


def _field(record: str, name: str, value: str) -> str:
    offset, kind = TOGETHER[name]
    return (
        f"  %{record}.{name} = getelementptr i8, ptr %{record}, i64 {offset}\n"
        f"  store {kind} {value}, ptr %{record}.{name}"
    )


def _clear_progress(divergent: bool) -> str:
    """Returns IR that runs before a round of all threads, in a kernel with barrier records: it clears `progress`."""
    if not divergent:
        return ""
    return f"""  %barriers.offset = mul i64 %threads, %stride
  %barriers = getelementptr i8, ptr %arena, i64 %barriers.offset
  %progress.at = getelementptr i8, ptr %barriers, i64 {barrier_state.BARRIER_RECORD["progress"][0]}
  store i32 0, ptr %progress.at"""


def _after_round(services: ServiceCalls, divergent: bool) -> str:
    """Returns IR that runs after a round and decides whether another round follows.

    If no thread made progress or polled memory, the block is stuck: it traps. If threads only polled, it also traps
    when another block of the same launch ended in a fault.
    """
    if not divergent:
        return "  br i1 %still.waiting, label %round, label %block.end"
    return f"""  br i1 %still.waiting, label %stopped, label %block.end
stopped:
  %progress = load i32, ptr %progress.at
  %advanced = and i32 %progress, {barrier_state.PROGRESS}
  %is.on = icmp ne i32 %advanced, 0
  br i1 %is.on, label %round, label %only.polled
only.polled:
  %polled = icmp ne i32 %progress, 0
  br i1 %polled, label %yield, label %stuck
yield:
  %yielded = call i32 @sched_yield()
  %is.alone = icmp eq ptr %together, null
  br i1 %is.alone, label %round, label %ask.others
ask.others:
  %ended.at = getelementptr i8, ptr %together, i64 {TOGETHER["ended"][0]}
  %ended.word = load ptr, ptr %ended.at
  %ended = load atomic i32, ptr %ended.word monotonic, align 4
  %go.on = icmp eq i32 %ended, 0
  br i1 %go.on, label %round, label %stuck
stuck:
{services.call("", "trap", "void", "")}
  unreachable"""


def _next_thread(ordered: bool) -> str:
    """Returns IR that chooses the next thread of a round."""
    if not ordered:
        return "  %resumed = add i64 %number, 0"
    return """  %resumed.at = getelementptr i32, ptr %order, i64 %number
  %resumed32 = load i32, ptr %resumed.at
  %resumed = zext i32 %resumed32 to i64"""


def _thread_order(services: ServiceCalls, ordered: bool) -> str:
    return services.call("%order", "order", "ptr", "i32 %threads32") if ordered else ""


def scheduler(services: ServiceCalls, name: str, *, divergent: bool, clustered: bool, ordered: bool) -> str:
    return f"""
define internal void @{name}(ptr %begin, i32 %dyn, {ARGUMENTS}) noinline nounwind {{
{begin()}
{set_field("arena", "null")}
{set_field("launch", "%launch")}
{set_field("shared", "%shared")}
{set_field("params", "%params")}
{set_field("dyn", "%dyn")}
  %threads.xy = mul i32 %ntid.x, %ntid.y
  %threads32 = mul i32 %threads.xy, %ntid.z
  %threads = zext i32 %threads32 to i64
{set_field("threads", "%threads")}
{_together(divergent, clustered)}
{blocks_begin()}
{_new_cluster(clustered)}
{set_field("ctaid.x", "%ctaid.x")}
{set_field("ctaid.y", "%ctaid.y")}
{set_field("ctaid.z", "%ctaid.z")}
  br label %loop.z
loop.z:
  %tid.z = phi i32 [ 0, %block.begin ], [ %next.z, %end.y ]
  %linear.z = phi i64 [ 0, %block.begin ], [ %linear.next, %end.y ]
  br label %loop.y
loop.y:
  %tid.y = phi i32 [ 0, %loop.z ], [ %next.y, %end.x ]
  %linear.y = phi i64 [ %linear.z, %loop.z ], [ %linear.next, %end.x ]
  br label %loop.x
loop.x:
  %tid.x = phi i32 [ 0, %loop.y ], [ %next.x, %loop.x ]
  %linear = phi i64 [ %linear.y, %loop.y ], [ %linear.next, %loop.x ]
  %unused = call ptr %begin(ptr %block, i32 %tid.x, i32 %tid.y, i32 %tid.z, i64 %linear)
  %linear.next = add nuw nsw i64 %linear, 1
  %next.x = add nuw nsw i32 %tid.x, 1
  %more.x = icmp ult i32 %next.x, %ntid.x
  br i1 %more.x, label %loop.x, label %end.x
end.x:
  %next.y = add nuw nsw i32 %tid.y, 1
  %more.y = icmp ult i32 %next.y, %ntid.y
  br i1 %more.y, label %loop.y, label %end.y
end.y:
  %next.z = add nuw nsw i32 %tid.z, 1
  %more.z = icmp ult i32 %next.z, %ntid.z
  br i1 %more.z, label %loop.z, label %started
started:
{get_field("arena")}
{get_field("stride")}
  br label %round
round:
{_clear_progress(divergent)}
{_thread_order(services, ordered)}
  br label %thread
thread:
  %number = phi i64 [ 0, %round ], [ %number.next, %thread.next ]
  %waiting = phi i1 [ false, %round ], [ %still.waiting, %thread.next ]
{_next_thread(ordered)}
  %offset = mul nuw nsw i64 %resumed, %stride
  %handle = getelementptr i8, ptr %arena, i64 %offset
  %has.ended = call i1 @llvm.coro.done(ptr %handle)
  br i1 %has.ended, label %thread.next, label %resume
resume:
  call void @llvm.coro.resume(ptr %handle)
  br label %thread.next
thread.next:
  %still.waiting = phi i1 [ %waiting, %thread ], [ true, %resume ]
  %number.next = add nuw nsw i64 %number, 1
  %more.threads = icmp ult i64 %number.next, %threads
  br i1 %more.threads, label %thread, label %round.end
round.end:
{_after_round(services, divergent)}
{blocks_end()}
"""


def frame(services: ServiceCalls, name: str, *, divergent: bool) -> str:
    """Returns a function that returns a thread's frame; the first thread allocates memory for the whole block."""
    return f"""
define internal ptr @{name}(ptr %block, i64 %stride, i64 %linear) noinline nounwind {{
entry:
{get_field("arena")}
  %is.new = icmp eq ptr %arena, null
  br i1 %is.new, label %allocate, label %place
allocate:
{get_field("threads")}
  %frames.bytes = mul i64 %threads, %stride
{barrier_state.MORE_BYTES if divergent else ""}
{services.call("%fresh", "scratch", "ptr", f"i64 {'%total' if divergent else '%frames.bytes'}")}
{set_field("arena", "%fresh")}
{set_field("stride", "%stride")}
  br label %place
place:
  %memory = phi ptr [ %arena, %entry ], [ %fresh, %allocate ]
  %offset = mul i64 %linear, %stride
  %mine = getelementptr i8, ptr %memory, i64 %offset
  ret ptr %mine
}}
"""
