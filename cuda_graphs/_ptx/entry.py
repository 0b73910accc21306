# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The entry point of a kernel: loops over the blocks of a range and the threads of a block.

    plain       for every block: for z, y, x: body(...)         the body is inlined, the x loop can be vectorised
    resumable   for every block: for z, y, x: start(thread)     runs to the first barrier
                                 until all have ended: for every thread: resume

A resumable thread is an LLVM coroutine. Its frame lies at arena + thread * stride; the arena is scratch memory of the
calling OS thread. A thread that has ended counts as arrived at every barrier, because nobody waits for it.

With warp instructions threads do not all come to the same places in the same order: gates.py.

Where the driver chooses the order of threads (watch.py), loops over them go through a permutation that it gives, and a
resumable thread waits once before it begins, so that all are there before the first of them runs.

Both kinds have a block record (abi.BLOCK); a plain body needs it only for isspacep.
"""

from __future__ import annotations

from . import gates
from .abi import (
    BLOCK,
    BLOCK_BYTES,
    HIDDEN,
    HIDDEN_SIGNATURE,
    INVARIANT,
    LAUNCH,
    LAUNCH_BYTES,
    TOGETHER,
    TOGETHER_AT,
    TOGETHER_BYTES,
)
from .clusters import RANK_SHIFT
from .function import FunctionLowering
from .syntax import Function


def param_offsets(function: Function) -> tuple[list[tuple[int, int]], int]:
    """(offset, size) of each parameter and the size of the whole block, by natural alignment in order."""
    found, at = [], 0
    for variable in function.params:
        at = -(-at // variable.align) * variable.align
        found.append((at, variable.bytes))
        at += variable.bytes
    return found, at


def _set(name: str, value: str) -> str:
    offset, kind = BLOCK[name]
    return (
        f"  %set.{name} = getelementptr i8, ptr %block, i64 {offset}\n  store {kind} {value}, ptr %set.{name}"
    )


def _get(name: str) -> str:
    offset, kind = BLOCK[name]
    return (
        f"  %at.{name} = getelementptr i8, ptr %block, i64 {offset}\n  %{name} = load {kind}, ptr %at.{name}"
    )


def _launch_fields() -> str:
    lines = []
    for name, offset in LAUNCH.items():
        if name != "dynamic_smem_size":
            lines.append(f"  %at.{name} = getelementptr i8, ptr %launch, i64 {offset}")
            lines.append(f"  %{name} = load i32, ptr %at.{name}, {INVARIANT}")
    return "\n".join(lines)


def _pointer(name: str, size: int, *, noalias: bool = True) -> str:
    known = f" dereferenceable({size})" if size else ""
    return f"ptr{' noalias readonly' if noalias else ''} align 8{known} %{name}"


def _bind_params(f: FunctionLowering, function: Function, params: list[tuple[int, int]], base: str) -> None:
    for variable, (offset, _) in zip(function.params, params, strict=True):
        name = f"%p{offset}.{len(f.frame.objects)}"
        f.prologue.append(f"  {name} = getelementptr i8, ptr {base}, i64 {offset}")
        f.frame.objects[variable] = name


def plain_kernel(f: FunctionLowering, function: Function, params: list[tuple[int, int]], size: int) -> str:
    _bind_params(f, function, params, "%params")
    f.lower_body("return")
    f.place("return")
    f.do("ret void")
    body = f'@"b.{function.name}"'
    arguments = dict.fromkeys(HIDDEN) | {"dyn": str(f.module.layout.dynamic_offset(function))}
    passed = ", ".join(f"{kind} {arguments[name] or '%' + name}" for name, kind in HIDDEN.items())
    call = f"call void {body}({passed}, ptr %params)"
    threads = _in_order_given(f, call) if f.module.wants.order else _in_rows(call, _loop_metadata(f))
    # The body's pointers are not noalias: the inliner would leave scope intrinsics behind, which count as memory
    # accesses without an access group and so undo the parallel mark.
    return f"""
define internal void {body}({HIDDEN_SIGNATURE}, ptr align 8 %params) alwaysinline nounwind {{
entry:
{f.text()}
}}

{_entry_head(function, size, shared_noalias=True)}
start:
{_set("arena", "null")}
{_set("stride", "0")}
{_blocks_begin()}
{threads}
{_blocks_end()}
"""


def _in_rows(call: str, loop: str) -> str:
    return f"""  br label %loop.z
