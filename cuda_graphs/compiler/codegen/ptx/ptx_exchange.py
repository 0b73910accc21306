# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""PTX of the exchange of small arrays between GPUs of one host, through memory that they can all write.

Each rank owns a table, and behind it memory for what the others send: [2 halves][sender][PIECES] words of 8 bytes. Such
a word holds 4 bytes of an element, and the number of the round. A word is stored and loaded as a whole (PTX ISA, "Memory Consistency
Model": `relaxed` at the scope `sys`), so it needs no flag and no fence: its reader polls until the round is the own one.

A round uses half `round % 2`. A rank begins a round after it has received all words of the one before. These were sent
by ranks that had read all words of the round before that one, whose half is written now.

The number of the round has 32 bits. A word that no round has written for 2^32 rounds would look like a new one.
Therefore each round also writes one word beyond its elements, a different one in each round.

Each rank adds the elements in the order of the ranks, so the results are the same bits on all ranks. A poll ends when
the word of health.py is not 0; the result is undefined then.

The table of a rank has words of 8 bytes:

    [0]      the number of the round, 4 bytes, which the exchange increments; the first one is 1
    [1]      the address of the word that ends polls, an i64
    [2 + r]  the address of the table of rank r
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

__all__ = ["LARGEST_BYTES", "OPERATIONS", "TYPES", "bytes_of_memory", "exchange_entry", "table_words"]

LARGEST_BYTES = 4096  # of the array of a rank
PIECES = LARGEST_BYTES // 4  # words of one sender in one half
FIRST_RANK = 2  # its word of the table
POLLS = 1024  # between two looks at the word that ends them
HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"

# Element type as in a typestr -> type of PTX.
TYPES = {"i4": "s32", "u4": "u32", "f4": "f32", "i8": "s64", "u8": "u64", "f8": "f64"}
OPERATIONS = {
    "sum": {"int": "add", "float": "add.rn"},
    "prod": {"int": "mul.lo", "float": "mul.rn"},
    "min": {"int": "min", "float": "min"},
    "max": {"int": "max", "float": "max"},
}


def bytes_of_memory(size: int) -> int:
    """Return the size of the memory that each of `size` ranks owns."""
    return 8 * (table_words(size) + 2 * size * PIECES)


def table_words(size: int) -> int:
    """Return the number of words of a table."""
    return FIRST_RANK + size


@cache
def exchange_entry(name: str, kind: str, op: str, rank: int, size: int) -> str:
    """Return a module with the entry `name(table, source, target, count)`, for one block of any number of threads.

    Args:
        name: The name of the entry.
        kind: A key of TYPES.
        op: A key of OPERATIONS.
        rank, size: The number of this rank, and the number of ranks.
    """
    parameters = ", ".join(f".param .u{bits} {each}" for each, bits in PARAMETERS.items())
    body = "\n".join(Exchange(kind, op, rank, size).lines())
    return f"{HEAD}\n.visible .entry {name}({parameters})\n{{\n{body}\n}}\n"


PARAMETERS = {"table": 64, "source": 64, "target": 64, "count": 32}


class Exchange:
    """The text of one exchange. The arguments are those of `exchange_entry`."""

    def __init__(self, kind: str, op: str, rank: int, size: int) -> None:
        self.type, self.rank, self.size = TYPES[kind], rank, size
        self.bytes = int(kind[1:])
        self.words = self.bytes // 4
        self.others = [each for each in range(size) if each != rank]
        form = "float" if kind[0] == "f" else "int"
        self.reduction = f"{OPERATIONS[op][form]}.{self.type}"

    def lines(self) -> Iterator[str]:
        """Yield the body of a function whose parameters are PARAMETERS."""
        yield from self.registers()
        for each, bits in PARAMETERS.items():
            yield f"ld.param.u{bits} %{each}, [{each}];"
        yield "ld.global.u32 %round, [%table];"
        yield "ld.global.u64 %ending, [%table + 8];"
        for each in range(self.size):
            yield f"ld.global.u64 %memory{each}, [%table + {8 * (FIRST_RANK + each)}];"
        yield from self.halves()
        yield from self.send()
        yield from self.refresh()
        yield from self.receive()
        yield "OVER:"
        yield "bar.sync 0;"
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
        yield ".reg .pred %ends, %came, %all;"
        yield ".reg .b32 %round, %half, %i, %step, %seen, %piece0, %piece1, %tries;"
        yield ".reg .b64 %ending, %stop, %at, %from, %offset, %word;"
        yield f".reg .{self.type} %own, %found, %value;"
        for each in range(self.size):
            yield f".reg .b64 %memory{each}, %to{each}, %in{each};"
            yield f".reg .b32 {', '.join(f'%got{each}_{word}' for word in range(self.words))};"

    def halves(self) -> Iterator[str]:
        """Set %to of the other ranks to where this rank writes, and %in to where it reads what they have sent."""
        yield "and.b32 %half, %round, 1;"
        yield f"mul.lo.u32 %half, %half, {self.size * PIECES};"
        yield f"add.u32 %half, %half, {table_words(self.size)};"
        for each in self.others:
            yield f"add.u32 %i, %half, {self.rank * PIECES};"
            yield f"mad.wide.u32 %to{each}, %i, 8, %memory{each};"
            yield f"add.u32 %i, %half, {each * PIECES};"
            yield f"mad.wide.u32 %in{each}, %i, 8, %memory{self.rank};"

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
            for each in self.others:
                yield f"add.u64 %at, %to{each}, %offset;"
                yield f"st.relaxed.sys.global.u64 [%at + {8 * word}], %word;"
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
        for each in self.others:
            yield f"mad.wide.u32 %at, %i, 8, %to{each};"
            yield "st.relaxed.sys.global.u64 [%at], %word;"
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
        if not self.others:
            return
        yield "POLL:"
        yield "setp.eq.u32 %all, %i, %i;"
        for each in self.others:
            yield f"add.u64 %at, %in{each}, %offset;"
            for word in range(self.words):
                yield f"ld.relaxed.sys.global.u64 %word, [%at + {8 * word}];"
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
        for each in range(self.size):
            element = "%own" if each == self.rank else "%found"
            if each != self.rank:
                yield self.join(each)
            if each == 0:
                yield f"mov.{self.type} %value, {element};"
            else:
                yield f"{self.reduction} %value, %value, {element};"

    def join(self, rank: int) -> str:
        pieces = ", ".join(f"%got{rank}_{word}" for word in range(self.words))
        return f"mov.b{8 * self.bytes} %found, {f'{{{pieces}}}' if self.words == 2 else pieces};"
