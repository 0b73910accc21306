# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: on the CPU iterations side by side, in lanes of vectors, give the bits that they give one by one. Loops with an
inner loop become vectors unless a listed reason prevents it."""

import random
import re

import numpy as np
import pytest

from cuda_graphs.compiler import compile_kernel, specialise
from cuda_graphs.compiler.codegen.x86.vectorisation_analysis import vectorisation_of
from cuda_graphs.compiler.codegen.x86.x86_target import X86
from cuda_graphs.compiler.pipeline import lower
from cuda_graphs.native.units import assembly
from tests.compiler.rig import cg, function_of, run_all

RNG = np.random.default_rng(7)
N = 75  # parts of 25 iterations: whole vectors and some more
TARGETS = ("interpreter", "x86")


def lanes_of(function, **arguments):
    """Lanes of each task; None of those that have none."""
    program, _ = lower(function, specialise(function, arguments), verify_ir=True)
    found = [vectorisation_of(task) for task in program.tasks]
    return [each and each.width for each in found]


def mandelbrot(image: cg.ndarray(cg.i32, 2), limit: cg.i32):
    for i, j in image:
        cx, cy = -2.0 + 3.0 * cg.f32(j) / 40.0, -1.5 + 3.0 * cg.f32(i) / 9.0
        x, y, n = 0.0, 0.0, 0
        while x * x + y * y < 4.0 and n < limit:
            x, y = x * x - y * y + cx, 2.0 * x * y + cy
            n += 1
        image[i, j] = n


def n_body(p: cg.ndarray(cg.f64, 2), force: cg.ndarray(cg.f64, 2)):
    for i in range(p.shape[0]):
        fx, fy = cg.f64(0.0), cg.f64(0.0)
        for j in range(p.shape[0]):
            dx, dy = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1]
            d = dx * dx + dy * dy + 0.01
            s = 1.0 / (d * cg.sqrt(d))
            fx += dx * s
            fy += dy * s
        force[i, 0] = fx
        force[i, 1] = fy


def product(a: cg.ndarray(cg.f32, 2), b: cg.ndarray(cg.f32, 2), c: cg.ndarray(cg.f32, 2)):
    for i, j in c:
        total = 0.0
        for k in range(b.shape[0]):
            total += a[i, k] * b[k, j]
        c[i, j] = total


def primes(found: cg.ndarray(cg.u8, 1)):
    for i in found:
        if i < 2:
            continue
        prime = 1
        for d in range(2, 40):
            if d * d > i:
                break
            q = i
            while q >= d:
                q -= d
            if q == 0:
                prime = 0
                break
        found[i] = prime


CASES = {
    "mandelbrot": (mandelbrot, {"image": np.zeros((9, 40), "i4"), "limit": 60}, 16),
    "n-body": (n_body, {"p": RNG.random((N, 2)), "force": np.zeros((N, 2))}, 8),
    "matrix product": (
        product,
        {"a": RNG.random((5, 7), "f4"), "b": RNG.random((7, 50), "f4"), "c": np.zeros((5, 50), "f4")},
        16,
    ),
    "primes by subtraction": (primes, {"found": np.zeros(200, "u1")}, 16),
}


@pytest.mark.parametrize("name", CASES)
def test_loops_in_loops_have_lanes_and_the_same_bits(name):
    function, arguments, width = CASES[name]
    assert lanes_of(function, **arguments) == [width]
    run_all(function, targets=TARGETS, **arguments)


def sums(
    x: cg.ndarray(cg.u32, 1), m: cg.ndarray(cg.i32, 1), out: cg.ndarray(cg.f32, 1), n: cg.ndarray(cg.i64, 1)
):
    for i in x:
        a = 0.0
        for k in range(3):
            a += cg.f32(x[i]) * cg.f32(k)
            if m[i] > k:
                out[1] += cg.f32(x[i])
        out[0] += a
        n[0] += m[i]
        if x[i] > 1000:
            out[2] += a
        if x[i] > 50:
            n[1] += 1


def test_lanes_add_to_sums_of_all_iterations():
    """The inputs are whole numbers, so that every order of the sums has the same bits. A sum without addends stays
    -0.0."""
    given = {"x": RNG.integers(0, 100, N).astype("u4"), "m": RNG.integers(0, 4, N).astype("i4")}
    given |= {"out": np.array([5.0, 7.0, -0.0], "f4"), "n": np.array([3, 2], "i8")}
    program, _ = lower(sums, specialise(sums, given), verify_ir=True)
    assert len(vectorisation_of(program.tasks[0]).sums) == 5
    found = run_all(sums, targets=TARGETS, **given)
    assert found["out"][0] == 5 + 3 * given["x"].sum()
    assert np.signbit(found["out"][2])


def test_lanes_are_vectors_in_the_assembly():
    for name, wanted in (("mandelbrot", r"mulps"), ("n-body", r"v?sqrtpd"), ("matrix product", r"mulps")):
        function, arguments, _ = CASES[name]
        code = compile_kernel(function, specialise(function, arguments), X86())
        assert re.search(wanted, assembly(code.llvm)), name


ONE_BY_ONE = {
    "no loop inside": "y[i] = x[i]",
    "lanes that count on their own": "for k in range(m[i]):\n            y[i] = x[i]",
    "elements far apart in the loop": "for k in range(3):\n            a += x[m[i] + k]\n        y[i] = a",
    "one element for all": "for k in range(3):\n            a += x[k]\n        y[0] = a + x[i]",
    "atomics": "for k in range(3):\n            y[k] += x[i]",
    "a function of the machine": "for k in range(3):\n            a += cg.exp(x[i])\n        y[i] = a",
    "small floats": "h = cg.f16(0.0)\n        for k in range(3):\n            h += cg.f16(x[i])\n        y[i] = h",
    "division of integers": "for k in range(1, 4):\n            a += m[i] // k\n        y[i] = a",
    "print": "for k in range(1):\n            print(x[i])",
}


@pytest.mark.parametrize("what", ONE_BY_ONE)
def test_iterations_that_lanes_cannot_run_or_speed_up_run_one_by_one(what):
    k = function_of(f"""
