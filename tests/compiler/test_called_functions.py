# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a function with inline=False gives what it gives inlined, on all targets, and has one definition per signature
in each unit of code."""

import dataclasses
import re

import numpy as np
import pytest

import cuda_graphs.compiler.errors as errors
from cuda_graphs.compiler.codegen.ptx.ptx_target import Ptx
from cuda_graphs.compiler.codegen.x86.x86_target import X86
from cuda_graphs.compiler.frontend.translate import translate
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.interpreter import AssertionFailed, interpret
from cuda_graphs.compiler.ir.printer import text
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.pipeline import lower
from tests.compiler.rig import Field, cg, printed, run_all

f32_1d = cg.ndarray(cg.f32, 1)
f32_2d = cg.ndarray(cg.f32, 2)
i32_1d = cg.ndarray(cg.i32, 1)


@dataclasses.dataclass
class Ball:
    place: cg.vec3
    speed: cg.f32

    def energy(self, mass):
        return 0.5 * mass * self.speed * self.speed

    @cg.func(inline=False)
    def momentum(self, mass: cg.f32) -> cg.f32:
        return mass * self.speed

    @cg.func(inline=False)
    def push(self, by, t=2.0):
        self.speed += by
        self.place.x += t * self.speed
        return self.speed > 3


@dataclasses.dataclass
class Pair:
    first: Ball
    count: cg.i32


# The body of a function -> a kernel that calls it. Each is run with and without inlining.


def number(x: cg.f32, n):
    total = 0.0
    for i in range(n):
        total += cg.sqrt(x + i)
    return total


def number_kernel(f):
    def kernel(x: f32_1d, y: f32_1d):
        for i in range(x.shape[0]):
            y[i] = f(x[i], i % 4) + f(2, 3)
        for i in range(x.shape[0]):
            y[i] += f(y[i], 2)

    return kernel


def vectors(v, m, flag=False):
    if flag:
        return m @ v, v.x > 0
    for j in range(3):
        if v[j] > 2:
            return v * 2, True
    return v, False


def vectors_kernel(f):
    def kernel(x: f32_1d, y: f32_1d):
        for i in range(x.shape[0]):
            m = cg.mat3(1, 2, 3, 4, 5, 6, 7, 8, x[i])
            a, b = f(cg.vec3(x[i], 2, i), m, flag=i % 2 == 0)
            c, d = f(cg.vec3(1, 1, x[i]), m)
            y[i] = a.sum() + c.sum() * 10 + (100 if b else 0) + (200 if d else 0)

    return kernel


def structures(ball: Ball, n: cg.i32):
    ball.speed *= 2
    return Pair(Ball(ball.place * n, ball.energy(3.0)), n + 1)


def structures_kernel(f):
    def kernel(x: f32_1d, y: f32_1d):
        for i in range(x.shape[0]):
            ball = Ball(cg.vec3(x[i], 1, 2), 3.0)
            pair = f(ball, i)
            y[i] = pair.first.place.sum() + pair.first.speed + pair.count + ball.speed

    return kernel


def arrays(x, y, i, scale: cg.template):
    """Reads, writes and changes arrays."""
    if i + 1 < x.shape[0]:
        y[i] = x[i + 1] * scale + len(x)
    y[i] += 1


def arrays_kernel(f):
    def kernel(x: f32_1d, y: f32_1d):
        for i in range(x.shape[0]):
            f(x, y, i, 3)
        for i in range(1):
            f(y, x, i, 2)

    return kernel


def sums(x, total, i):
    total[0] += x[i]
    return cg.atomic_max(total[1], x[i])


def sums_kernel(f):
    def kernel(x: f32_1d, total: f32_1d):
        for i in range(x.shape[0]):
            f(x, total, i)
            total[0] += 1

    return kernel


def choices(x, how):
    return x * x if cg.static(how == "square") else x + 1


def choices_kernel(f):
    def kernel(x: f32_1d, y: f32_1d):
        for i in range(x.shape[0]):
            y[i] = f(x[i], "square") + f(x[i], "more") + f(i, "square")

    return kernel


def early(x, n):
    if x < 0:
        return 0.0
    i = 0
    while True:
        if i * i > x:
            return float(i)
        i += 1
        if i > n:
            break
    return -1.0


def early_kernel(f):
    def kernel(x: f32_1d, y: f32_1d):
        for i in range(x.shape[0]):
            y[i] = f(x[i] - 2, i) if i % 2 else f(x[i], 9)

    return kernel


def nothing(y, i):
    y[i] = i


def nothing_kernel(f):
    def kernel(x: f32_1d, y: f32_1d):
        for i in range(x.shape[0]):
            f(y, i)
            if y[i] > 2:
                f(y, i)
                y[i] += 0.5

    return kernel


def dice(v, n):
    """Draws as often as the arguments say, also in functions that it calls."""
    total = cg.random() * v
    for _ in range(n):
        if cg.random() < 0.5:
            total += cg.random() * 3 + pair_of_draws()
    return total, cg.random(cg.u32) % 7


@cg.func(inline=False)
def pair_of_draws():
    return cg.random() + 2 * cg.random()


def dice_kernel(f):
    def kernel(x: f32_1d, y: f32_1d):
        y[0] = cg.random()
        y[1] = pair_of_draws()
        for i in range(2, x.shape[0]):
            a, b = f(x[i], i % 4)
            c, d = f(cg.random(), 1)
            y[i] = a + b + 10 * c + 100 * d + cg.random()
        y[2] += cg.random()

    return kernel


CASES = {
    each.__name__: (each, kernel)
    for each, kernel in (
        (number, number_kernel), (vectors, vectors_kernel), (structures, structures_kernel), (arrays, arrays_kernel),
        (choices, choices_kernel), (early, early_kernel), (nothing, nothing_kernel), (dice, dice_kernel),
    )
}  # fmt: skip


def data(n=13):
    return {"x": np.linspace(0, 6, n).astype("f4"), "y": np.ones(n, "f4")}


@pytest.mark.parametrize(("function", "kernel"), CASES.values(), ids=CASES)
def test_a_called_function_gives_what_it_gives_inlined(function, kernel):
    inlined = run_all(kernel(cg.func(function)), **data())
    called = run_all(kernel(cg.func(function, inline=False)), **data())
    for path, found in called.items():
        np.testing.assert_array_equal(found, inlined[path])


def test_atomics_of_a_called_function_count_with_those_around_it():
    x = np.arange(50, dtype="f4")
    for inline in (True, False):
        found = run_all(sums_kernel(cg.func(sums, inline=inline)), x=x, total=np.zeros(3, "f4"))["total"]
        np.testing.assert_array_equal(found, [x.sum() + 50, 49, 0])


def module_of(kernel, target=None, **arguments):
    program, _ = lower(kernel, specialise(kernel, arguments), verify_ir=True)
    return (target or X86()).module(program)


def test_each_unit_has_one_definition_for_each_signature():
    called = module_of(number_kernel(cg.func(number, inline=False)), **data())
    assert re.findall(r"define internal \w+ @(called[\w.]+)", called) == ["called.number.0"] * 2
    assert called.count("call float @called.number.0(") == 3
    typed = module_of(choices_kernel(cg.func(choices, inline=False)), **data())
    assert len(set(re.findall(r"define internal \w+ @(called[\w.]+)", typed))) == 3


def test_ptx_has_a_function_for_each_signature():
    target = Ptx(arch="sm_80", version=75)
    code = target.code(
        module_of(structures_kernel(cg.func(structures, inline=False)), target, **data())
    ).decode()
    assert len(re.findall(r"^\.func .*called", code, re.MULTILINE)) >= 1
    assert code.count("call.uni") == 1


def test_a_function_without_effects_says_so_to_llvm():
    found = module_of(vectors_kernel(cg.func(vectors, inline=False)), **data())
    assert "noinline nounwind memory(none)" in found
    assert "memory(" not in module_of(arrays_kernel(cg.func(arrays, inline=False)), **data())


def test_methods_are_called_and_change_their_structure():
    def kernel(y: f32_1d):
        for i in range(y.shape[0]):
            ball = Ball(cg.vec3(i, 0, 0), 2.0)
            fast = ball.push(i * 0.5)
            fast = ball.push(by=1.0, t=0.0) and fast
            y[i] = ball.speed + 10 * ball.place.x + (1000 if fast else 0) + ball.momentum(2)

    i = np.arange(6)
    speed = 2 + i / 2
    wanted = speed + 1 + 10 * (i + 2 * speed) + np.where(speed > 3, 1000, 0) + 2 * (speed + 1)
    np.testing.assert_allclose(run_all(kernel, y=np.zeros(6, "f4"))["y"], wanted)


@pytest.mark.parametrize("inline", [True, False])
def test_methods_change_structures_that_are_no_variables(inline):
    """They change a structure of their own: Python's object that nobody else refers to."""

    @dataclasses.dataclass
    class Counter:
        n: cg.i32
        at: cg.vec2

        @cg.func(inline=inline)
        def step(self, by):
            self.n += by
            self.at.x = cg.f32(by)
            self.at *= 2.0
            return self.n + self.at.x

    @cg.func
    def made(n):
        return Counter(n, cg.vec2(1.0, 1.0))

    def kernel(x: i32_1d, y: f32_2d):
        for i in range(x.shape[0]):
            n = x[i]
            start = cg.vec2(1.0, 2.0)
            y[i, 0] = Counter(n, start).step(3) + n + start.x
            y[i, 1] = made(n).step(3)
            one, other = Counter(n, start), Counter(7, start)
            y[i, 2] = (one if n > 2 else other).step(3)
            y[i, 3] = {"a": Counter(n, start)}["a"].step(3)

    n = np.arange(5, dtype="i4")
    wanted = np.stack([2 * n + 10, n + 9, np.where(n > 2, n, 7) + 9, n + 9], axis=1)
    np.testing.assert_array_equal(run_all(kernel, x=n, y=np.zeros((5, 4), "f4"))["y"], wanted)