loop.z:
  %tid.z = phi i32 [ 0, %block.begin ], [ %next.z, %end.y ]
  br label %loop.y
loop.y:
  %tid.y = phi i32 [ 0, %loop.z ], [ %next.y, %end.x ]
  br label %loop.x
loop.x:
  %tid.x = phi i32 [ 0, %loop.y ], [ %next.x, %loop.x ]
  {call}
  %next.x = add nuw nsw i32 %tid.x, 1
  %more.x = icmp ult i32 %next.x, %ntid.x
  br i1 %more.x, label %loop.x, label %end.x{loop}
end.x:
  %next.y = add nuw nsw i32 %tid.y, 1
  %more.y = icmp ult i32 %next.y, %ntid.y
  br i1 %more.y, label %loop.y, label %end.y
end.y:
  %next.z = add nuw nsw i32 %tid.z, 1
  %more.z = icmp ult i32 %next.z, %ntid.z
  br i1 %more.z, label %loop.z, label %block.end"""


def _in_order_given(f: FunctionLowering, call: str) -> str:
    return f"""  %threads.xy = mul i32 %ntid.x, %ntid.y
  %threads32 = mul i32 %threads.xy, %ntid.z
{f.module.prelude.service_call("%order", "order", "ptr", "i32 %threads32")}
  br label %thread