def k(x: ndarray(f32, 1), y: ndarray(f32, 1), m: ndarray(i32, 1)):
    for i in y:
        a = 0.0
        {ONE_BY_ONE[what]}
""")
    given = {"x": RNG.random(20, "f4"), "y": np.zeros(8, "f4"), "m": np.arange(8, dtype="i4")}
    assert lanes_of(k, **given) == [None]


def test_a_sum_that_the_kernel_goes_on_with_has_lanes():
    k = function_of("""
def k(x: ndarray(i32, 1), y: ndarray(i32, 1)):
    total = 0
    for i in x:
        for k in range(3):
            total += x[i]
    y[0] = total
""")
    given = {"x": np.arange(N, dtype="i4"), "y": np.zeros(1, "i4")}
    assert set(lanes_of(k, **given)) == {16, None}
    run_all(k, targets=TARGETS, **given)


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 48, N])
def test_any_number_of_iterations(n):
    k = function_of("""
def k(x: ndarray(i64, 1), y: ndarray(i64, 1), first: i32, last: i32):
    for i in range(first, last):
        a = x[i - first]
        for k in range(4):
            a = a * 3 + k
        y[i] = a
""")
    for first in (0, 3):
        given = {"x": np.arange(N) + 5, "y": np.zeros(N + 3, "i8"), "first": first, "last": first + n}
        assert lanes_of(k, **given) == [8]
        run_all(k, targets=TARGETS, **given)


def test_memory_that_a_lane_does_not_ask_for_is_not_touched():
    """Indices of the other lanes are far outside."""
    k = function_of("""
def k(x: ndarray(i32, 1), y: ndarray(i32, 1), at: i32):
    for i in y:
        n = 0
        while n < 3:
            n += 1
        far = i * at
        if i == 0:
            y[far] = x[far] + n
        for k in range(2):
            if i > 1000:
                n += x[at] + x[i]
                y[i] = n
