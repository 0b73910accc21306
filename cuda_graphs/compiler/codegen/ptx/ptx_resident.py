# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Resident tasks on a GPU: one cooperative launch, whose blocks wait for each other between two tasks.

A serial task runs in the last thread that arrives at the barrier before it, while all other blocks wait there. A loop
followed by a serial task therefore needs one barrier, not two:

    loop 1; wait; one thread; wait; loop 2     =>     loop 1; wait, the last one runs it; loop 2

The barrier is three words of memory, each in a cache line of its own:

    ARRIVED   counts above two sets of FLAG_BITS flags. Block 0 adds 2**15 - (blocks - 1) to the count, and all others
              add 1. So the highest bit changes each time that all have arrived, and no reset is needed. The blocks poll
              it. Barriers take the sets in turn, as block 0 may arrive at the next one while another block still polls.
    LAST      counts arrivals before a serial task. The last block resets it to 0 and runs the task.
    SERIAL    counts the serial tasks that have run, above FLAG_BITS flags. The other blocks poll it.

One thread of a block arrives for it, after a barrier of the block. Its atom.acq_rel publishes the writes of the block.
Its ld.acquire, before the next barrier of the block, makes the other blocks' writes visible (PTX ISA, "Memory
Consistency Model": causality order is transitive through barriers of a block). A grid of one block needs only the
barriers of the block.

An exchange with other ranks (ptx_exchange.py) is done by all threads of the first block.

Serial tasks that are independent of the loop before them, such as a counter, are joined to it: the first thread runs
them before its part of the loop. Then the barrier after the loop is a plain one.

Conditions of loops and branches are flags: each thread has their values in registers. New values come with the count in
SERIAL or ARRIVED, and the first thread of each block passes them on at the barrier of the block. So no thread loads a
flag, which takes as long as a short task. Conditions of switches, and of more loops and branches than there are flags,
are loaded by all threads.

The thread that runs a serial task also ends loops: it sets the conditions that the task has set to 0 if the word that
ends loops was not 0 when it last loaded it, at most PAUSE ticks before the iteration began. All blocks then see the
same condition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby

from cuda_graphs.compiler.artifact import Layout, is_memory_of_launch
from cuda_graphs.compiler.codegen.llvm.emitter import Emitter
from cuda_graphs.compiler.codegen.llvm.resident import ResidentTasks
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.exchanges import typestr_of
from cuda_graphs.compiler.passes.alias_classes import may_alias
from cuda_graphs.native.function_text import FunctionText

from .ptx_exchange import exchange_name

__all__ = ["GpuResidentTasks", "run_in_last_thread"]

# Offsets of the words. LLVM 22 drops the memory order of atomicrmw on NVPTX, so ADD is inline PTX.
ARRIVED, LAST, SERIAL = 0, 32, 64
ADD = (
    'call i32 asm sideeffect "atom.acq_rel.gpu.global.add.u32 $0, [$1], $2;", "=r,l,r,~{{memory}}"'
    "(ptr addrspace(1) {}, i32 {})"
)
# Loads the word that ends loops if a flag is not 0, and if more than PAUSE ticks have passed since the last load. Gives
# the word as it was loaded last, and the tick of that load. Ticks have 32 bits: after an iteration with close to a
# multiple of 2**32 of them, a later one loads. No branch is here, behind which the threads would wait.
PAUSE = 4096  # about 2 us: a load in each short iteration would take 0.15 us of it
LOAD_STOP = (
    'call {{ i32, i32 }} asm sideeffect "{{ .reg .pred %p; .reg .b32 %now, %since; mov.u32 %now, %clock; '
    "sub.u32 %since, %now, $1; setp.gt.u32 %p, %since, {pause}; setp.ne.and.u32 %p, $5, 0, %p; "
    '@%p mov.u32 $1, %now; @%p ld.volatile.global.u32 $0, [$4]; }}", "=r,=r,0,1,l,r"'
    "(i32 {stop}, i32 {tick}, ptr addrspace(1) {address}, i32 {flag})"
)
SCOPE = 'syncscope("device")'
HIGHEST = -(1 << 31)
JOINABLE = (ir.Op, ir.Extent, ir.Load, ir.Store, ir.Get, ir.Set, ir.If)  # statements of a serial task
FLAG_BITS = 8  # of SERIAL and ARRIVED; further conditions are loaded
FLAGS = (1 << FLAG_BITS) - 1
ARRIVED_BITS = 2 * FLAG_BITS  # both sets
COUNTS = (1 << (32 - FLAG_BITS)) - 1  # the largest count of serial tasks; 0 follows


