# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws: random programs of cooperating threads give the same on the interpreter, as x86 code and as PTX; and cutting
them into regions does not change their results.

The programs are loops of blocks without races. Threads exchange values by shared memory between barriers, by reductions
and by shuffles, in loops and branches that all threads take; warps also in branches that differ between lanes.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cuda_graphs.compiler.frontend import translate
from cuda_graphs.compiler.ir.interpreter import interpret
from cuda_graphs.compiler.language.signature import specialise
from tests.compiler.rig import SEED, compare, function_of, lower, same

FEW = settings(
    max_examples=6, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
MANY = settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))

OWN, COMMON = (
    ("v", "w", "t", "i"),
    ("u", "k", "n", "b"),
)  # names of what threads have, and of what the block has
COUNT = 50  # iterations of a range; some blocks are not full
REDUCTIONS = ("reduce_add", "reduce_min", "reduce_max", "reduce_xor")
SHUFFLES = ("shuffle", "shuffle_up", "shuffle_down", "shuffle_xor")
HEADS = {
    "blocks": ("for b, t in cg.blocks(2, SIZE):", "i = b * SIZE + t"),
    "planes": ("for b, p, q in cg.blocks(2, (2, SIZE // 2)):", "t = p * (SIZE // 2) + q", "i = b * SIZE + t"),
    "range": (
        "cg.loop_config(block_dim=SIZE)", "for i in range(COUNT):", "t = cg.block.thread()", "b = cg.block.index()",
    ),
}  # fmt: skip


class Writer:
    """Writes a program by what `random` says. Values stay small, so that nothing depends on how far sums wrap."""

    def __init__(self, random):
        self.random, self.loops = random, 0

    def one(self, *choices):
        return self.random.choice(choices)

    def value(self, names, depth):
        """An expression."""
        kind = self.random.randrange(5) if depth else self.random.randrange(2)
        if kind == 0:
            return self.one(*names)
        if kind == 1:
            return str(self.random.randrange(10))
        a, b = self.value(names, depth - 1), self.value(names, depth - 1)
        if kind == 2:
            return f"x[({a}) & 15]"
        if kind == 3:
            return f"cg.select({self.test(names, 0)}, {a}, {b})"
        return f"({a} {self.one('+', '-', '*', '^', '&', '%')} {b})"

    def test(self, names, depth):
        return f"{self.value(names, depth)} {self.one('<', '==', '!=', '>=')} {self.value(names, depth)}"

    def own(self):
        return self.value(OWN + COMMON, 2)

    def own_test(self):
        return self.test(OWN + COMMON, 1)

    def alone(self):
        """Draws statements that need no other thread."""
        if self.random.randrange(3):
            return [f"{self.one('v', 'w')} {self.one('=', '+=', '-=')} {self.own()}"]
        return [f"y[cg.cast({self.own()}, cg.u32) % 16] += {self.own()}"]

    def warp(self):
        target = self.one("v", "w")
        return [
            self.one(
                f"{target} += cg.warp.{self.one(*REDUCTIONS)}({self.own()})",
                f"{target} = cg.warp.{self.one(*SHUFFLES)}({self.own()}, {self.own()})",
                f"{target} ^= cg.cast(cg.warp.ballot({self.own_test()}), cg.i32)",
                f"{target} += cg.select(cg.warp.any({self.own_test()}), 3, 5)",
            )
        ]

    def exchange(self):
        sync = "cg.block.sync()"
        return [f"s[t] = {self.own()}", sync, f"v = s[cg.cast({self.own()}, cg.u32) % SHARE] % 1000", sync]

    def block(self):
        return [
            self.one(
                f"{self.one('v', 'u')} = cg.block.{self.one(*REDUCTIONS)}({self.own()}) % 100",
                f"{self.one('v', 'w')} += cg.select(cg.block.all({self.own_test()}), 1, 2)",
            )
        ]

    def branch(self, test, body):
        lines = [f"if {test}:", *indented(body())]
        return lines + (["else:", *indented(body())] if self.random.randrange(2) else [])

    def apart(self, depth=1):
        """A branch that threads take differently."""

        def body():
            inner = [self.alone, self.warp, *([lambda: self.disjoint(0)] if depth else [])]
            return [line for _ in range(self.random.randrange(1, 4)) for line in self.one(*inner)()]

        return self.branch(self.own_test(), body)

    def loop(self, depth):
        """Draws a loop that all threads take: of a constant length, of a length that the block knows, or until no
        thread votes to go on."""
        self.loops += 1
        k = f"k{self.loops}"  # of its own, so that the loop ends
        leave = [f"if {self.test(COMMON, 1)}:", "    break"] if self.random.randrange(2) else []
        body = self.body(depth)
        return self.one(
            [f"for {k} in range(n % 4):", *indented([*body, f"u += {k}", *leave])],
            [f"{k} = 3", f"while {k} > u % 2:", *indented([f"{k} -= 1", *leave, *body])],
            [
                f"{k} = 0",
                f"while {k} < 3 and cg.block.any({self.own_test()}):",
                *indented([f"{k} += 1", *body]),
            ],
            [
                f"{k} = cg.block.reduce_max({self.own()}) & 3",
                f"while {k} > 0:",
                *indented([f"{k} -= 1", *body]),
            ],
        )

    def statement(self, depth):
        kinds = [self.alone, self.warp, self.exchange, self.block, self.disjoint]
        if depth:
            kinds += [
                lambda: self.loop(depth - 1),
                lambda: self.branch(self.test(COMMON, 1), lambda: self.body(depth - 1)),
            ] * 2
        return self.one(*kinds)()

    def body(self, depth):
        return [line for _ in range(self.random.randrange(1, 4)) for line in self.statement(depth)]

    def program(self):
        size = self.one(1, 2, 20, 34)
        kind = self.one(*(name for name in HEADS if size % 2 == 0 or name != "planes"))
        head = HEADS[kind]
        begin = next(n for n, each in enumerate(head) if each.startswith("for")) + 1
        leave = ["if b == n % 2:", "    continue"] if self.random.randrange(4) == 0 else []
        body = ["s = cg.block.shared_array(cg.i32, SIZE)", "v, w, u, k = t, x[i & 15], b + 1, 2", *leave]
        body += [*self.body(2), *self.body(1), "z[i] = v * 3 + w + u + k"]
        lines = [*head[:begin], *indented([*head[begin:], *body])]
        share = size if kind != "range" else min(size, COUNT % size or size)  # what even the last block has
        text = ["def kernel(x: ndarray(i32), y: ndarray(i32), z: ndarray(i32), n: i32):", *indented(lines)]
        return "\n".join(text), {"SIZE": size, "SHARE": share, "COUNT": COUNT}


