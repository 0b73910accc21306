# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: mypy and pyright complain about the wrong lines of a program with kernels, and about no other line.

Lines with `# wrong` are those that both must refuse. `make tidy` runs these tests, because they need both checkers.
"""

import re

import pytest

from docs.page_types import complaints, module_of, programs

pytestmark = pytest.mark.types

HEAD = """
import dataclasses
from collections.abc import Iterator
from typing import Any, Literal, assert_type
import numpy as np
import cuda_graphs as cg
"""

PROGRAMS = {
    "scalars": """
@cg.kernel
def numbers(a: cg.f32, n: cg.i32, big: cg.u64, half: cg.f16, is_set: cg.bool) -> cg.f32:
    assert_type(a + n, float)
    assert_type(n + 1, int)
    assert_type(n / 2, float)
    assert_type(cg.f64(n), float)
    total = 0.0
    total += a * n
    for i in range(n):
        total += i if is_set else half
    for i in range(a):  # wrong
        pass
    n.append(1)  # wrong
    return total


assert_type(numbers(1.0, 2, 3, 0.5, True), float)
numbers(1, 2, 3, 1, False)
numbers("1", 2, 3, 0.5, True)  # wrong
numbers(1.0, 2.5, 3, 0.5, True)  # wrong
numbers(1.0, 2, 3)  # wrong
numbers(1.0, 2, 3, 0.5, unknown=True)  # wrong
""",
    "arrays": """
@cg.func
def first(x: cg.Array1[cg.f32]) -> cg.f32:
    return x[0]


@cg.kernel
def arrays(
    number: cg.Array0[cg.f64],
    row: cg.Array1[cg.f32],
    plane: cg.Array2[cg.i32],
    block: cg.Array3[cg.u8],
    four: cg.Array4[cg.f32],
    any_type: cg.Array1,
    any_rank: cg.Array[cg.f32],
    maybe: cg.Array1[cg.f32] | None,
    learned: cg.GradArray1[cg.f32],
) -> None:
    number[()] = 0
    for i in row:
        row[i] += 2 * number[()]
        learned[i] += learned.grad[i]
        any_type[i] = 1
    for i, j in plane:
        plane[i, j] += 1
        plane[i, j] = row.shape[0] + plane.shape[1]
        number[()] += plane[i, j]
        row[plane[i, j]] = 0.0
    for i, j, k in block:
        block[i, j, k] ^= 1
    for i, j, k, m in four:
        four[i, j, k, m] = any_rank[i, j]
    for at in cg.grouped(plane):
        plane[at] = at.x
    if maybe is not None:
        row[0] = maybe[0]
        first(maybe)
    first(plane)  # wrong
    row.length  # wrong
    row.grad  # wrong
    row * 2  # wrong
    cg.sqrt(row)  # wrong
    row[0, 0] = 1.0  # wrong
    number[0] = 1.0  # wrong
    plane[0] = 1  # wrong
    plane[0, 0] = 1.5  # wrong
    text: str = row[0]  # wrong
    row["a"] = 1.0  # wrong
    row[0] = "a"  # wrong
    cg.atomic_add(row[0], "a")  # wrong
    maybe[0]  # wrong


class Tensor:
    # An array of a library whose elements are arrays, as those of PyTorch.

    ndim, shape, dtype = 1, (3,), "float32"

    def __getitem__(self, index: Any) -> "Tensor":
        return self

    def __setitem__(self, index: Any, value: "Tensor | float") -> None: ...

    def __iter__(self) -> "Iterator[Tensor]":
        return iter([self])

    def __len__(self) -> int:
        return 3


x = cg.zeros(3, cg.f32)
y = cg.ndarray(cg.f32, 3, needs_grad=True)
z = cg.zeros((), cg.f64)
p = cg.zeros((2, 2), cg.i32)
b = cg.zeros((2, 2, 2), cg.u8)
f = np.zeros((2, 2, 2, 2), np.float32)
arrays(z, x, p, b, f, x, x, None, y)
arrays(z, np.zeros(3, np.float32), p, b, f, x, x, x, y)
arrays(z, Tensor(), p, b, f, x, x, x, y)
arrays(z, "x", p, b, f, x, x, None, y)  # wrong
arrays(z, [1.0, 2.0], p, b, f, x, x, None, y)  # wrong
arrays(z, 1.0, p, b, f, x, x, None, y)  # wrong
arrays(z, x, p, b, f, x, x, None)  # wrong
arrays(z, x, p, b, f, x, x, None, np.zeros(3))  # wrong
x.fil(1.0)  # wrong
""",
    "vectors": """