thread:
  %number = phi i32 [ 0, %block.begin ], [ %number.next, %thread ]
  %linear.at = getelementptr i32, ptr %order, i32 %number
  %linear = load i32, ptr %linear.at
  %tid.x = urem i32 %linear, %ntid.x
  %rows = udiv i32 %linear, %ntid.x
  %tid.y = urem i32 %rows, %ntid.y
  %tid.z = udiv i32 %rows, %ntid.y
  {call}
  %number.next = add nuw i32 %number, 1
  %more.threads = icmp ult i32 %number.next, %threads32
  br i1 %more.threads, label %thread, label %block.end"""


def _loop_metadata(f: FunctionLowering) -> str:
    """Vectors, but one at a time and no unrolled remainders: rows of a block are short (16, 32, 256 threads), and both
    would cost code, time to compile, and the vectors themselves for rows shorter than four of them."""
    number = 100 + len(f.module.metadata)
    parallel = ", !5" if f.parallel else ""
    f.module.metadata.append(f"!{number} = distinct !{{!{number}, !6, !7{parallel}}}")
    return f", !llvm.loop !{number}"


def _entry_head(function: Function, size: int, *, shared_noalias: bool) -> str:
    known = "noalias " if shared_noalias else ""
    given = f"{_pointer('launch', LAUNCH_BYTES)}, {_pointer('params', size)}"
    blocks = f"ptr {known}%shared, i64 %first, i64 %end"
    return f"""define void @"k.{function.name}"({given}, {blocks}) nounwind {{
entry:
  %block = alloca [{BLOCK_BYTES} x i8], align 16
  %frame = call ptr @llvm.frameaddress.p0(i32 0)
{_set("frame", "%frame")}
{_launch_fields()}
  %nothing = icmp uge i64 %first, %end
  br i1 %nothing, label %done, label %start"""


def _blocks_begin() -> str:
    return """  %from.zero = icmp eq i64 %first, 0
  br i1 %from.zero, label %block.begin, label %divide
divide:
  %gx = zext i32 %nctaid.x to i64
  %gy = zext i32 %nctaid.y to i64
  %fx = urem i64 %first, %gx
  %q = udiv i64 %first, %gx
  %fy = urem i64 %q, %gy
  %fz = udiv i64 %q, %gy
  %fx32 = trunc i64 %fx to i32
  %fy32 = trunc i64 %fy to i32
  %fz32 = trunc i64 %fz to i32
  br label %block.begin
block.begin:
  %index = phi i64 [ %first, %start ], [ %first, %divide ], [ %next.index, %block.next ]
  %ctaid.x = phi i32 [ 0, %start ], [ %fx32, %divide ], [ %new.x, %block.next ]
  %ctaid.y = phi i32 [ 0, %start ], [ %fy32, %divide ], [ %new.y, %block.next ]
  %ctaid.z = phi i32 [ 0, %start ], [ %fz32, %divide ], [ %new.z, %block.next ]"""


def _blocks_end() -> str:
    return """block.end:
  %next.index = add nuw i64 %index, 1
  %last = icmp uge i64 %next.index, %end
  br i1 %last, label %done, label %block.next
block.next:
  %plus.x = add i32 %ctaid.x, 1
  %wrap.x = icmp eq i32 %plus.x, %nctaid.x
  %new.x = select i1 %wrap.x, i32 0, i32 %plus.x
  %carry.y = zext i1 %wrap.x to i32
  %plus.y = add i32 %ctaid.y, %carry.y
  %wrap.y = icmp eq i32 %plus.y, %nctaid.y
  %new.y = select i1 %wrap.y, i32 0, i32 %plus.y
  %carry.z = zext i1 %wrap.y to i32
  %new.z = add i32 %ctaid.z, %carry.z
  br label %block.begin
done:
  ret void
}"""


def _together(f: FunctionLowering) -> str:
    """What this block shares with those that run at the same time; of the cluster, if there is one."""
    if not f.gated:
        return ""
    launched = f"""  %together.at = getelementptr i8, ptr %launch, i64 {TOGETHER_AT}
  %together = load ptr, ptr %together.at"""
    if not f.clustered:
        return launched
    return f"""{launched}
  %own = alloca [{TOGETHER_BYTES} x i8], align 8
{_field("own", "shared", "%shared")}
{_field("own", "step", str(1 << RANK_SHIFT))}
{_field("own", "threads", "%threads32")}
  %is.launched.alone = icmp eq ptr %together, null
  %asked.together = select i1 %is.launched.alone, ptr %own, ptr %together
  %first.shared.at = getelementptr i8, ptr %asked.together, i64 {TOGETHER["shared"][0]}
  %first.shared = load ptr, ptr %first.shared.at
  %no.cluster = icmp eq ptr %first.shared, null
  %cluster = select i1 %no.cluster, ptr %own, ptr %asked.together
{_set("cluster", "%cluster")}"""


def _new_cluster(f: FunctionLowering) -> str:
    """Before each block: a cluster of its own is a new one."""
    return _field("own", "barrier", "0") if f.clustered else ""


def _leave_cluster(f: FunctionLowering) -> str:
    """A thread that has ended counts as arrived at the cluster's barrier, because nobody waits for it."""
    if not f.clustered:
        return ""
    offset, kind = BLOCK["cluster"]
    return f"""  %my.cluster.at = getelementptr i8, ptr %block, i64 {offset}
  %my.cluster = load {kind}, ptr %my.cluster.at
  call void @{f.module.prelude.cluster("leave")}(ptr %my.cluster)"""


def _field(record: str, name: str, value: str) -> str:
    offset, kind = TOGETHER[name]
    return (
        f"  %{record}.{name} = getelementptr i8, ptr %{record}, i64 {offset}\n"
        f"  store {kind} {value}, ptr %{record}.{name}"
    )


def _watch(f: FunctionLowering) -> str:
    """Before a round of all threads, in a kernel with gates."""
    if not f.gated:
        return ""
    return f"""  %gate.offset = mul i64 %threads, %stride
  %gate = getelementptr i8, ptr %arena, i64 %gate.offset
  %progress.at = getelementptr i8, ptr %gate, i64 {gates.GATE["progress"][0]}
  store i32 0, ptr %progress.at"""


def _look(f: FunctionLowering) -> str:
    """After it: whether there is another one. If nobody got on or asked memory, nobody ever will; nor if a block that
    runs together with this one ended in a fault."""
    if not f.gated:
        return "  br i1 %still.waiting, label %round, label %block.end"
    f.module.declarations["sched_yield"] = "declare i32 @sched_yield()"
    return f"""  br i1 %still.waiting, label %look, label %block.end
look:
  %progress = load i32, ptr %progress.at
  %got.on = and i32 %progress, {gates.PROGRESS}
  %is.on = icmp ne i32 %got.on, 0
  br i1 %is.on, label %round, label %only.asked
only.asked:
  %asked = icmp ne i32 %progress, 0
  br i1 %asked, label %let.others, label %stuck
let.others:
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
{f.module.prelude.service_call("", "trap", "void", "")}
  unreachable"""


_WAIT_ONCE = """  %begun = call i8 @llvm.coro.suspend(token none, i1 false)
  switch i8 %begun, label %suspend [ i8 0, label %go
                                     i8 1, label %suspend ]
go:"""


def _resumed(f: FunctionLowering) -> str:
    """Whose turn it is in a round."""
    if not f.module.wants.order:
        return "  %resumed = add i64 %number, 0"
    return """  %resumed.at = getelementptr i32, ptr %order, i64 %number
  %resumed32 = load i32, ptr %resumed.at
  %resumed = zext i32 %resumed32 to i64"""


def resumable_kernel(
    f: FunctionLowering, function: Function, params: list[tuple[int, int]], size: int
) -> str:
    _bind_params(f, function, params, "%params")
    f.lower_body("return")
    for name, result, args in (
        ("llvm.coro.id", "token", ("i32", "ptr", "ptr", "ptr")),
        ("llvm.coro.size.i64", "i64", ()),
        ("llvm.coro.begin", "ptr", ("token", "ptr")),
        ("llvm.coro.suspend", "i8", ("token", "i1")),
        ("llvm.coro.end", "void", ("ptr", "i1", "token")),
        ("llvm.coro.resume", "void", ("ptr",)),
        ("llvm.coro.done", "i1", ("ptr",)),
        ("llvm.memset.p0.i64", "void", ("ptr", "i8", "i64", "i1")),
    ):
        f.module.declare(name, result, args)
    thread = f'@"t.{function.name}"'
    dyn = f.module.layout.dynamic_offset(function)
    index = "i32 %tid.x, i32 %tid.y, i32 %tid.z, i64 %linear"
    return f"""
define internal ptr {thread}(ptr %block, {index}) presplitcoroutine noinline nounwind {{
entry:
{f.text_of(f.allocas)}
  %id = call token @llvm.coro.id(i32 64, ptr null, ptr null, ptr null)
  %bytes = call i64 @llvm.coro.size.i64()
  %padded = add i64 %bytes, 63
  %stride = and i64 %padded, -64
{_get("arena")}
  %is.new = icmp eq ptr %arena, null
  br i1 %is.new, label %allocate, label %begin
allocate:
{_get("threads")}
  %frames.bytes = mul i64 %threads, %stride
{gates.MORE_BYTES if f.gated else ""}
{f.module.prelude.service_call("%fresh", "scratch", "ptr", f"i64 {'%total' if f.gated else '%frames.bytes'}")}
{_set("arena", "%fresh")}
{_set("stride", "%stride")}
  br label %begin
begin:
  %memory = phi ptr [ %arena, %entry ], [ %fresh, %allocate ]
  %offset = mul i64 %linear, %stride
  %mine = getelementptr i8, ptr %memory, i64 %offset
  %handle = call ptr @llvm.coro.begin(token %id, ptr %mine)
{_get("params")}
{_get("threads").replace("%threads", "%count").replace("%at.threads", "%at.count")}
  %alone = icmp eq i64 %count, 1
{gates.BEGIN if f.gated else _WAIT_ONCE if f.module.wants.order else ""}
{f.text_of(f.prologue)}
{f.text_of(f.lines)}
return:
{gates.END if f.gated else ""}
{_leave_cluster(f)}
  %ended = call i8 @llvm.coro.suspend(token none, i1 true)
  switch i8 %ended, label %suspend [ i8 0, label %suspend
                                     i8 1, label %suspend ]
suspend:
  call void @llvm.coro.end(ptr %handle, i1 false, token none)
  ret ptr %handle
}}

{_entry_head(function, size, shared_noalias=False)}
start:
{_set("arena", "null")}
{_set("launch", "%launch")}
{_set("shared", "%shared")}
{_set("params", "%params")}
{_set("dyn", str(dyn))}
  %threads.xy = mul i32 %ntid.x, %ntid.y
  %threads32 = mul i32 %threads.xy, %ntid.z
  %threads = zext i32 %threads32 to i64
{_set("threads", "%threads")}
{_together(f)}
{_blocks_begin()}
{_new_cluster(f)}
{_set("ctaid.x", "%ctaid.x")}
{_set("ctaid.y", "%ctaid.y")}
{_set("ctaid.z", "%ctaid.z")}
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
  %unused = call ptr {thread}(ptr %block, i32 %tid.x, i32 %tid.y, i32 %tid.z, i64 %linear)
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
{_get("arena")}
{_get("stride")}
  br label %round
round:
{_watch(f)}
{f.module.prelude.service_call("%order", "order", "ptr", "i32 %threads32") if f.module.wants.order else ""}
  br label %thread
thread:
  %number = phi i64 [ 0, %round ], [ %number.next, %thread.next ]
  %waiting = phi i1 [ false, %round ], [ %still.waiting, %thread.next ]
{_resumed(f)}
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
{_look(f)}
{_blocks_end()}
"""
