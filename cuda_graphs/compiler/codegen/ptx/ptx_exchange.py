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
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from cuda_graphs.compiler.ir.exchanges import FIRST_RANK, MOST_RANKS, PIECES, TABLE_WORDS

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
    parameters = ", ".join(f".param .u{bits} {each}" for each, bits in PARAMETERS.items())
    body = "\n".join(Exchange(kind, op).lines())
    return f"{HEAD}\n.visible .entry {name}({parameters})\n.maxntid {MOST_THREADS}\n{{\n{body}\n}}\n"


def exchange_name(kind: str, op: str) -> str:
    """Return the name of the function of an exchange, whose parameters are those of `exchange_entry`."""
    return f"exchange_{op}_{kind}"


def with_exchanges(parts: Sequence[str]) -> list[str]:
    """Return PTX modules with the functions of the exchanges that they declare, in modules behind them."""
    found = dict.fromkeys(name for part in parts for name in EXTERNAL.findall(part))
    return [*(EXTERNAL.sub(r".func \1", part) for part in parts), *map(exchange_function, found)]


@cache
def exchange_function(name: str) -> str:
    """Return a module with the function of a name that `exchange_name` has returned."""
    _, op, kind = name.split("_")
    parameters = ", ".join(f".param .b{bits} {each}" for each, bits in PARAMETERS.items())
    body = "\n".join(Exchange(kind, op).lines())
    return f"{HEAD}.func {name}({parameters})\n{{\n{body}\n}}\n"


EXTERNAL = re.compile(r"^\.extern \.func\s+(exchange_\w+)", re.MULTILINE)
PARAMETERS = {"table": 64, "source": 64, "target": 64, "count": 32}