class GpuResidentTasks(ResidentTasks):
    """Emitter for all threads of a grid."""

    def __init__(
        self, e: Emitter, resident: ir.Resident, program: ir.Program, slots: Layout, arguments: str
    ) -> None:
        super().__init__(e, resident, program, slots, arguments)
        steps = ir.all_steps(resident.plan)
        self.loops = {s.condition.name for s in steps if isinstance(s, ir.Branch) and s.kind in ir.LOOPS}
        self.pending = False  # whether a task has run since the last barrier
        self.serial: list[ir.Task] = []  # tasks for the last thread to run at the next barrier
        self.joined: list[str] = []  # the flags of joined tasks since the last barrier
        self.words = {word: self.word_address(word) for word in (ARRIVED, LAST, SERIAL)}
        names = ("tid.x", "ctaid.x", "nctaid.x")
        thread, block, self.blocks = (e.call(f"llvm.nvvm.read.ptx.sreg.{name}", "i32", []) for name in names)
        self.leads = e.let(f"icmp eq i32 {thread}, 0")
        self.alone = e.let(f"icmp eq i32 {self.blocks}, 1")
        reads = e.let(f"or i1 {self.alone}, {self.leads}")
        self.reads_stop = e.let(f"zext i1 {reads} to i32")
        self.tick = e.slot("i32")  # of the last load of the word that ends loops
        now = register(e, "clock")
        e.line(f"store i32 {e.let(f'sub i32 {now}, {PAUSE + 1}')}, ptr {self.tick}")
        self.others = e.let(f"sub i32 {self.blocks}, 1")
        self.first = e.let(f"icmp eq i32 {block}, 0")
        self.joins = e.let(f"and i1 {self.first}, {self.leads}")  # the thread that runs joined tasks
        missing = e.let(f"sub i32 {HIGHEST}, {e.let(f'shl i32 {self.others}, {ARRIVED_BITS}')}")
        self.share = e.let(f"select i1 {self.first}, i32 {missing}, i32 {1 << ARRIVED_BITS}")
        self.arrived_flags = e.slot("i32")  # both sets of ARRIVED, in the first thread of the first block
        arrived = e.let(f"and i32 {self.load_word(ARRIVED, 'monotonic')}, {(1 << ARRIVED_BITS) - 1}")
        e.line(f"store i32 {arrived}, ptr {self.arrived_flags}")
        self.flag_set = e.slot("i32")  # the first bit of the set of the next barrier
        e.line(f"store i32 0, ptr {self.flag_set}")
        self.serial_count = e.slot(
            "i32"
        )  # read before any block can change it, as a change needs this block too
        count = e.let(f"lshr i32 {self.load_word(SERIAL, 'monotonic')}, {FLAG_BITS}")
        e.line(f"store i32 {count}, ptr {self.serial_count}")
        self.flags = {name: e.slot("i1") for name in self.conditions_of_serial_tasks()}
        self.bits = e.slot("i32")  # new flags, in the first thread of a block
        e.line(f"store i32 0, ptr {self.bits}")
        for name in self.flags:
            self.set_flag(name, super().holds(ir.Condition(name)))
        # The number of the round of each table, in all threads of the first block.
        self.rounds = {step.table: e.slot("i32") for step in resident.exchanges}
        for table, slot in self.rounds.items():
            e.line(f"store i32 {e.let(f'load i32, {e.pointer(table)} {e.addresses[table]}')}, ptr {slot}")

    def conditions_of_serial_tasks(self) -> list[str]:
        """Return the conditions with two values that only serial tasks store."""
        tasks = [self.tasks[number] for number in ir.tasks_of(self.resident.plan)]
        elsewhere = {array.path for task in tasks if task.loop is not None for array in stored_by(task)}
        names = dict.fromkeys(
            step.condition.name
            for step in ir.all_steps(self.resident.plan)
            if isinstance(step, ir.Branch) and step.kind != "switch"
        )
        return [name for name in names if name not in elsewhere][:FLAG_BITS]

    def set_flag(self, name: str, value: str) -> None:
        self.e.line(f"store i1 {value}, ptr {self.flags[name]}")

    def holds(self, condition: ir.Condition) -> str:
        if condition.name not in self.flags:
            return super().holds(condition)
        return self.e.let(f"load i1, ptr {self.flags[condition.name]}")

    def word_address(self, word: int) -> str:
        return self.e.let(
            f"getelementptr i32, ptr addrspace(1) {self.e.addresses[self.resident.barrier]}, i64 {word}"
        )

    def load_word(self, word: int, order: str) -> str:
        return self.e.let(f"load atomic i32, ptr addrspace(1) {self.words[word]} {SCOPE} {order}, align 4")

    def run(self) -> None:
        super().run()
        if self.serial or self.rounds:
            self.synchronise()
        if self.rounds:
            self.store_rounds()

    def store_rounds(self) -> None:
        """Let one thread store the numbers of the next rounds."""
        e = self.e
        store, stored = e.label("store"), e.label("stored")
        e.jump_if(self.joins, store, stored)
        e.start(store)
        for table, slot in self.rounds.items():
            e.line(f"store i32 {e.let(f'load i32, ptr {slot}')}, {e.pointer(table)} {e.addresses[table]}")
        e.jump(stored)
        e.start(stored)

    def task(self, task: ir.Task) -> None:
        if task.loop is None:
            self.serial.append(task)
            return
        joined: list[ir.Task] = []
        if all(self.may_join(each, task) for each in self.serial):
            joined, self.serial = self.serial, []
        self.synchronise()
        self.run_joined(joined)
        self.call(task)
        self.pending = True

    def plan(self, plan: ir.Plan) -> None:
        super().plan(self.with_serial_tasks_first(plan))

    def with_serial_tasks_first(self, plan: ir.Plan) -> ir.Plan:
        """Return a plan in which a loop comes after the serial tasks behind it, if all are independent of it."""
        found: list[ir.Step] = []
        for is_serial, group in groupby(plan, self.is_serial):
            steps = list(group)
            is_joinable = is_serial and found and all(self.is_joinable(step, found[-1]) for step in steps)
            at = len(found) - 1 if is_joinable else len(found)
            found[at:at] = steps
        return tuple(found)

    def is_serial(self, step: ir.Step) -> bool:
        return isinstance(step, int) and self.tasks[step].loop is None

    def is_joinable(self, step: ir.Step, before: ir.Step) -> bool:
        """Return whether a serial task may run beside the step before it, a loop."""
        return (
            isinstance(step, int)
            and isinstance(before, int)
            and not self.is_serial(before)
            and self.may_join(self.tasks[step], self.tasks[before])
        )

    def may_join(self, task: ir.Task, loop: ir.Task) -> bool:
        """Return whether a serial task may run beside a loop.

        A condition that threads load must not change before all have loaded it, so its task waits for a barrier.
        """
        is_loaded = any(
            array.path in self.conditions and array.path not in self.flags for array in stored_by(task)
        )
        return not is_loaded and is_independent(task, loop)

    def exchange(self, step: ir.Exchange) -> None:
        """Let the first block reduce, after all tasks so far, while the other blocks go on to the next barrier."""
        self.synchronise()
        e = self.e
        reduce, reduced = e.label("reduce"), e.label("reduced")
        e.jump_if(self.first, reduce, reduced)
        e.start(reduce)
        name = exchange_name(typestr_of(step.source.element), step.op)
        e.declare(name, f"declare void @{name}(i64, i64, i64, i32, i32) convergent")
        addresses = [
            e.let(f"ptrtoint {e.pointer(each)} {e.addresses[each]} to i64")
            for each in (step.table, step.source, step.target)
        ]
        count = e.let(f"trunc i64 {self.count_of(step.source)} to i32")
        slot = self.rounds[step.table]
        number = e.let(f"load i32, ptr {slot}")
        arguments = [*(f"i64 {each}" for each in addresses), f"i32 {count}", f"i32 {number}"]
        e.line(f"call void @{name}({', '.join(arguments)}) convergent")
        e.line(f"store i32 {e.let(f'add i32 {number}, 1')}, ptr {slot}")
        e.jump(reduced)
        e.start(reduced)
        self.pending = True

    def count_of(self, array: ir.Array) -> str:
        """Emit the number of elements of an array; return its value."""
        found = "1"
        for axis in range(array.ndim):
            found = self.e.let(f"mul i64 {found}, {self.e.extent(array, axis)}")
        return found

    def synchronise(self) -> None:
        if not (self.pending or self.serial):
            return
        if self.joined or not self.serial:
            self.wait_for_other_blocks()
        if self.serial:
            self.run_serial_tasks()
        self.pending, self.serial, self.joined = False, [], []

    def read_stop(self) -> None:
        e = self.e
        array = self.resident.stop
        assert array is not None
        load = LOAD_STOP.format(
            pause=PAUSE,
            stop=e.let(f"load i32, ptr {self.stop}"),
            tick=e.let(f"load i32, ptr {self.tick}"),
            address=e.addresses[array],
            flag=self.reads_stop,
        )
        found = e.let(load)
        for number, slot in enumerate((self.stop, self.tick)):
            e.line(f"store i32 {e.let(f'extractvalue {{ i32, i32 }} {found}, {number}')}, ptr {slot}")

    def goes_on(self, condition: ir.Condition) -> str:
        return self.holds(condition)

    def clear_conditions(self, stored: list[ir.Array]) -> None:
        """Emit code that sets the conditions of loops among these to 0 if loops are to end."""
        conditions = [array for array in stored if array.path in self.loops]
        if not conditions:
            return
        e = self.e
        clear, after = e.label("clear"), e.label("cleared")
        e.jump_if(self.is_stopped(), clear, after)
        e.start(clear)
        for array in conditions:
            e.line(f"store i32 0, {e.pointer(array)} {e.addresses[array]}")
        e.jump(after)
        e.start(after)

    def pack_flags(self, names: list[str]) -> str:
        """Emit loads of conditions that this thread has stored; return their flags as the lowest bits of a word."""
        e, bits = self.e, "0"
        for number, name in enumerate(names):
            flag = e.let(f"zext i1 {super().holds(ir.Condition(name))} to i32")
            bits = e.let(f"or disjoint i32 {bits}, {e.let(f'shl i32 {flag}, {number}')}")
        return bits

    def pass_flags(self, names: list[str]) -> None:
        """Emit a barrier of the block that gives the flags of its first thread to all of its threads."""
        e = self.e
        if not names:
            block_barrier(e)
            return
        bits = e.let(f"load i32, ptr {self.bits}")
        for number, name in enumerate(names):
            is_set = e.let(f"icmp ne i32 {e.let(f'and i32 {bits}, {1 << number}')}, 0")
            own = e.let(f"and i1 {self.leads}, {is_set}")
            self.set_flag(
                name, e.call("llvm.nvvm.barrier.cta.red.or.aligned.all", "i1", [("i32", "0"), ("i1", own)])
            )

    def next_serial_count(self) -> str:
        count = self.e.let(f"load i32, ptr {self.serial_count}")
        return self.e.let(f"and i32 {self.e.let(f'add i32 {count}, 1')}, {COUNTS}")

    def wait_for_other_blocks(self) -> None:
        e = self.e
        lone, several, arrive, poll, come, passed, over = (
            e.label(s) for s in ("lone", "several", "arrive", "poll", "come", "passed", "over")
        )
        e.jump_if(self.alone, lone, several)
        e.start(lone)
        self.pass_flags(self.joined)
        e.jump(over)
        e.start(several)
        block_barrier(e)
        e.jump_if(self.leads, arrive, passed)
        e.start(arrive)
        before = e.let(ADD.format(self.words[ARRIVED], self.share_with_flags()))
        e.jump(poll)
        e.start(poll)
        now = self.load_word(ARRIVED, "acquire")
        e.jump_if(e.let(f"icmp slt i32 {e.let(f'xor i32 {now}, {before}')}, 0"), come, poll)
        e.start(come)
        e.line(f"store i32 {e.let(f'lshr i32 {now}, {self.first_flag()}')}, ptr {self.bits}")
        e.jump(passed)
        e.start(passed)
        self.pass_flags(self.joined)
        e.line(f"store i32 {e.let(f'xor i32 {self.first_flag()}, {FLAG_BITS}')}, ptr {self.flag_set}")
        e.jump(over)
        e.start(over)

    def share_with_flags(self) -> str:
        """Emit what this block adds to ARRIVED: the first block also changes the flags to those of the joined tasks."""
        if not self.joined:
            return self.share
        e = self.e
        first, sets = self.first_flag(), e.let(f"load i32, ptr {self.arrived_flags}")
        old = e.let(f"and i32 {e.let(f'lshr i32 {sets}, {first}')}, {FLAGS}")
        new = e.let(f"and i32 {e.let(f'load i32, ptr {self.bits}')}, {FLAGS}")
        change = e.let(f"shl i32 {e.let(f'sub i32 {new}, {old}')}, {first}")
        e.line(f"store i32 {e.let(f'add i32 {sets}, {change}')}, ptr {self.arrived_flags}")
        change = e.let(f"select i1 {self.first}, i32 {change}, i32 0")
        return e.let(f"add i32 {self.share}, {change}")

    def first_flag(self) -> str:
        return self.e.let(f"load i32, ptr {self.flag_set}")

    def run_joined(self, tasks: list[ir.Task]) -> None:
        """Let the first thread run serial tasks, while the others go on. The next barrier passes their flags on."""
        if not tasks:
            return
        e = self.e
        stored = stored_by_all(tasks)
        self.joined = self.flags_of(stored)
        run, after = e.label("joined"), e.label("after_joined")
        e.jump_if(self.joins, run, after)
        e.start(run)
        self.run_tasks(tasks, stored)
        e.jump(after)
        e.start(after)

    def run_tasks(self, tasks: list[ir.Task], stored: list[ir.Array]) -> None:
        """Emit serial tasks, and keep the flags of what they have stored."""
        for task in tasks:
            self.call(task)
        self.clear_conditions(stored)
        self.e.line(f"store i32 {self.pack_flags(self.flags_of(stored))}, ptr {self.bits}")

    def flags_of(self, stored: list[ir.Array]) -> list[str]:
        return [array.path for array in stored if array.path in self.flags]

    def run_serial_tasks(self) -> None:
        """Let the last thread that arrives run the serial tasks, and all others wait for it."""
        e = self.e
        stored = stored_by_all(self.serial)
        block_barrier(e)
        lead, together = e.label("lead"), e.label("together")
        arrive, last, run, publish, poll, come = (
            e.label(s) for s in ("arrive", "last", "run", "publish", "poll", "come")
        )
        e.jump_if(self.leads, lead, together)
        e.start(lead)
        before = e.let(f"load i32, ptr {self.serial_count}")
        e.jump_if(self.alone, run, arrive)
        e.start(arrive)
        came = e.let(ADD.format(self.words[LAST], "1"))
        e.jump_if(e.let(f"icmp eq i32 {came}, {self.others}"), last, poll)
        e.start(last)
        store_word(e, self.words[LAST], "0", "monotonic")
        e.jump(run)
        e.start(run)
        self.run_tasks(self.serial, stored)
        e.jump_if(self.alone, together, publish)
        e.start(publish)
        count = e.let(f"shl i32 {self.next_serial_count()}, {FLAG_BITS}")
        bits = e.let(f"load i32, ptr {self.bits}")
        store_word(e, self.words[SERIAL], e.let(f"or disjoint i32 {count}, {bits}"), "release")
        e.jump(together)
        e.start(poll)
        word = self.load_word(SERIAL, "acquire")
        same = e.let(f"icmp eq i32 {e.let(f'lshr i32 {word}, {FLAG_BITS}')}, {before}")
        e.jump_if(same, poll, come)
        e.start(come)
        e.line(f"store i32 {word}, ptr {self.bits}")
        e.jump(together)
        e.start(together)
        self.pass_flags(self.flags_of(stored))
        e.line(f"store i32 {self.next_serial_count()}, ptr {self.serial_count}")