def test_a_function_reads_fields_and_parameters_of_the_kernel():
    table = Field(np.arange(5, dtype="f4"))

    @cg.func(inline=False)
    def look(i):
        return table[i]

    @cg.func(inline=False)
    def around(settings, i):
        return settings.speed * look(i) + look((i + 1) % 5)

    def kernel(ball: Ball, y: f32_1d):
        for i in range(y.shape[0]):
            y[i] = around(ball, i % 5)

    found = run_all(kernel, [table], ball=Ball(cg_vector(1, 2, 3), 4.0), y=np.zeros(9, "f4"))["y"]
    np.testing.assert_array_equal(found, [4 * (i % 5) + (i % 5 + 1) % 5 for i in range(9)])


def cg_vector(*values):
    return tuple(map(float, values))


def test_a_lambda_is_called():
    square = cg.func(lambda v: v * v, inline=False)

    def kernel(y: f32_1d):
        for i in range(y.shape[0]):
            y[i] = square(y[i]) + square(3)

    np.testing.assert_array_equal(run_all(kernel, y=np.full(4, 2, "f4"))["y"], [13] * 4)


def test_a_function_in_a_loop_of_blocks_uses_their_shared_memory():
    @cg.func(inline=False)
    def neighbour(tile, t):
        return tile[(t + 1) % 32] * 2

    def kernel(x: f32_1d, y: f32_1d):
        for b, t in cg.blocks(2, 32):
            tile = cg.block.shared_array(cg.f32, 32)
            tile[t] = x[b * 32 + t]
            cg.block.sync()
            kept = neighbour(tile, t)
            cg.block.sync()
            y[b * 32 + t] = kept + cg.block.reduce_add(neighbour(tile, t))

    x = np.arange(64, dtype="f4")
    found = run_all(kernel, x=x, y=np.zeros(64, "f4"))["y"]
    wanted = 2 * np.roll(x.reshape(2, 32), -1, 1)
    np.testing.assert_array_equal(found, (wanted + wanted.sum(1, keepdims=True)).ravel())


