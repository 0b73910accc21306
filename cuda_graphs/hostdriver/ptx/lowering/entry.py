# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The entry point of a kernel: loops over the blocks of a range and the threads of a block.

    plain       blocks(run, ...)        run: for z, y, x: body(...); the body is inlined, the x loop can be vectorised
    resumable   schedule(start, ...)    threads are suspended at barriers

All kernels of a module share these two functions (blocks.py, thread_scheduling.py), so that LLVM compiles them once.

A resumable thread is an LLVM coroutine. Its frame lies at arena + thread * stride; the arena is scratch memory of the
calling OS thread. A thread that has ended counts as arrived at every barrier.

In kernels with warp instructions, threads may reach different barriers in different orders: see barrier_state.py.

The driver may choose the order of threads (instrumentation.py). Loops over threads then follow a permutation from the
driver. A resumable thread is suspended once before its body starts, so that all threads exist before the first of them
runs.

Both kinds have a block record (abi.BLOCK); a plain body needs it only for isspacep.
"""

from __future__ import annotations

from dataclasses import replace

from cuda_graphs.hostdriver.ptx.abi import BLOCK, HIDDEN, HIDDEN_SIGNATURE, LAUNCH_BYTES, LAYERS, ROWS
from cuda_graphs.hostdriver.ptx.analysis import bounds_guard
from cuda_graphs.hostdriver.ptx.syntax.syntax import Function

from . import barrier_state
from .blocks import ARGUMENTS, RUN_ARGUMENTS, get_field, launch_fields
from .function import FunctionLowering


def param_offsets(function: Function) -> tuple[list[tuple[int, int]], int]:
    """Returns (offset, size) of each parameter, and the bytes of all, by natural alignment in order."""
    found, at = [], 0
    for variable in function.params:
        at = -(-at // variable.align) * variable.align
        found.append((at, variable.bytes))
        at += variable.bytes
    return found, at


def _pointer(name: str, size: int) -> str:
    known = f" dereferenceable({size})" if size else ""
    return f"ptr noalias readonly align 8{known} %{name}"


def _bind_params(f: FunctionLowering, function: Function, params: list[tuple[int, int]], base: str) -> None:
    for variable, (offset, _) in zip(function.params, params, strict=True):
        name = f"%p{offset}.{len(f.frame.objects)}"
        f.prologue.append(f"  {name} = getelementptr i8, ptr {base}, i64 {offset}")
        f.frame.objects[variable] = name


def plain_kernel(f: FunctionLowering, function: Function, params: list[tuple[int, int]], size: int) -> str:
    _bind_params(f, function, params, "%params")
    guard = bounds_guard.find(function) if f.parallel and not f.module.wants.order else None
    f.never_taken = guard.branch if guard else None
    f.lower_body("return")
    f.start("return")
    f.line("ret void")
    body = f'@"b.{function.name}"'
    arguments = dict.fromkeys(HIDDEN) | {"dyn": str(f.module.layout.dynamic_offset(function))}
    passed = ", ".join(f"{kind} {arguments[name] or '%' + name}" for name, kind in HIDDEN.items())
    call = f"call void {body}({passed}, ptr %params)"
    loop = _loop_metadata(f)
    guard_text = ""
    if f.module.wants.order:
        threads = _in_driver_order(f, call)
    elif guard:
        guard_text = _guard_function(f, function, guard, params)
        threads = _in_rows(
            _runs_in_bounds(f, function, guard, passed) + _run("%from", "%to", call, loop, "after")
        )
    else:
        threads = _in_rows(_run("0", "%ntid.x", call, loop, "end.x"))
    run = f'@"r.{function.name}"'
    # The body's pointers are not noalias: the inliner would leave scope intrinsics behind. These count as memory
    # accesses without an access group and so undo the parallel mark.
    return f"""
define internal void {body}({HIDDEN_SIGNATURE}, ptr align 8 %params) alwaysinline nounwind {{
entry:
{f.text()}
}}
{guard_text}
define internal void {run}({_parameters(size)}, {RUN_ARGUMENTS}) nounwind {{
entry:
{launch_fields()}
{threads}
done:
  ret void
}}

{_entry(function, size)}
  tail call void @{f.module.prelude.blocks()}(ptr {run}, {ARGUMENTS})
  ret void
}}
"""


def _in_rows(row: str) -> str:
    """Returns the loops over z and y around `row`, which must branch to end.x."""
    return f"""  br label %loop.z