Six = cg.Vector[Literal[6]]


@cg.func
def turned(v: cg.vec3[cg.f64], m: cg.mat3[cg.f64]) -> cg.vec3[cg.f64]:
    return m @ v


@cg.kernel
def vectors(
    v: cg.vec2, w: cg.vec3, k: cg.vec3[cg.i32], m: cg.mat3, s: Six, r: cg.Matrix[Literal[2], Literal[3]]
) -> cg.f32:
    assert_type(w.x + w.dot(w), float)
    assert_type(k[0], int)
    assert_type(m[0, 1], float)
    assert_type(m[0], cg.vec3)
    assert_type(m @ w, cg.vec3)
    assert_type(r @ w, cg.vec2)
    assert_type(r.transpose() @ v, cg.vec3)
    assert_type(2 * w - w / 2, cg.vec3)
    assert_type(k.cast(cg.f32), cg.vec3)
    assert_type(cg.outer(v, w), cg.Matrix[Literal[2], Literal[3]])
    assert_type(cg.cross(w, w), cg.vec3)
    assert_type(cg.cross(v, v), float)
    assert_type(cg.norm(s), float)
    assert_type(cg.sqrt(w), cg.vec3)
    assert_type(cg.vector(1.0, 2.0), cg.vec2)
    w.x = 1.0
    w += cg.vec3(0.0)
    v + w  # wrong
    m @ v  # wrong
    cg.cross(v, w)  # wrong
    cg.dot(v, w)  # wrong
    w.x = "a"  # wrong
    return w.x + w.xyz.norm()


k = cg.vec3[cg.i32](1)
m = cg.mat3(0)
r = cg.Matrix[Literal[2], Literal[3]](0)
vectors(cg.vec2(0), cg.vec3(0), k, m, Six(0), r)
cg.vec3("a")  # wrong
vectors(cg.vec3(0), cg.vec3(0), k, m, Six(0), r)  # wrong
""",
    "structures": """
@dataclasses.dataclass
class Ball:
    at: cg.vec3
    mass: cg.f32

    def energy(self, speed: cg.f32) -> cg.f32:
        return 0.5 * self.mass * speed**2


@cg.kernel
def structures(balls: cg.Array1[Ball], one: Ball) -> None:
    for i in balls:
        ball = balls[i]
        ball.mass += one.mass
        balls[i] = Ball(ball.at + one.at, ball.energy(2.0))
        ball.weight  # wrong
        balls[i] = 1.0  # wrong
        Ball(1.0)  # wrong


balls = cg.ndarray(Ball, 3)
structures(balls, Ball(cg.vec3(0), 1.0))
structures(balls, 1.0)  # wrong
balls.mass.fill(1.0)
""",
    "functions": """
@cg.func
def twice(x: cg.f32) -> cg.f32:
    return 2 * x


@cg.kernel
def functions(x: cg.Array1[cg.f32], n: cg.i32, op: cg.template) -> None:
    assert_type(cg.sqrt(n), float)
    assert_type(cg.floor(x.shape[0] / 2, cg.i32), int)
    assert_type(cg.floor(1.5), float)
    assert_type(cg.cast(1.5, cg.i32), int)
    assert_type(cg.select(n > 0, n, 1), int)
    assert_type(cg.random(), float)
    assert_type(cg.random(cg.i32), int)
    assert_type(cg.isnan(1.0), bool)
    assert_type(cg.static(n), int)
    assert_type(cg.clamp(n, 0, 1), int)
    for i, j in cg.ndrange(n, (1, n)):
        x[i] = twice(cg.sin(j)) + op(x[i])
    for k in cg.static(range(3)):
        x[k] = 0.0
    cg.loop_config(block_dim=128)
    for i in x:
        shared = cg.block.shared_array(cg.f32, 128)
        shared[cg.block.thread()] = cg.warp.reduce_add(x[i])
        cg.block.sync()
    cg.sqrt("2")  # wrong
    cg.sqrt()  # wrong
    cg.squareroot(2)  # wrong
    cg.cast(1.5, "i32")  # wrong
    twice("a")  # wrong
    cg.loop_config(block_size=128)  # wrong
    cg.static_assert()  # wrong