def test_a_function_prints():
    @cg.func(inline=False)
    def say(n):
        print("n", n)

    def kernel(x: i32_1d):
        say(x[0])
        say(x[1])

    run_all(kernel, x=np.array([5, 6], "i4"))
    assert set(printed.values()) == {"n 5\nn 6\n"}


def test_bounds_see_the_values_that_a_function_wrote_before():
    @cg.func(inline=False)
    def set_count(count, n):
        count[0] = n

    def kernel(count: i32_1d, y: i32_1d):
        set_count(count, 3)
        n = count[0]
        for i in range(n):
            y[i] = 1
            set_count(count, 7)

    np.testing.assert_array_equal(
        run_all(kernel, count=np.zeros(1, "i4"), y=np.zeros(9, "i4"))["y"], [1] * 3 + [0] * 6
    )


def test_sections_with_functions_that_use_one_array_are_refused():
    @cg.func(inline=False)
    def put(x, i):
        x[i] = i

    def kernel(x: i32_1d, y: i32_1d):
        with cg.graph_parallel():
            with cg.graph_section():
                for i in range(x.shape[0]):
                    put(x, i)
            with cg.graph_section():
                for i in range(y.shape[0]):
                    y[i] = x[i]

    arguments = dict.fromkeys("xy", np.zeros(4, "i4"))
    with pytest.raises(errors.CompileSectionError, match="the array 'x'"):
        lower(kernel, specialise(kernel, arguments), graph="conditional")