loop.z:
  %tid.z = phi i32 [ 0, %entry ], [ %next.z, %end.y ]
  br label %loop.y
loop.y:
  %tid.y = phi i32 [ 0, %loop.z ], [ %next.y, %end.x ]
{row}
end.x:
  %next.y = add nuw nsw i32 %tid.y, 1
  %more.y = icmp ult i32 %next.y, %ntid.y
  br i1 %more.y, label %loop.y, label %end.y{ROWS}
end.y:
  %next.z = add nuw nsw i32 %tid.z, 1
  %more.z = icmp ult i32 %next.z, %ntid.z
  br i1 %more.z, label %loop.z, label %done{LAYERS}"""


def _run(first: str, end: str, call: str, loop: str, then: str) -> str:
    """Returns the loop over the threads `first` .. `end` of a row."""
    return f"""  br label %run
run:
  br label %loop.x
loop.x:
  %tid.x = phi i32 [ {first}, %run ], [ %next.x, %loop.x ]
  {call}
  %next.x = add nuw nsw i32 %tid.x, 1
  %more.x = icmp ult i32 %next.x, {end}
  br i1 %more.x, label %loop.x, label %{then}{loop}"""


def _guard_function(
    f: FunctionLowering, function: Function, guard: bounds_guard.Guard, params: list[tuple[int, int]]
) -> str:
    """Returns a function that evaluates the kernel's guard for a thread: (is out of bounds, i)."""
    before = FunctionLowering(f.module, replace(function, body=guard.before))
    _bind_params(before, function, params, "%params")
    before.lower_body("end")
    before.start("end")
    outside = before.let(
        f"xor i1 {before.read(guard.branch.guard, 'i1')}, {str(guard.branch.negated).lower()}"
    )
    pair = before.let(f"insertvalue {{ i1, i32 }} poison, i1 {outside}, 0")
    pair = before.let(f"insertvalue {{ i1, i32 }} {pair}, i32 {before.read(guard.along, 'i32')}, 1")
    before.line(f"ret {{ i1, i32 }} {pair}")
    return f"""
define internal {{ i1, i32 }} @"g.{function.name}"({HIDDEN_SIGNATURE}, ptr align 8 %params) alwaysinline nounwind {{
entry:
{before.text()}
}}
"""


def _runs_in_bounds(f: FunctionLowering, function: Function, guard: bounds_guard.Guard, passed: str) -> str:
    """Returns IR that finds runs %from .. %to of threads in bounds: the whole row, or the results of a search."""
    asks = f'@"g.{function.name}"'

    def ask(name: str, tid: str) -> str:
        return f"""  %at.{name} = call {{ i1, i32 }} {asks}({passed.replace("%tid.x", tid)}, ptr %params)
  %out.{name} = extractvalue {{ i1, i32 }} %at.{name}, 0
  %i.{name} = extractvalue {{ i1, i32 }} %at.{name}, 1"""

    given = f"ptr {asks}, i32 %begin, i32 %ntid.x, {passed.replace('%tid.x', '0')}, ptr %params"
    return f"""  br label %ask.ends
after:
  %is.last = icmp uge i32 %to, %ntid.x
  br i1 %is.last, label %end.x, label %out.of.bounds
ask.ends:
  %last.x = sub i32 %ntid.x, 1
{ask("first", "0")}
{ask("last", "%last.x")}
  %wraps = icmp {"s" if guard.is_signed else "u"}gt i32 %i.first, %i.last
  %out.end = or i1 %out.first, %out.last
  %is.edge = or i1 %out.end, %wraps
  br i1 %is.edge, label %out.of.bounds, label %in.bounds
out.of.bounds:
  %begin = phi i32 [ 0, %ask.ends ], [ %to, %after ]
  %found = call i64 @{f.module.prelude.next_in_bounds()}({given})
  %found.from = trunc i64 %found to i32
  %found.up = lshr i64 %found, 32
  %found.to = trunc i64 %found.up to i32
  %is.over = icmp eq i64 %found, 0
  br i1 %is.over, label %end.x, label %in.bounds
in.bounds:
  %from = phi i32 [ 0, %ask.ends ], [ %found.from, %out.of.bounds ]
  %to = phi i32 [ %ntid.x, %ask.ends ], [ %found.to, %out.of.bounds ]
"""