functions(cg.zeros(3, cg.f32), 3, twice)
""",
    "graphs": """
@cg.kernel
def stop(x: cg.Array1[cg.f32], go: cg.Condition) -> None:
    cg.set_condition(go, x[0] > 1)
    cg.set_condition(x, 1)  # wrong


@cg.kernel(graph=True)
def steps(x: cg.Array1[cg.f32], go: cg.Array0[cg.i32]) -> None:
    while cg.graph_do_while(go):
        for i in x:
            x[i] /= 2
        with cg.graph_parallel():
            with cg.graph_section():
                go[()] -= 1
    if cg.graph_if(x[0] > 1):
        for i in x:
            x[i] = 0.0
    match cg.graph_switch(go[()]):
        case 0:
            x[0] = 1.0
    while cg.graph_do_while(1.5):  # wrong
        pass


@cg.kernel(graph=True, checkpoints=True)
def resumed(x: cg.Array1[cg.f32], full: cg.Array0[cg.i32]) -> None:
    with cg.checkpoint(1, yield_on=full):
        for i in x:
            x[i] += 1


x, flag = cg.zeros(3, cg.f32), cg.zeros((), cg.i32)
g = cg.GraphDef()
condition = g.create_condition(1)
loop = g.while_loop(condition)
loop.body.call(stop, x, condition).update(args=(x, condition))
rate = g.param("rate", cg.f32)
g.memset(x, 0.0).callback(print).memset(x, rate)
graph = g.instantiate()
stream = cg.Device().create_stream()
graph.launch(stream, rate=1.0)
steps(x, flag, stream=stream)
assert_type(resumed(x, flag), cg.CheckpointStatus)
steps(x)  # wrong
stop(x, 1)  # wrong
graph.lanch(stream)  # wrong
loop.body.call("stop", x)  # wrong
cg.kernel(42)  # wrong
cg.kernel(loop="sometimes")  # wrong
""",
    "methods": """
@cg.data_oriented
class Rod:
    def __init__(self) -> None:
        self.heat = cg.zeros(8, cg.f32)

    @cg.kernel
    def step(self, dt: cg.f32) -> None:
        for i in self.heat:
            self.heat[i] += dt


@cg.kernel
def total(x: cg.Array1[cg.f64], loss: cg.Array0[cg.f64]) -> None:
    for i in x:
        loss[()] += x[i] ** 2


rod = Rod()
rod.step(0.1)
rod.step("0.1")  # wrong
rod.stop(0.1)  # wrong
x, loss = cg.ndarray(cg.f64, 3, needs_grad=True), cg.ndarray(cg.f64, (), needs_grad=True)
total(x, loss)
total.grad(x, loss)
total.grad(x, "loss")  # wrong
x.grad.to_numpy()
""",
}
TEXTS = {f"{name}.py": HEAD + text for name, text in PROGRAMS.items()}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Returns, for each checker, {(name of the program, line)}."""
    lines = complaints(TEXTS, tmp_path_factory.mktemp("programs"))
    place = re.compile(r"([\w.]+):(\d+)")
    return {checker: {place.match(line).groups(): line for line in told} for checker, told in lines.items()}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_a_checker_refuses_the_wrong_lines_and_no_others(found, checker, name):
    lines = TEXTS[f"{name}.py"].splitlines()
    wrong = {f"{number}: {line}" for number, line in enumerate(lines, 1) if line.endswith("# wrong")}
    refused = {int(line): text for (file, line), text in found[checker].items() if file == f"{name}.py"}
    messages = "\n".join(refused.values())
    assert {f"{number}: {lines[number - 1]}" for number in refused} == wrong, messages


def test_every_program_has_a_file_of_its_own():
    names = list(programs())
    assert len({module_of(name) for name in names}) == len(names) > 60
    assert {"README.md", "docs/guide/kernels.md", "examples/jacobi.py", "docs/tutorials/kernels.ipynb"} <= {
        *names
    }
