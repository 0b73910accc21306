# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""PTX of the exchange of small arrays between GPUs of one host, through memory that they can all write.

ir/exchanges.py has the layout of the memory. A word of it holds 4 bytes of an element, and the number of the round. A
word is stored and loaded as a whole (PTX ISA,
"Memory Consistency Model": `relaxed` at the scope `sys`), so it needs no flag and no fence: its reader polls until the
round is its own.

A round uses half `round % 2`. A rank begins a round after it has received all words of the one before. These were sent
by ranks that had read all words of the round before that one, whose half is written now.

The number of the round has 32 bits. A word that no round has written for 2^32 rounds would look like a new one.
Therefore each round also writes one word beyond its elements, a different one in each round.

Each rank adds the elements in the order of the ranks, so the results are the same bits on all ranks. A poll ends when
the word of health.py is not 0; the result is undefined then.

The block issues each instruction once for each of its warps, so their number counts. Therefore warps without an element
leave at once, and the parts of ranks that are not there are skipped by branches, which all threads take alike. Words of
the table are loaded where they are needed, one by one: a load of 16 bytes takes the memory pipeline twice as long, also
if all threads load the same ones. Loads of all ranks are under way at the same time. A resident launch keeps the number
of the round in a register, and passes it to the function.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from cuda_graphs.compiler.ir.exchanges import ENDING, FIRST_RANK, MOST_RANKS, PIECES, RANK, TABLE_WORDS

__all__ = ["MOST_THREADS", "exchange_entry", "exchange_name", "with_exchanges"]

MOST_THREADS = 1024
POLLS = 1024  # between two looks at the word that ends them
HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"
LETTERS = {"i": "s", "u": "u", "f": "f"}  # of a typestr -> of PTX
# Operation -> instruction for integers and for floats.
INSTRUCTIONS = {
    "sum": ("add", "add.rn"),
    "prod": ("mul.lo", "mul.rn"),
    "min": ("min", "min"),
    "max": ("max", "max"),
}


@cache
def exchange_entry(name: str, kind: str, op: str) -> str:
    """Return a module with the entry `name(table, source, target, count)`, for one block of at most MOST_THREADS.

    Args:
        name: The name of the entry.
        kind: A key of TYPES.
        op: A key of OPERATIONS.
    """
    given = {each: bits for each, bits in PARAMETERS.items() if each != ROUND}
    parameters = ", ".join(f".param .u{bits} {each}" for each, bits in given.items())
    body = "\n".join(entry_lines(Exchange(kind, op), given))
    return f"{HEAD}\n.visible .entry {name}({parameters})\n.maxntid {MOST_THREADS}\n{{\n{body}\n}}\n"


def entry_lines(exchange: Exchange, given: Iterable[str]) -> Iterator[str]:
    """Yield the body of an entry, which reads the number of the round from the table and increments it."""
    yield from exchange.begin(given)
    yield "ld.global.u32 %round, [%table];"
    yield from exchange.lines()
    yield "barrier.sync 0;"  # not aligned: threads come from different polls
    yield "mov.u32 %i, %tid.x;"
    yield "setp.ne.u32 %ends, %i, 0;"
    yield "@%ends bra LEFT;"
    yield "add.u32 %round, %round, 1;"
    yield "st.global.u32 [%table], %round;"
    yield "LEFT:"
    yield "ret;"


def exchange_name(kind: str, op: str) -> str:
    """Return the name of the function of an exchange, whose parameters are PARAMETERS."""
    return f"exchange_{op}_{kind}"


def with_exchanges(parts: Sequence[str]) -> list[str]:
    """Return PTX modules with the functions of the exchanges that they declare, in modules behind them."""
    found = dict.fromkeys(name for part in parts for name in EXTERNAL.findall(part))
    return [*(EXTERNAL.sub(r".func \1", part) for part in parts), *map(exchange_function, found)]


@cache
def exchange_function(name: str) -> str:
    """Return a module with the function of a name that `exchange_name` has returned.

    All threads of a block call it. They wait for each other before the next call, whose round is the next one.
    """
    _, op, kind = name.split("_")
    parameters = ", ".join(f".param .b{bits} {each}" for each, bits in PARAMETERS.items())
    exchange = Exchange(kind, op)
    body = "\n".join([*exchange.begin(PARAMETERS), *exchange.lines(), "ret;"])
    return f"{HEAD}.func {name}({parameters})\n{{\n{body}\n}}\n"


EXTERNAL = re.compile(r"^\.extern \.func\s+(exchange_\w+)", re.MULTILINE)
PARAMETERS = {"table": 64, "source": 64, "target": 64, "count": 32, "round": 32}
ROUND = "round"
FIRST_TIER = 2  # ranks whose parts are not skipped