def _in_driver_order(f: FunctionLowering, call: str) -> str:
    return f"""  %threads.xy = mul i32 %ntid.x, %ntid.y
  %threads32 = mul i32 %threads.xy, %ntid.z
{f.module.services.call("%order", "order", "ptr", "i32 %threads32")}
  br label %thread
thread:
  %number = phi i32 [ 0, %entry ], [ %number.next, %thread ]
  %linear.at = getelementptr i32, ptr %order, i32 %number
  %linear = load i32, ptr %linear.at
  %tid.x = urem i32 %linear, %ntid.x
  %rows = udiv i32 %linear, %ntid.x
  %tid.y = urem i32 %rows, %ntid.y
  %tid.z = udiv i32 %rows, %ntid.y
  {call}
  %number.next = add nuw i32 %number, 1
  %more.threads = icmp ult i32 %number.next, %threads32
  br i1 %more.threads, label %thread, label %done"""


def _loop_metadata(f: FunctionLowering) -> str:
    """Enables vectorisation without interleaving and without unrolling; returns the metadata reference.

    Rows of a block are short (16, 32 or 256 threads). Unrolling and interleaving would add code and compile time, and
    rows shorter than four vectors would not be vectorised at all.
    """
    number = 100 + len(f.module.metadata)
    parallel = ", !5" if f.parallel else ""
    f.module.metadata.append(f"!{number} = distinct !{{!{number}, !6, !7{parallel}}}")
    return f", !llvm.loop !{number}"


def _parameters(size: int) -> str:
    return f"{_pointer('launch', LAUNCH_BYTES)}, {_pointer('params', size)}, ptr noalias %shared"


def _entry(function: Function, size: int) -> str:
    return f'define void @"k.{function.name}"({_parameters(size)}, i64 %first, i64 %end) nounwind {{'


def _leave_cluster(f: FunctionLowering) -> str:
    """Returns the call that marks an ended thread as arrived at every later barrier of the cluster."""
    if not f.clustered:
        return ""
    offset, kind = BLOCK["cluster"]
    return f"""  %my.cluster.at = getelementptr i8, ptr %block, i64 {offset}
  %my.cluster = load {kind}, ptr %my.cluster.at
  call void @{f.module.prelude.cluster("leave")}(ptr %my.cluster)"""


_SUSPEND_ONCE = f"""  %begun = {barrier_state.SUSPEND}
  switch i8 %begun, label %suspend [ i8 0, label %go
                                     i8 1, label %suspend ]
go:"""


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
    ):
        f.module.prelude.declare(name, result, args)
    thread = f'@"t.{function.name}"'
    dyn = f.module.layout.dynamic_offset(function)
    scheduler = f.module.prelude.scheduler(f.divergent, f.clustered)
    index = "i32 %tid.x, i32 %tid.y, i32 %tid.z, i64 %linear"
    slots, body = "\n".join(f.slots), "\n".join(f.prologue + f.lines)
    return f"""
define internal ptr {thread}(ptr %block, {index}) presplitcoroutine noinline nounwind {{
entry:
{slots}
  %id = call token @llvm.coro.id(i32 64, ptr null, ptr null, ptr null)
  %bytes = call i64 @llvm.coro.size.i64()
  %padded = add i64 %bytes, 63
  %stride = and i64 %padded, -64
  %mine = call ptr @{f.module.prelude.frame(f.divergent)}(ptr %block, i64 %stride, i64 %linear)
  %handle = call ptr @llvm.coro.begin(token %id, ptr %mine)
{get_field("params")}
{barrier_state.BEGIN if f.divergent else _SUSPEND_ONCE if f.module.wants.order else ""}
{body}
return:
{barrier_state.END if f.divergent else ""}
{_leave_cluster(f)}
  %ended = call i8 @llvm.coro.suspend(token none, i1 true)
  switch i8 %ended, label %suspend [ i8 0, label %suspend
                                     i8 1, label %suspend ]
suspend:
  call void @llvm.coro.end(ptr %handle, i1 false, token none)
  ret ptr %handle
}}

{_entry(function, size)}
  tail call void @{scheduler}(ptr {thread}, i32 {dyn}, {ARGUMENTS})
  ret void
}}
"""