class Exchange:
    """The text of one exchange. The arguments are those of `exchange_entry`."""

    def __init__(self, kind: str, op: str) -> None:
        self.bytes = int(kind[1:])
        self.type, self.words = f"{LETTERS[kind[0]]}{8 * self.bytes}", self.bytes // 4
        self.reduction = f"{INSTRUCTIONS[op][kind[0] == 'f']}.{self.type}"

    def lines(self) -> Iterator[str]:
        """Yield the body of a function whose parameters are PARAMETERS."""
        yield from self.registers()
        for each, bits in PARAMETERS.items():
            yield f"ld.param.u{bits} %{each}, [{each}];"
        yield "ld.global.u32 %round, [%table];"
        yield "ld.global.u64 %ending, [%table + 8];"
        yield "ld.global.u32 %rank, [%table + 16];"
        yield "ld.global.u32 %size, [%table + 20];"
        yield from self.places()
        yield from self.send()
        yield from self.refresh()
        yield from self.receive()
        yield "OVER:"
        yield "barrier.sync 0;"  # not aligned: threads come from different polls
        yield "mov.u32 %i, %tid.x;"
        yield "setp.ne.u32 %ends, %i, 0;"
        yield "@%ends bra LEFT;"
        yield "add.u32 %round, %round, 1;"
        yield "st.global.u32 [%table], %round;"
        yield "LEFT:"
        yield "ret;"

    def registers(self) -> Iterator[str]:
        for each, bits in PARAMETERS.items():
            yield f".reg .b{bits} %{each};"
        yield ".reg .pred %ends, %all;"
        yield ".reg .b32 %round, %rank, %size, %half, %i, %step, %seen, %piece0, %piece1, %tries;"
        yield ".reg .b64 %ending, %stop, %at, %from, %offset, %word, %memory, %in;"
        yield f".reg .{self.type} %own, %found, %value;"
        for rank in range(MOST_RANKS):
            yield f".reg .pred %is{rank}, %other{rank};"  # is a rank; is a rank, but not this one
            yield f".reg .b64 %to{rank};"
            yield f".reg .b32 {', '.join(f'%got{rank}_{word}' for word in range(self.words))};"

    def places(self) -> Iterator[str]:
        """Set %to of the other ranks to where this rank writes, and %in to where it reads what rank 0 has sent."""
        yield "and.b32 %half, %round, 1;"
        yield f"mad.lo.u32 %half, %half, {MOST_RANKS * PIECES}, {TABLE_WORDS};"
        yield f"mad.lo.u32 %i, %rank, {PIECES}, %half;"
        for each in range(MOST_RANKS):
            yield f"setp.gt.u32 %is{each}, %size, {each};"
            yield f"setp.ne.and.u32 %other{each}, %rank, {each}, %is{each};"
            yield f"@%other{each} ld.global.u64 %memory, [%table + {8 * (FIRST_RANK + each)}];"
            yield f"mad.wide.u32 %to{each}, %i, 8, %memory;"
        yield "mad.wide.u32 %in, %half, 8, %table;"

    def send(self) -> Iterator[str]:
        yield "mov.u32 %step, %ntid.x;"
        yield "mov.u32 %i, %tid.x;"
        yield "SEND:"
        yield "setp.ge.u32 %ends, %i, %count;"
        yield "@%ends bra SENT;"
        yield from self.load_own()
        yield from self.split("%own", "%piece0", "%piece1")
        yield f"mul.wide.u32 %offset, %i, {8 * self.words};"
        for word in range(self.words):
            yield f"mov.b64 %word, {{%piece{word}, %round}};"
            for each in range(MOST_RANKS):
                yield f"add.u64 %at, %to{each}, %offset;"
                yield f"@%other{each} st.relaxed.sys.global.u64 [%at + {8 * word}], %word;"
        yield "add.u32 %i, %i, %step;"
        yield "bra SEND;"
        yield "SENT:"

    def load_own(self) -> Iterator[str]:
        yield f"mad.wide.u32 %from, %i, {self.bytes}, %source;"
        yield f"ld.global.{self.type} %own, [%from];"

    def split(self, value: str, low: str, high: str) -> Iterator[str]:
        yield f"mov.b64 {{{low}, {high}}}, {value};" if self.words == 2 else f"mov.b32 {low}, {value};"

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
        yield "mov.b64 %word, {%seen, %round};"
        for each in range(MOST_RANKS):
            yield f"mad.wide.u32 %at, %i, 8, %to{each};"
            yield f"@%other{each} st.relaxed.sys.global.u64 [%at], %word;"
        yield "REFRESHED:"

    def receive(self) -> Iterator[str]:
        yield "mov.u32 %tries, 0;"
        yield "mov.u32 %i, %tid.x;"
        yield "RECEIVE:"
        yield "setp.ge.u32 %ends, %i, %count;"
        yield "@%ends bra OVER;"
        yield from self.load_own()
        yield f"mul.wide.u32 %offset, %i, {8 * self.words};"
        yield from self.poll()
        yield from self.reduce()
        yield f"mad.wide.u32 %at, %i, {self.bytes}, %target;"
        yield f"st.global.{self.type} [%at], %value;"
        yield "add.u32 %i, %i, %step;"
        yield "bra RECEIVE;"

    def poll(self) -> Iterator[str]:
        """Wait for the words of all other ranks, whose loads are under way at the same time."""
        yield "POLL:"
        yield "setp.eq.u32 %all, %i, %i;"
        yield "add.u64 %at, %in, %offset;"
        for each in range(MOST_RANKS):
            for word in range(self.words):
                yield "mov.b64 %word, {%round, %round};"  # of ranks that send nothing
                yield f"@%other{each} ld.relaxed.sys.global.u64 %word, [%at + {8 * (each * PIECES + word)}];"
                yield f"mov.b64 {{%got{each}_{word}, %seen}}, %word;"
                yield "setp.eq.and.u32 %all, %seen, %round, %all;"
        yield "@%all bra CAME;"
        yield "add.u32 %tries, %tries, 1;"
        yield f"and.b32 %seen, %tries, {POLLS - 1};"
        yield "setp.ne.u32 %ends, %seen, 0;"
        yield "@%ends bra POLL;"
        yield "ld.relaxed.sys.global.u64 %stop, [%ending];"
        yield "setp.eq.u64 %ends, %stop, 0;"
        yield "@%ends bra POLL;"
        yield "bra OVER;"
        yield "CAME:"

    def reduce(self) -> Iterator[str]:
        """Set %value to the reduction of the elements of all ranks, in their order."""
        for each in range(MOST_RANKS):
            yield f"mov.{self.type} %found, %own;"
            yield f"@%other{each} {self.join(each)}"
            if each == 0:
                yield f"mov.{self.type} %value, %found;"
            else:
                yield f"@%is{each} {self.reduction} %value, %value, %found;"

    def join(self, rank: int) -> str:
        pieces = ", ".join(f"%got{rank}_{word}" for word in range(self.words))
        return f"mov.b{8 * self.bytes} %found, {f'{{{pieces}}}' if self.words == 2 else pieces};"
