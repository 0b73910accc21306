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
Therefore each round also writes one word, a different one in each round, unless that word is among its pairs.

Each rank adds the elements in the order of the ranks, so the results are the same bits on all ranks. A poll ends when
the word of health.py is not 0; the result is undefined then.

The block issues each instruction once for each of its warps, and a warp waits for results that its next instruction
needs, so the number of instructions counts, and so do the bytes that go through the memory pipeline. Therefore

* a thread exchanges the two words of a *pair* by one access, which the memory model treats as two accesses,
* threads without a pair leave at once,
* loads and stores of this rank's own words, and parts of ranks that are not there, have predicates, not branches,
* a resident launch keeps the number of the round in a register, and passes it to the function.

Ranks are served in *tiers* of four, whose loads are under way at the same time; more would need more registers than the
64 that each of 1024 threads has. Words of the table are loaded where they are needed, one by one: a load of 16 bytes
takes the memory pipeline twice as long, also if all threads load the same ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from cuda_graphs.compiler.ir.exchanges import ENDING, FIRST_RANK, MOST_RANKS, PIECES, RANK, TABLE_WORDS

__all__ = ["MOST_THREADS", "PAIR_BYTES", "exchange_entry", "exchange_name", "with_exchanges"]

MOST_THREADS = 1024
PAIR_BYTES = 8  # of the elements that a thread exchanges at a time
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
TIER = 4