""")
    given = {"x": np.arange(N, dtype="i4") + 7, "y": np.zeros(N, "i4"), "at": 1 << 24}
    assert lanes_of(k, **given) == [16]
    assert run_all(k, targets=TARGETS, **given)["y"][0] == 10


# Random programs

LEAVES = {
    "f": ["f", "fs[i]", "0.5", "cg.f32(i)", "cg.f32(w)", "p"],
    "d": ["d", "cg.f64(f)", "cg.f64(u)", "cg.f64(0.25)"],
    "i": ["i", "a", "s", "3", "ws[i]", "rs[3]", "cg.cast(f, cg.i32)"],
    "u": ["u", "cg.u8(a)", "cg.u8(i)", "cg.cast(d, cg.u8)"],
    "w": ["w", "cg.i64(a)", "cg.i64(u)", "cg.cast(f, cg.i64)"],
}  # by kind: of "f" and "d" floats, of "i", "u" and "w" integers
TYPES = {"a": "i", "u": "u", "w": "w", "f": "f", "d": "d"}  # variables and their kinds
FORMS = ["({0} + {1})", "({0} - {1})", "({0} * {1})", "min({0}, {1})", "(-{0})", "({0} if {2} else {1})"]
OF_FLOATS = ["({0} / {1})", "cg.sqrt({0})", "cg.floor({0})", "abs({0})"]
OF_INTEGERS = ["({0} & {1})", "({0} ^ {1})", "({0} << {1})", "({0} >> {1})", "(~{0})", "max({0}, {1})"]


class Writer:
    """Writes a program, another for each seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.loops = 0

    def expression(self, kind, depth):
        if depth == 0 or self.random.random() < 0.2:
            return self.random.choice(LEAVES[kind])
        form = self.random.choice(FORMS + (OF_FLOATS if kind in "fd" else OF_INTEGERS))
        parts = [self.expression(kind, depth - 1) for _ in range(2)]
        return form.format(*parts, self.condition(depth - 1))

    def condition(self, depth):
        if depth > 0 and self.random.random() < 0.3:
            parts = self.condition(depth - 1), self.condition(depth - 1)
            return f"({parts[0]} {self.random.choice(['and', 'or'])} {parts[1]})"
        kind = self.random.choice("iwfd")
        sign = self.random.choice(["<", "<=", "==", "!="])
        return f"({self.expression(kind, depth)} {sign} {self.expression(kind, depth)})"

    def block(self, depth, leaving=("break", "continue")):
        """Lines; `leaving` are the statements that leave what they are in."""
        ways = [self.assignment, self.assignment, self.store, self.leave, self.branch, self.count, self.wait]
        found = []
        for _ in range(self.random.randint(1, 4)):
            found += self.random.choice(ways if depth else ways[:4])(depth, leaving)
        return found

    def inside(self, depth, leaving=("break", "continue")):
        return ["    " + line for line in self.block(depth - 1, leaving)]

    def assignment(self, depth, leaving):
        name = self.random.choice(list(TYPES))
        return [f"{name} = {self.expression(TYPES[name], 2)}"]

    def store(self, depth, leaving):
        to, kind = self.random.choice(
            [("ws[i]", "i"), ("fs[i]", "f"), ("outs[i, 1]", "d"), ("grid[i, s]", "i")]
        )
        return [f"{to} = {self.expression(kind, 1)}"]

    def leave(self, depth, leaving):
        return [f"if {self.condition(1)}:", f"    {self.random.choice(leaving)}"]

    def branch(self, depth, leaving):
        orelse = ["else:", *self.inside(depth, leaving)] if self.random.random() < 0.5 else []
        return [f"if {self.condition(1)}:", *self.inside(depth, leaving), *orelse]

    def count(self, depth, leaving):
        self.loops += 1
        k = f"k{self.loops}"
        return [f"for {k} in range(3):", f"    a += rs[{k}]", *self.inside(depth)]

    def wait(self, depth, leaving):
        """The counter first, so that continue does not go round for ever."""
        self.loops += 1
        n = f"n{self.loops}"
        return [f"{n} = 0", f"while {n} < 4 and {self.condition(1)}:", f"    {n} += 1", *self.inside(depth)]


HEAD = """
def k(rs: ndarray(i32, 1), ws: ndarray(i32, 1), fs: ndarray(f32, 1), grid: ndarray(i32, 2), outs: ndarray(f64, 2),
      p: f32):
    for i in ws:
        a, s, u, w, f, d = i, rs[ws[i]] & 7, cg.u8(i), cg.i64(i) * 3, fs[i], cg.f64(0.5)
        for k in range(2):
            fs[i] += 0.5
"""
TAIL = """
        outs[i, 0] = cg.f64(a) + cg.f64(s) * 3.0
        outs[i, 1] = cg.f64(u) + cg.f64(w)
        outs[i, 2] = cg.f64(f)
        outs[i, 3] = d
"""


def program(seed):
    lines = ["        " + line for line in Writer(seed).block(3, ("continue",))]
    return function_of(HEAD + "\n".join(lines) + TAIL)


def arguments():
    random = np.random.default_rng(11)
    return {
        "rs": np.arange(8, dtype="i4")[::-1] * 5,
        "ws": random.integers(0, 8, N).astype("i4"),
        "fs": (random.random(N, "f4") - 0.5) * 8,
        "grid": np.zeros((N, 8), "i4"),
        "outs": np.zeros((N, 4)),
        "p": 1.5,
    }


SEEDS = range(30)


@pytest.mark.parametrize("part", range(5))
def test_programs_with_loops_and_branches_have_the_same_bits_side_by_side(part):
    for seed in SEEDS[part::5]:
        run_all(program(seed), targets=TARGETS, **arguments())


def test_most_of_these_programs_have_lanes():
    found = [lanes_of(program(seed), **arguments()) != [None] for seed in SEEDS]
    assert sum(found) > len(SEEDS) // 2
