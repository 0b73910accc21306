# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Branches, thread exits and fences."""

from cuda_graphs.hostdriver.ptx.lowering.function import FunctionLowering
from cuda_graphs.hostdriver.ptx.lowering.table import Op, row
from cuda_graphs.hostdriver.ptx.syntax.syntax import Symbol
from cuda_graphs.native.access_sites import FENCE

from . import warp


@row("bra", mods="uni", operands="1")
def branch(f: FunctionLowering, op: Op, operands: tuple) -> None:
    ins = f.instruction
    assert ins is not None
    if not isinstance(operands[0], Symbol):
        raise f.fail("the target is not a label")
    target = f.branch_target(operands[0].name, ins.scopes)
    if ins is f.never_taken:
        return
    polls = f.divergent and ins in f.module.call_graph[f.frame.function.name].polls
    if ins.guard is None:
        if polls:
            warp.yield_while_polling(f)
        f.jump(target)
        f.start_unreachable()
        return
    follow, again = f.label("next"), f.label("again")
    taken = again if polls else target
    condition = f.read(ins.guard, "i1")
    f.jump_if(condition, *((follow, taken) if ins.negated else (taken, follow)))
    if polls:
        f.start(again)
        warp.yield_while_polling(f)
        f.jump(target)
    f.start(follow)


@row("brx", mods="idx uni", operands="2")
def branch_table(f: FunctionLowering, op: Op, operands: tuple) -> None:
    ins = f.instruction
    assert ins is not None
    table = f.frame.function.tables.get(getattr(operands[1], "name", ""))
    if "idx" not in op or table is None:
        raise f.fail("a .branchtargets list is needed")
    index = f.read(operands[0], "i32")
    nowhere = f.label("nowhere")
    cases = " ".join(
        f"i32 {number}, label %{f.branch_target(name, ins.scopes)}" for number, name in enumerate(table)
    )
    f.line(f"switch i32 {index}, label %{nowhere} [ {cases} ]")
    f.start(nowhere)
    f.line("unreachable")
    f.start_unreachable()


@row("ret", mods="uni", operands="0")
def return_(f: FunctionLowering, op: Op, operands: tuple) -> None:
    f.jump(f.frame.return_label)
    f.start_unreachable()


@row("exit", operands="0")
def leave(f: FunctionLowering, op: Op, operands: tuple) -> None:
    f.exit_thread()
    f.start_unreachable()


@row("trap brkpt", operands="0")
def trap(f: FunctionLowering, op: Op, operands: tuple) -> None:
    f.lines.append(f.module.services.call("", "trap", "void", ""))
    f.line("unreachable")
    f.start_unreachable()


@row("membar", mods="cta gl sys proxy alias", operands="0")
def memory_barrier(f: FunctionLowering, op: Op, operands: tuple) -> None:
    f.report_access("null", 0, FENCE)
    f.line("fence seq_cst")


@row(
    "fence",
    mods="sc acq_rel acquire release cta cluster gpu sys proxy alias async async.global global shared::cta "
    "shared::cluster async::generic generic mbarrier_init sync_restrict",
    operands="0",
)
def fence(f: FunctionLowering, op: Op, operands: tuple) -> None:
    order = op.one_of("acq_rel", "acquire", "release", default="seq_cst")
    f.report_access("null", 0, FENCE)
    f.line(f"fence {order}")


@row("nanosleep", types="u32", operands="1")
def sleep(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Yields to other threads, then sleeps. The time starts before yielding, so all threads sleep at once."""
    f.count += 1
    now = f"%slept{f.count}"
    f.lines.append(f.module.services.call(now, "globaltimer", "i64", ""))
    span = f.let(f"zext i32 {f.read(operands[0], 'i32')} to i64")
    end = f.let(f"add i64 {now}, {span}")
    warp.yield_while_polling(f)
    f.lines.append(f.module.services.call("", "sleep_until", "void", f"i64 {end}"))


@row("griddepcontrol", mods="wait launch_dependents", operands="0")
def dependent_launch(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Emits nothing: the driver starts a kernel only after the work that it depends on has ended."""


@row("pmevent", mods="mask", operands="1")
def performance_event(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Emits nothing: the host driver has no performance counters."""