class Exchange:
    """The text of one exchange. The arguments are those of `exchange_entry`.

    A pair is two words: those of two elements of 4 bytes, or of one element of 8 bytes.
    """

    def __init__(self, kind: str, op: str) -> None:
        size = int(kind[1:])
        self.type = f"{LETTERS[kind[0]]}{8 * size}"
        self.elements = PAIR_BYTES // size  # of a pair: 1 or 2
        self.reduction = f"{INSTRUCTIONS[op][kind[0] == 'f']}.{self.type}"

    def begin(self, given: Iterable[str]) -> Iterator[str]:
        """Yield the registers, and the loads of the parameters that are given."""
        yield from self.registers()
        for each in given:
            yield f"ld.param.u{PARAMETERS[each]} %{each}, [{each}];"

    def lines(self) -> Iterator[str]:
        """Yield the exchange, whose registers of PARAMETERS are set."""
        yield "mov.u32 %i, %tid.x;"
        yield from self.count_pairs()
        yield "setp.ge.u32 %ends, %i, %pairs;"
        yield "@%ends bra OVER;"
        yield from self.places()
        yield from self.send()
        yield "mov.u32 %i, %tid.x;"
        yield from self.refresh()
        yield from self.receive()
        yield "OVER:"

    def count_pairs(self) -> Iterator[str]:
        if self.elements == 1:
            yield "mov.u32 %pairs, %count;"
        else:
            yield "add.u32 %pairs, %count, 1;"
            yield "shr.u32 %pairs, %pairs, 1;"

    def registers(self) -> Iterator[str]:
        for each, bits in PARAMETERS.items():
            yield f".reg .b{bits} %{each};"
        yield ".reg .pred %ends, %more, %two;"
        yield ".reg .b32 %rank, %size, %half, %mine, %index, %i, %pairs, %step;"
        yield ".reg .b32 %tries, %seen, %wrong, %piece0, %piece1;"
        yield ".reg .b64 %ending, %stop, %at, %from, %in, %word0, %word1;"
        yield f".reg .{self.type} {', '.join(f'%found{n}, %value{n}' for n in range(self.elements))};"
        for place in range(TIER):
            yield f".reg .pred %is{place}, %other{place};"
            yield f".reg .b64 %to{place}, %word{place}_0, %word{place}_1;"

    def of_tiers(self, label: str, part: Callable[[range], Iterator[str]]) -> Iterator[str]:
        """Yield the parts of the tiers, and the label behind them.

        Before a part come the predicates of its ranks, %is and %other. They hold until those of the next part.
        """
        for first in range(0, MOST_RANKS, TIER):
            if first > 0:
                yield f"setp.le.u32 %ends, %size, {first};"
                yield f"@%ends bra.uni {label};"
            tier = range(first, first + TIER)
            for rank in tier:
                yield f"setp.gt.u32 %is{rank % TIER}, %size, {rank};"
                yield f"setp.ne.and.u32 %other{rank % TIER}, %rank, {rank}, %is{rank % TIER};"
            yield from part(tier)
        yield f"{label}:"

    def places(self) -> Iterator[str]:
        """Set %mine to the first word of this rank in each table, as a number, and %in to where rank 0 writes."""
        yield f"ld.global.u64 %word0, [%table + {8 * RANK}];"
        yield "mov.b64 {%rank, %size}, %word0;"
        yield "and.b32 %half, %round, 1;"
        yield f"mad.lo.u32 %half, %half, {MOST_RANKS * PIECES}, {TABLE_WORDS};"
        yield f"mad.lo.u32 %mine, %rank, {PIECES}, %half;"
        yield "mad.wide.u32 %in, %half, 8, %table;"
        yield "mov.u32 %step, %ntid.x;"

    def send(self) -> Iterator[str]:
        yield "SEND:"
        yield from self.load_own()
        yield "mad.lo.u32 %index, %i, 2, %mine;"
        yield from self.write("SENT", "v2.u64", "{%word0, %word1}")
        yield from self.next_pair("SEND")

    def next_pair(self, label: str) -> Iterator[str]:
        """Yield the jump to a label for the next pair of this thread, if it has one."""
        yield "add.u32 %i, %i, %step;"
        yield "setp.lt.u32 %more, %i, %pairs;"
        yield f"@%more bra {label};"

    def load_own(self) -> Iterator[str]:
        """Set %word0 and %word1 to those of this rank. The second one has a 0 behind the last element."""
        yield f"mad.wide.u32 %from, %i, {PAIR_BYTES}, %source;"
        if self.elements == 1:
            yield "ld.global.u64 %word0, [%from];"
            yield "mov.b64 {%piece0, %piece1}, %word0;"
        else:
            yield "ld.global.u32 %piece0, [%from];"
            yield "mov.u32 %piece1, 0;"
            yield from self.compare_with_last()
            yield "@%two ld.global.u32 %piece1, [%from + 4];"
        yield "mov.b64 %word0, {%piece0, %round};"
        yield "mov.b64 %word1, {%piece1, %round};"

    def compare_with_last(self) -> Iterator[str]:
        """Set %two if the pair has two elements."""
        yield "mad.lo.u32 %seen, %i, 2, 1;"
        yield "setp.lt.u32 %two, %seen, %count;"

    def write(self, label: str, kind: str, what: str) -> Iterator[str]:
        """Store at word %index of the tables of all other ranks."""

        def of_tier(tier: range) -> Iterator[str]:
            for rank in tier:  # the table has words for MOST_RANKS ranks
                yield f"ld.global.u64 %to{rank % TIER}, [%table + {8 * (FIRST_RANK + rank)}];"
            for rank in tier:
                yield f"mad.wide.u32 %at, %index, 8, %to{rank % TIER};"
                yield f"@%other{rank % TIER} st.relaxed.sys.global.{kind} [%at], {what};"

        yield from self.of_tiers(label, of_tier)

    def refresh(self) -> Iterator[str]:
        """Let the first thread write one word beyond the pairs, for its round: the other half of it does not matter."""
        yield "setp.ne.u32 %ends, %i, 0;"
        yield "@%ends bra REFRESHED;"
        yield "shr.u32 %index, %round, 1;"
        yield f"and.b32 %index, %index, {PIECES - 1};"
        yield "shl.b32 %seen, %pairs, 1;"
        yield "setp.lt.u32 %ends, %index, %seen;"
        yield "@%ends bra REFRESHED;"
        yield "add.u32 %index, %index, %mine;"
        yield from self.write("REFRESHED", "u64", "%word0")

    def receive(self) -> Iterator[str]:
        yield "mov.u32 %tries, 0;"
        yield "RECEIVE:"
        yield from self.load_own()
        yield f"mad.wide.u32 %at, %i, {2 * 8}, %in;"
        yield from self.of_tiers("RECEIVED", self.receive_tier)
        yield f"mad.wide.u32 %at, %i, {PAIR_BYTES}, %target;"
        yield f"st.global.{self.type} [%at], %value0;"
        if self.elements == 2:
            yield f"@%two st.global.{self.type} [%at + 4], %value1;"
        yield from self.next_pair("RECEIVE")

    def receive_tier(self, tier: range) -> Iterator[str]:
        """Wait for the words of the ranks, and reduce their elements."""
        # These words stay if the rank is this one or not there: its load has a predicate.
        for place in range(TIER):
            yield f"mov.b64 %word{place}_0, %word0;"
            yield f"mov.b64 %word{place}_1, %word1;"
        yield from self.poll(tier)
        for rank in tier:
            yield from self.reduce(rank)

    def poll(self, tier: range) -> Iterator[str]:
        """Load the words of the other ranks until all are of this round, or until the word that ends polls is not 0."""
        poll, came = f"POLL{tier[0]}", f"CAME{tier[0]}"
        yield f"{poll}:"
        for rank in tier:
            words = f"{{%word{rank % TIER}_0, %word{rank % TIER}_1}}"
            at = f"%at + {8 * rank * PIECES}"
            yield f"@%other{rank % TIER} ld.relaxed.sys.global.v2.u64 {words}, [{at}];"
        yield "mov.u32 %wrong, 0;"
        for place in range(TIER):
            yield from self.check(place)
        yield "setp.eq.u32 %more, %wrong, 0;"
        yield f"@%more bra {came};"
        yield "add.u32 %tries, %tries, 1;"
        yield f"and.b32 %seen, %tries, {POLLS - 1};"
        yield "setp.ne.u32 %ends, %seen, 0;"
        yield f"@%ends bra {poll};"
        yield f"ld.global.u64 %ending, [%table + {8 * ENDING}];"
        yield "ld.relaxed.sys.global.u64 %stop, [%ending];"
        yield "setp.eq.u64 %ends, %stop, 0;"
        yield f"@%ends bra {poll};"
        yield "bra OVER;"
        yield f"{came}:"

    def check(self, place: int) -> Iterator[str]:
        """Set bits of %wrong if a word is not of this round."""
        for word in range(2):
            yield self.split(place, word)
            yield "xor.b32 %seen, %seen, %round;"
            yield "or.b32 %wrong, %wrong, %seen;"

    def split(self, place: int, word: int) -> str:
        return f"mov.b64 {{%piece{word}, %seen}}, %word{place}_{word};"

    def reduce(self, rank: int) -> Iterator[str]:
        """Reduce the elements of the ranks before, in the values, and those of this one."""
        found = "%value" if rank == 0 else "%found"
        for word in range(2):
            yield self.split(rank % TIER, word)
        if self.elements == 1:
            yield f"mov.b64 {found}0, {{%piece0, %piece1}};"
        else:
            yield f"mov.b32 {found}0, %piece0;"
            yield f"mov.b32 {found}1, %piece1;"
        for n in range(self.elements if rank > 0 else 0):
            yield f"@%is{rank % TIER} {self.reduction} %value{n}, %value{n}, %found{n};"