# Recursion


@cg.func(inline=False, max_depth=24)
def fibonacci(n: cg.i32) -> cg.i32:
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


@cg.func(inline=False, max_depth=40)
def is_even(n: cg.i32) -> bool:
    return True if n == 0 else is_odd(n - 1)


@cg.func(inline=False, max_depth=40)
def is_odd(n: cg.i32) -> bool:
    return False if n == 0 else is_even(n - 1)


@cg.func(inline=False, max_depth=20)
def simpson(a: cg.f64, b: cg.f64, whole: cg.f64, bound: cg.f64) -> cg.f64:
    c = (a + b) / 2
    left, right = panel(a, c), panel(c, b)
    if abs(left + right - whole) < 15 * bound:
        return left + right + (left + right - whole) / 15
    return simpson(a, c, left, bound / 2) + simpson(c, b, right, bound / 2)


@cg.func
def panel(a, b):
    return (b - a) / 6 * (curve(a) + 4 * curve((a + b) / 2) + curve(b))


@cg.func(inline=False)
def curve(x: cg.f64):
    return cg.sqrt(x + 0.25) if x > -1 else cg.f64(0.0)


def test_recursion_gives_what_python_gives():
    def kernel(x: i32_1d, even: i32_1d):
        for i in range(x.shape[0]):
            x[i] = fibonacci(i)
            even[i] = is_even(i)

    found = run_all(kernel, x=np.zeros(15, "i4"), even=np.zeros(15, "i4"))
    wanted = [0, 1]
    while len(wanted) < 15:
        wanted.append(wanted[-1] + wanted[-2])
    np.testing.assert_array_equal(found["x"], wanted)
    np.testing.assert_array_equal(found["even"], [1, 0] * 7 + [1])


def test_adaptive_quadrature_finds_the_integral():
    def kernel(y: cg.ndarray(cg.f64, 1)):
        for i in range(y.shape[0]):
            b = cg.f64(i + 1)
            y[i] = simpson(0.0, b, panel(cg.f64(0.0), b), 1e-9)

    found = run_all(kernel, y=np.zeros(4))["y"]
    np.testing.assert_allclose(found, [2 / 3 * ((i + 1.25) ** 1.5 - 0.125) for i in range(4)], rtol=1e-6)


def test_a_recursive_function_returns_structures():
    @cg.func(inline=False, max_depth=9)
    def walk(ball: Ball, n: cg.i32) -> tuple[Ball, cg.i32]:
        if n == 0:
            return ball, 1
        found, count = walk(Ball(ball.place + cg.vec3(1, 0, n), ball.speed * 2), n - 1)
        return found, count + 1

    def kernel(y: f32_1d):
        for i in range(y.shape[0]):
            ball, count = walk(Ball(cg.vec3(0, 0, 0), 1.0), i)
            y[i] = ball.place.sum() + 100 * ball.speed + 10000 * count

    n = np.arange(6)
    wanted = n + n * (n + 1) / 2 + 100 * 2.0**n + 10000 * (n + 1)
    np.testing.assert_array_equal(run_all(kernel, y=np.zeros(6, "f4"))["y"], wanted)