def indented(lines):
    return ["    " + line for line in lines]


programs = st.randoms(use_true_random=False).map(lambda random: Writer(random).program())


def the_arguments(n):
    x = np.array([3, -1, 4, 1, -5, 9, 2, 6, -5, 3, 5, 8, 0, 7, -9, 3], np.int32)
    return {"x": x, "y": np.zeros(16, np.int32), "z": np.zeros(256, np.int32), "n": n}


def means_the_same(program, n):
    source, names = program
    function, arguments = function_of(source, **names), the_arguments(n)
    lowered, _ = lower(function, specialise(function, arguments), verify_ir=True)
    compare(lowered, {"random.seed": SEED} | arguments)


def keeps_its_meaning(program, n):
    """Before the first pass and after the last one."""
    source, names = program
    function, arguments = function_of(source, **names), the_arguments(n)
    signature = specialise(function, arguments)
    outcomes = []
    for found in (translate(function, signature)[0], lower(function, signature, verify_ir=True)[0]):
        arrays = {path: value.copy() for path, value in arguments.items() if isinstance(value, np.ndarray)}
        interpret(found, arrays, {"random.seed": SEED} | arguments)
        outcomes.append(arrays)
    for path, array in outcomes[0].items():
        same(outcomes[1][path], array, True, path)


numbers = st.integers(-3, 8)


@FEW
@given(programs, numbers)
def test_blocks_mean_the_same_everywhere(program, n):
    means_the_same(program, n)


@FEW
@given(programs, numbers)
def test_no_pass_changes_what_blocks_mean(program, n):
    keeps_its_meaning(program, n)


@pytest.mark.nightly
@pytest.mark.timeout(7200)
@MANY
@given(programs, numbers)
def test_many_blocks_mean_the_same_everywhere(program, n):
    means_the_same(program, n)


@pytest.mark.nightly
@pytest.mark.timeout(7200)
@MANY
@given(programs, numbers)
def test_no_pass_changes_what_many_blocks_mean(program, n):
    keeps_its_meaning(program, n)