def stored_by(task: ir.Task) -> list[ir.Array]:
    """Return the arrays that a task stores to, as its conditions are."""
    return [
        s.array
        for s in ir.walk_called(task.body)
        if isinstance(s, ir.Store) and isinstance(s.array, ir.Array)
    ]


def stored_by_all(tasks: list[ir.Task]) -> list[ir.Array]:
    return list(dict.fromkeys(array for task in tasks for array in stored_by(task)))


def is_independent(task: ir.Task, loop: ir.Task) -> bool:
    """Return whether a serial task may run beside a loop, and nobody can see their order."""
    statements = list(ir.walk(task.body))
    if not all(isinstance(s, JOINABLE) for s in statements):
        return False
    mine, others = accesses(statements), accesses(ir.walk_called(loop.body))
    return not any(
        (is_written or was_written) and may_alias(one, other)
        for one, is_written in mine.items()
        for other, was_written in others.items()
    )


def accesses(statements: Iterable[ir.Statement]) -> dict[ir.Array, bool]:
    """Return the arrays that statements access, and whether they write them."""
    found: dict[ir.Array, bool] = {}
    for s in statements:
        if isinstance(s, (ir.Load, ir.Store, ir.Atomic)) and is_memory_of_launch(s.array):
            found[s.array] = found.get(s.array, False) or not isinstance(s, ir.Load)
    return found