def test_the_interpreter_limits_recursion_before_and_after_the_pass():
    @cg.func(inline=False, max_depth=5)
    def down(n: cg.i32) -> cg.i32:
        return 0 if n == 0 else 1 + down(n - 1)

    def kernel(x: i32_1d, n: cg.i32):
        x[0] = down(n)

    x = np.zeros(1, "i4")
    signature = specialise(kernel, {"x": x, "n": 1})
    for program in (translate(kernel, signature)[0], lower(kernel, signature, verify_ir=True)[0]):
        interpret(program, {"x": x}, {"n": 4})
        assert x[0] == 4
        with pytest.raises(AssertionFailed, match="down calls itself more than 5 levels deep"):
            interpret(program, {"x": x}, {"n": 5})


def test_only_recursion_needs_more_stack_and_more_of_it_when_it_is_deeper():
    def stack_of(f):
        def kernel(x: i32_1d):
            x[0] = f(3)

        return lower(kernel, specialise(kernel, {"x": np.zeros(1, "i4")}))[0].kernel.stack_bytes

    def down(n: cg.i32) -> cg.i32:
        return 0 if n == 0 else 1 + same(n - 1)

    sizes = []
    for depth in (8, 16):
        same = cg.func(down, inline=False, max_depth=depth)
        sizes.append(stack_of(same) - 1024)
    assert sizes[1] == 2 * sizes[0] > 0
    assert stack_of(cg.func(lambda n: n + 1, inline=False)) == 0


def test_ir_with_functions_is_printed():
    @cg.func(inline=False, max_depth=5)
    def down(n: cg.i32) -> tuple[cg.i32, cg.i32]:
        return (n, 0) if n == 0 else down(n - 1)

    def kernel(x: i32_1d):
        x[0] = down(3)[1]

    found = text(translate(kernel, specialise(kernel, {"x": np.zeros(1, "i4")}))[0])
    assert found.startswith("function down.0(n: i32) -> i32, i32, at most 5 deep\n")
    assert "call down.0(3) : i32" in found
    assert "result 1 of %" in found


# Gradients inline


def test_gradients_inline_functions():
    def kernel(x: f32_1d, y: f32_1d):
        for i in range(x.shape[0]):
            y[i] += f(x[i])

    @cg.func(inline=False)
    def f(v):
        return v * cg.sin(v)

    signature = specialise(kernel, data())
    signature = {name: dataclasses.replace(spec, needs_grad=True) for name, spec in signature.items()}
    program, _ = lower(kernel, signature, mode="reverse", verify_ir=True)
    assert not any(isinstance(each, ir.Call) for task in program.tasks for each in ir.walk(task.body))


# Refusals


@cg.func(inline=False)
def unlimited(n: cg.i32) -> cg.i32:
    return 0 if n == 0 else unlimited(n - 1)


@cg.func(inline=False, max_depth=3)
def undeclared(n: cg.i32):
    return 0 if n == 0 else undeclared(n - 1)


@cg.func(inline=False, max_depth=3)
def grows(n: cg.template):
    return grows(n + 1)


@cg.func
def inlined_forever(n):
    return inlined_forever(n + 1)


@cg.func(inline=False)
def asks(n: cg.i32):
    return cg.block.thread() + n


@cg.func(inline=False)
def waits(n: cg.i32):
    cg.block.sync()
    return n


@cg.func(inline=False)
def applies(f, n: cg.i32):
    return f(n)


def call_unlimited(x: i32_1d):
    x[0] = unlimited(3)


def call_undeclared(x: i32_1d):
    x[0] = undeclared(3)


def call_grows(x: i32_1d):
    x[0] = grows(1)


def call_inlined(x: i32_1d):
    x[0] = inlined_forever(1)


def call_asks(x: i32_1d):
    for b, t in cg.blocks(1, 32):
        x[t + b] = asks(t)


def call_waits(x: i32_1d):
    for b, t in cg.blocks(1, 32):
        x[t + b] = waits(t)


def call_applies(x: i32_1d):
    k = x[1]
    x[0] = applies(lambda n: n + k, 1)