class Exchange:
    """The text of one exchange. The arguments are those of `exchange_entry`."""

    def __init__(self, kind: str, op: str) -> None:
        self.bytes = int(kind[1:])
        self.type, self.words = f"{LETTERS[kind[0]]}{8 * self.bytes}", self.bytes // 4
        self.reduction = f"{INSTRUCTIONS[op][kind[0] == 'f']}.{self.type}"

    def begin(self, given: Iterable[str]) -> Iterator[str]:
        """Yield the registers, and the loads of the parameters that are given."""
        yield from self.registers()
        for each in given:
            yield f"ld.param.u{PARAMETERS[each]} %{each}, [{each}];"

    def lines(self) -> Iterator[str]:
        """Yield the exchange, whose registers of PARAMETERS are set."""
        yield "mov.u32 %i, %tid.x;"
        yield "setp.ge.u32 %ends, %i, %count;"
        yield "@%ends bra OVER;"
        yield from self.places()
        yield from self.send()
        yield from self.refresh()
        yield from self.receive()
        yield "OVER:"

    def registers(self) -> Iterator[str]:
        for each, bits in PARAMETERS.items():
            yield f".reg .b{bits} %{each};"
        yield ".reg .pred %ends, %all, %more;"
        yield ".reg .b32 %rank, %size, %half, %mine, %index, %stride, %i, %step, %seen, %piece0, %piece1, %tries;"
        yield ".reg .b64 %ending, %stop, %at, %from, %word, %in;"
        yield f".reg .{self.type} %found, %value;"
        for rank in range(MOST_RANKS):
            yield f".reg .pred %lacks{rank}, %other{rank};"  # is no rank; is a rank, but not this one
            yield f".reg .b64 %to{rank}, {', '.join(f'%word{rank}_{word}' for word in range(self.words))};"

    def of_each_rank(
        self, label: str, part: Callable[[int], Iterator[str]], is_first: bool = False
    ) -> Iterator[str]:
        """Yield the parts of all ranks, and the label behind them to which threads go from the first absent rank.

        The first parts also find out which ranks are absent.
        """
        for rank in range(MOST_RANKS):
            if is_first:
                yield f"setp.le.u32 %lacks{rank}, %size, {rank};"
            if rank >= FIRST_TIER:
                yield f"@%lacks{rank} bra.uni {label};"
            yield from part(rank)
        yield f"{label}:"

    def places(self) -> Iterator[str]:
        """Set %to of the ranks to their tables, and %in to where this rank reads what rank 0 has sent.

        %mine is the number of the first word that this rank writes in a table.
        """
        yield f"ld.global.u64 %word, [%table + {8 * RANK}];"
        for each in range(FIRST_TIER):
            yield self.load_place(each)
        yield "mov.b64 {%rank, %size}, %word;"
        yield "and.b32 %half, %round, 1;"
        yield f"mad.lo.u32 %half, %half, {MOST_RANKS * PIECES}, {TABLE_WORDS};"
        yield f"mad.lo.u32 %mine, %rank, {PIECES}, %half;"
        yield from self.of_each_rank("PLACED", self.place, is_first=True)
        yield "mad.wide.u32 %in, %half, 8, %table;"

    def load_place(self, rank: int) -> str:
        return f"ld.global.u64 %to{rank}, [%table + {8 * (FIRST_RANK + rank)}];"

    def place(self, rank: int) -> Iterator[str]:
        if rank >= FIRST_TIER:
            yield self.load_place(rank)
        yield f"setp.ne.and.u32 %other{rank}, %rank, {rank}, !%lacks{rank};"

    def send(self) -> Iterator[str]:
        yield "mov.u32 %step, %ntid.x;"
        yield f"mul.lo.u32 %stride, %step, {self.words};"
        yield f"mad.lo.u32 %index, %i, {self.words}, %mine;"
        yield "SEND:"
        yield from self.load_own()
        yield from self.of_each_rank("WRITTEN", self.write)
        yield "add.u32 %index, %index, %stride;"
        yield from self.next_element("SEND")

    def next_element(self, label: str) -> Iterator[str]:
        """Yield the jump to a label for the next element of this thread, if it has one."""
        yield "add.u32 %i, %i, %step;"
        yield "setp.lt.u32 %more, %i, %count;"
        yield f"@%more bra {label};"

    def load_own(self) -> Iterator[str]:
        """Set the pieces to those of the element of this rank."""
        yield f"mad.wide.u32 %from, %i, {self.bytes}, %source;"
        if self.words == 1:
            yield "ld.global.u32 %piece0, [%from];"
        else:
            yield "ld.global.u64 %word, [%from];"
            yield "mov.b64 {%piece0, %piece1}, %word;"

    def write(self, rank: int) -> Iterator[str]:
        yield f"mad.wide.u32 %at, %index, 8, %to{rank};"
        for word in range(self.words):
            yield f"mov.b64 %word, {{%piece{word}, %round}};"
            yield f"@%other{rank} st.relaxed.sys.global.u64 [%at + {8 * word}], %word;"

    def refresh(self) -> Iterator[str]:
        """Let the first thread write one word beyond the elements."""
        yield "mov.u32 %i, %tid.x;"
        yield "setp.ne.u32 %ends, %i, 0;"
        yield "@%ends bra REFRESHED;"
        yield "shr.u32 %i, %round, 1;"
        yield f"and.b32 %i, %i, {PIECES - 1};"
        yield f"mul.lo.u32 %seen, %count, {self.words};"
        yield "setp.lt.u32 %ends, %i, %seen;"
        yield "@%ends bra REFRESHED;"
        yield "add.u32 %index, %i, %mine;"
        yield "mov.b64 %word, {%seen, %round};"
        yield from self.of_each_rank("REFRESHED", self.refresh_of)

    def refresh_of(self, rank: int) -> Iterator[str]:
        yield f"mad.wide.u32 %at, %index, 8, %to{rank};"
        yield f"@%other{rank} st.relaxed.sys.global.u64 [%at], %word;"

    def receive(self) -> Iterator[str]:
        yield "mov.u32 %tries, 0;"
        yield "mov.u32 %i, %tid.x;"
        yield "RECEIVE:"
        yield from self.load_own()
        yield f"mad.wide.u32 %at, %i, {8 * self.words}, %in;"
        yield from self.of_each_rank("OWN", self.set_own)
        yield from self.poll()
        yield from self.of_each_rank("REDUCED", self.reduce)
        yield f"mad.wide.u32 %at, %i, {self.bytes}, %target;"
        yield f"st.global.{self.type} [%at], %value;"
        yield from self.next_element("RECEIVE")

    def set_own(self, rank: int) -> Iterator[str]:
        """Set the words of a rank to those of this rank, which no load changes if it is this rank."""
        for word in range(self.words):
            yield f"mov.b64 %word{rank}_{word}, {{%piece{word}, %round}};"

    def poll(self) -> Iterator[str]:
        """Wait for the words of all other ranks, whose loads are under way at the same time."""
        yield "POLL:"
        yield from self.of_each_rank("LOADED", self.load)
        yield "setp.eq.u32 %all, %i, %i;"
        yield from self.of_each_rank("CHECKED", self.check)
        yield "@%all bra CAME;"
        yield "add.u32 %tries, %tries, 1;"
        yield f"and.b32 %seen, %tries, {POLLS - 1};"
        yield "setp.ne.u32 %ends, %seen, 0;"
        yield "@%ends bra POLL;"
        yield f"ld.global.u64 %ending, [%table + {8 * ENDING}];"
        yield "ld.relaxed.sys.global.u64 %stop, [%ending];"
        yield "setp.eq.u64 %ends, %stop, 0;"
        yield "@%ends bra POLL;"
        yield "bra OVER;"
        yield "CAME:"

    def load(self, rank: int) -> Iterator[str]:
        for word in range(self.words):
            at = f"%at + {8 * (rank * PIECES + word)}"
            yield f"@%other{rank} ld.relaxed.sys.global.u64 %word{rank}_{word}, [{at}];"

    def check(self, rank: int) -> Iterator[str]:
        """Clear %all if a word of another rank is not of this round."""
        for word in range(self.words):
            yield f"mov.b64 {{%piece{word}, %seen}}, %word{rank}_{word};"
            yield f"@%other{rank} setp.eq.and.u32 %all, %seen, %round, %all;"

    def reduce(self, rank: int) -> Iterator[str]:
        """Reduce the elements of the ranks before, in %value, and that of this one."""
        for word in range(self.words):
            yield f"mov.b64 {{%piece{word}, %seen}}, %word{rank}_{word};"
        pieces = "{%piece0, %piece1}" if self.words == 2 else "%piece0"
        if rank == 0:
            yield f"mov.b{8 * self.bytes} %value, {pieces};"
            return
        yield f"mov.b{8 * self.bytes} %found, {pieces};"
        guard = f"@!%lacks{rank} " if rank < FIRST_TIER else ""
        yield f"{guard}{self.reduction} %value, %value, %found;"