def run_in_last_thread(e: FunctionText, word: str, body: Callable[[], None]) -> None:
    """Emit a block for the last thread that reaches the end of the task. No thread waits."""
    lead, arrive, reset, run, over = (e.label(s) for s in ("lead", "arrive", "reset", "last", "over"))
    thread, blocks = register(e, "tid.x"), register(e, "nctaid.x")
    block_barrier(e)
    e.jump_if(e.let(f"icmp eq i32 {thread}, 0"), lead, over)
    e.start(lead)
    e.jump_if(e.let(f"icmp eq i32 {blocks}, 1"), run, arrive)
    e.start(arrive)
    others = e.let(f"sub i32 {blocks}, 1")
    came = e.let(ADD.format(word, "1"))
    e.jump_if(e.let(f"icmp eq i32 {came}, {others}"), reset, over)
    e.start(reset)
    store_word(e, word, "0", "monotonic")
    e.jump(run)
    e.start(run)
    body()
    e.jump(over)
    e.start(over)


def register(e: FunctionText, name: str) -> str:
    return e.call(f"llvm.nvvm.read.ptx.sreg.{name}", "i32", [])


def block_barrier(e: FunctionText) -> None:
    """Emit a barrier of the threads of a block."""
    e.call_void("llvm.nvvm.barrier.cta.sync.aligned.all", [("i32", "0")])


def store_word(e: FunctionText, word: str, value: str, order: str) -> None:
    e.line(f"store atomic i32 {value}, ptr addrspace(1) {word} {SCOPE} {order}, align 4")