REFUSED = [
    (
        call_unlimited,
        errors.CompileRecursionError,
        r"unlimited calls itself, and has no limit",
        "max_depth=64",
    ),
    (call_undeclared, errors.CompileReturnError, "does not say which numbers it returns", "-> cg.f32"),
    (
        call_grows,
        errors.CompileRecursionError,
        "grows is called with new types or compile-time arg",
        "cg.template",
    ),
    (
        call_inlined,
        errors.CompileRecursionError,
        "calls itself more than 64 levels",
        "inline=False, max_depth=64",
    ),
    (
        call_asks,
        errors.CompileSyntaxError,
        "asks contains the position of a thread, and is called",
        "pass it to the function as an argument, or leave out inline",
    ),
    (call_waits, errors.CompileSyntaxError, "waits contains a barrier, and is called", "leave out inline"),
    (
        call_applies,
        errors.CompileTypeError,
        "the function <lambda> refers to names of one func",
        "leave out inline",
    ),
]


@pytest.mark.parametrize(
    ("kernel", "kind", "cause", "remedy"), REFUSED, ids=[each[0].__name__ for each in REFUSED]
)
def test_refusals_say_what_to_write(kernel, kind, cause, remedy):
    x = np.zeros(40, "i4")
    with pytest.raises(kind, match=cause) as caught:
        lower(kernel, specialise(kernel, {"x": x}))
    assert remedy in str(caught.value)


@cg.func(inline=False, max_depth=32)
def walk(n: cg.i32) -> cg.f32:
    """The sum of a random number of draws."""
    drawn = cg.f32(cg.random())
    return drawn if n == 0 or drawn < 0.2 else drawn + walk(n - 1)


def test_a_recursive_function_draws_what_a_loop_draws():
    def recursive(x: f32_1d):
        for i in range(x.shape[0]):
            x[i] = walk(20)

    def looped(x: f32_1d):
        for i in range(x.shape[0]):
            found, drawn, n = cg.f32(0.0), cg.f32(1.0), 21
            parts = cg.vector(*([cg.f32(0.0)] * 21))
            while n > 0 and drawn >= 0.2:
                drawn = cg.f32(cg.random())
                n -= 1
                parts[n] = drawn
            for j in range(21):  # the order of the sums of the recursion
                found += parts[j]
            x[i] = found

    x = np.zeros(40, "f4")
    np.testing.assert_array_equal(run_all(recursive, x=x)["x"], run_all(looped, x=x)["x"])


def test_sections_with_functions_that_draw_are_refused_outside_of_loops():
    def kernel(x: f32_1d, y: f32_1d):
        with cg.graph_parallel():
            with cg.graph_section():
                x[0] = pair_of_draws()
            with cg.graph_section():
                y[0] = pair_of_draws()

    with pytest.raises(errors.CompileSectionError):
        lower(kernel, specialise(kernel, data()), graph="conditional")


def test_gradients_refuse_recursion():
    def kernel(x: f32_1d):
        for i in range(x.shape[0]):
            x[i] = fibonacci(3)

    with pytest.raises(errors.CompileRecursionError, match="fibonacci calls itself, which has no gradient"):
        lower(kernel, specialise(kernel, {"x": data()["x"]}), mode="reverse")


@pytest.mark.parametrize(
    ("options", "kind", "cause"),
    [
        ({"max_depth": 5}, ValueError, "add inline=False"),
        ({"inline": False, "max_depth": 0}, ValueError, "from 1 to 1024"),
        ({"inline": False, "max_depth": 2000}, ValueError, "from 1 to 1024"),
        ({"inline": False, "max_depth": "9"}, TypeError, "integer"),
    ],
)
def test_wrong_settings_are_refused(options, kind, cause):
    with pytest.raises(kind, match=cause):
        cg.func(**options)(number)
    with pytest.raises(kind, match=cause):
        cg.func(number, **options)


def test_only_functions_of_python_are_called():
    with pytest.raises(TypeError, match="made by def or lambda"):
        cg.func(print, inline=False)


def test_a_called_function_runs_in_kernels_only():
    with pytest.raises(RuntimeError, match="number is a @cg"):
        cg.func(number, inline=False)(1.0, 2)
