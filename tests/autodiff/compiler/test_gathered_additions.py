# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws: a gradient whose iterations sum up what is added to their own elements is that of the scattered additions, on
each target, with the same bits on all of them; it has no atomics; and where iterations cannot do that, the additions
stay, and the reason names a line."""

import random

import numpy as np
import pytest

from cuda_graphs.compiler.codegen.ptx.ptx_target import Ptx
from cuda_graphs.compiler.codegen.x86.x86_target import X86
from cuda_graphs.compiler.ir import ir, printer
from cuda_graphs.compiler.ir.interpreter import interpret
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.passes import gather_additions
from cuda_graphs.compiler.passes.gather_additions import Prices
from cuda_graphs.compiler.pipeline import lower
from tests.autodiff.compiler.gradient_rig import differences
from tests.compiler.rig import Grad, compare, execute, flattened, function_of, on_ptx

ALWAYS, STRAIGHT = Prices(10**9, 0), Prices(10**9, 0, is_straight=True)
SIZES = {1: (19,), 2: (8, 7), 3: (4, 5, 6)}


def signature_of(arguments):
    kinds = {"f4": "f32", "f8": "f64", "i4": "i32"}
    texts = {}
    for name, value in arguments.items():
        data = value.data if isinstance(value, Grad) else value
        kind = kinds[data.dtype.str[1:]] if isinstance(data, np.ndarray) else "i32"
        texts[name] = f"ndarray({kind}, {data.ndim})" if isinstance(data, np.ndarray) else kind
    return ", ".join(f"{name}: {text}" for name, text in texts.items())


def kernel_of(arguments, *lines):
    return function_of(f"def k({signature_of(arguments)}):\n" + "".join(f"    {line}\n" for line in lines))


def gradient_of(function, arguments, prices=ALWAYS, fuse="call"):
    """The gradient as a program of tasks."""
    signature = specialise(function, arguments)
    return lower(function, signature, mode="reverse", fuse=fuse, prices=prices, verify_ir=True)[0]


def memory_of(arguments, seed=5):
    """Arguments by path, with gradients of any values: those of results are seeds, and others get additions."""
    rng = np.random.default_rng(seed)
    flat = {path: value for name, each in arguments.items() for path, value in flattened(name, each)}
    grads = {
        f"{name}.grad": rng.standard_normal(each.data.shape).astype(each.data.dtype)
        for name, each in arguments.items()
        if isinstance(each, Grad)
    }
    return {"random.seed": 0} | flat | grads


def atomics(program):
    """The paths of the arrays that atomics of the tasks change."""
    return sorted({
        each.array.path for task in program.tasks for each in ir.walk(task.body) if isinstance(each, ir.Atomic)
    })  # fmt: skip


def is_gathered(program):
    return any(not why for _, why in program.kernel.gathered)


def check(function, arguments, rtol=1e-9, exact=True):
    """The gathered gradient has the same bits on all targets, and is the scattered one but for rounding."""
    memory = memory_of(arguments)
    wanted, _ = compare(gradient_of(function, arguments, None), memory, exact=False, targets=("interpreter",))
    for prices in (STRAIGHT, ALWAYS):
        gathered = gradient_of(function, arguments, prices)
        found, _ = compare(gathered, memory, exact=exact)
        for path, value in wanted.items():
            scale = np.max(np.abs(value), initial=1.0) if value.dtype.kind == "f" else 0
            np.testing.assert_allclose(found[path], value, rtol=rtol, atol=rtol * scale, err_msg=path)
    return gathered, found


# Random programs


class Programs:
    """Writes one or two stencil loops over 1 to 3 axes: conditions at the ends, components of vectors, a leading time,
    masks, several inputs, sums of several stores, and indices beyond the loop."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.dims = self.rng.choice([1, 2, 2, 3])
        self.shape = SIZES[self.dims]
        self.kind = self.rng.choice(["f4", "f8", "f8"])
        self.vector = self.rng.random() < 0.4
        self.timed = self.rng.random() < 0.4
        self.names = "ijl"[: self.dims]

    def arguments(self):
        rng = np.random.default_rng(self.rng.randrange(10**6))
        inner = (2,) if self.vector else ()
        times = (3,) if self.timed else ()

        def floats(shape):
            return Grad(rng.standard_normal(shape).astype(self.kind))

        given = {
            "x": floats((*times, *self.shape, *inner)),
            "w": floats(self.shape),
            "y": floats((*self.shape, *inner)),
        }
        given["z"] = floats(self.shape)
        given["m"] = rng.integers(0, 2, self.shape, dtype="i4")
        return given | {"n": self.shape[0], "t": 1}

    def program(self):
        count = self.rng.choice([1, 1, 2])
        self.is_single = count == 1
        return [line for _ in range(count) for line in self.loop()]

    def loop(self):
        self.ends = [self.rng.choice([(0, 0), (0, 0), (1, 1), (1, 0), (0, 1)]) for _ in self.names]
        extents = [
            "n" if number == 0 and self.rng.random() < 0.3 else f"w.shape[{number}]"
            for number in range(self.dims)
        ]
        self.extents = extents
        spans = ", ".join(f"({low}, {extent} - {high})" for (low, high), extent in zip(self.ends, extents))
        self.locals = ["s"]
        self.inside = [list(each) for each in self.ends]
        body = [f"s = {self.value(2)}"]
        for _ in range(self.rng.randint(1, 3)):
            body += self.statement(1)
        if self.rng.random() < 0.3:
            body += [f"v = {self.value(1)}"]
            self.locals.append("v")
        body += self.store()
        head = f"for {', '.join(self.names)} in cg.ndrange({spans}):" if self.dims > 1 else (
            f"for i in range({self.ends[0][0]}, {extents[0]} - {self.ends[0][1]}):"
        )  # fmt: skip
        return [head, *(f"    {line}" for line in body)]

    def statement(self, depth):
        kind = self.rng.randint(0, 4)
        if kind == 0:
            return [f"s += {self.value(2)}"]
        if kind == 1:
            return [f"s = {self.value(1)} * s"]
        inside = [list(each) for each in self.inside]
        condition = self.condition()
        inner = [f"s += {self.value(2)}"]
        if depth and self.rng.random() < 0.4:
            inner += self.statement(depth - 1)
        self.inside = inside
        other = ["else:", f"    s = {self.value(1)}"] if self.rng.random() < 0.2 else []
        return [f"if {condition}:", *(f"    {line}" for line in inner), *other]

    def condition(self):
        """Returns a condition, and notes how far from the ends of the arrays it keeps indices."""
        if self.rng.random() < 0.15:
            return f"m[{', '.join(self.names)}] > 0"
        if self.rng.random() < 0.15:
            return f"s > {self.rng.choice(['0.1', '-0.3'])}"
        found = []
        for number in self.rng.sample(range(self.dims), self.rng.choice([1, 1, self.dims])):
            name, by = self.names[number], self.rng.choice([1, 1, 2])
            if self.rng.random() < 0.5:
                found.append(
                    self.rng.choice([f"{name} > {by - 1}", f"{name} >= {by}", f"0 <= {name} - {by}"])
                )
                self.inside[number][0] = max(self.inside[number][0], by)
            else:
                extent = self.extents[number]
                found.append(self.rng.choice([f"{name} < {extent} - {by}", f"{name} + {by} < {extent}"]))
                self.inside[number][1] = max(self.inside[number][1], by)
        return " and ".join(found)

    def component(self):
        return [self.rng.choice("01")] if self.vector else []

    def index(self, shifted=True):
        found = []
        for name, (low, high) in zip(self.names, self.inside):
            by = self.rng.choice([0, 0, *range(-low, high + 1)]) if shifted else 0
            found.append(name if by == 0 else f"{name} {'+' if by > 0 else '-'} {abs(by)}")
        return found

    def load(self):
        if self.rng.random() < 0.3:
            return f"w[{', '.join(self.index())}]"
        times = ["t"] if self.timed else []
        return f"x[{', '.join([*times, *self.index(), *self.component()])}]"

    def value(self, depth):
        if depth == 0 or self.rng.random() < 0.15:
            return self.load()
        left = self.value(depth - 1)
        right = self.rng.choice([*getattr(self, "locals", [])[1:], self.value(depth - 1)])
        form = self.rng.choice(["{0} + {1}", "{0} - {1}", "{0} * {1}", "0.5 * {0}", "{0} / (1.5 + {1} * {1})",
                                "cg.sqrt(1.0 + {0} * {0})", "({0} - {1}) * ({0} - {1})"])  # fmt: skip
        return f"({form.format(left, right)})"

    def store(self):
        """Returns stores at the own indices: to y, and perhaps to the next time of x."""
        kind, lines = self.rng.randint(0, 3), []
        for component in ["0", "1"] if self.vector else [""]:
            at = ", ".join([*self.names, *([component] if component else [])])
            factor = f"{1 + int(component or 0)}.25 * "
            lines.append(f"y[{at}] {'+=' if kind == 0 else '='} {factor}s")
            if kind == 1:
                lines[-1] = f"y[{at}] = {factor}y[{at}] + s"
            if self.is_single and kind > 1 and self.rng.random() < 0.3:
                lines.append(f"z[{', '.join(self.names)}] {self.rng.choice(['=', '+='])} y[{at}] * s")
            if self.timed and kind != 3:
                lines.append(f"x[t + 1, {at}] = s * {factor}0.5")
        return lines


def made(seed):
    programs = Programs(seed)
    lines, arguments = programs.program(), programs.arguments()
    return kernel_of(arguments, *lines), arguments, programs


@pytest.mark.parametrize(
    "seed", [pytest.param(s, marks=() if s < 24 else pytest.mark.nightly) for s in range(400)]
)
def test_gradients_of_random_stencils_are_those_of_scattered_additions(seed):
    function, arguments, programs = made(seed)
    check(function, arguments, rtol=1e-4 if programs.kind == "f4" else 1e-11)


def test_random_stencils_are_gathered():
    """The law above is about something: most of its programs have sums."""
    found = [gradient_of(*made(seed)[:2]) for seed in range(24)]
    assert sum(map(is_gathered, found)) >= 16


# Known programs


def floats(*shape, seed=3, kind="f8"):
    return Grad(np.random.default_rng(seed).standard_normal(shape).astype(kind))


def numbers(*shape):
    return np.random.default_rng(4).integers(0, 2, shape, dtype="i4")


NET = """
here, fx, fy = x[t, i, j, 0], 0.0, 0.0
there = x[t, i, j, 1]
if i > 0:
    a, b = x[t, i - 1, j, 0] - here, x[t, i - 1, j, 1] - there
    r = cg.sqrt(a * a + b * b)
    fx += a * (20.0 * (r - 0.95) / r)
    fy += b * (20.0 * (r - 0.95) / r)
if i < x.shape[1] - 1:
    a, b = x[t, i + 1, j, 0] - here, x[t, i + 1, j, 1] - there
    r = cg.sqrt(a * a + b * b)
    fx += a * (20.0 * (r - 0.95) / r)
    fy += b * (20.0 * (r - 0.95) / r)
if j > 0:
    a, b = x[t, i, j - 1, 0] - here, x[t, i, j - 1, 1] - there
    r = cg.sqrt(a * a + b * b)
    fx += a * (20.0 * (r - 0.95) / r)
    fy += b * (20.0 * (r - 0.95) / r)
if j < x.shape[2] - 1:
    a, b = x[t, i, j + 1, 0] - here, x[t, i, j + 1, 1] - there
    r = cg.sqrt(a * a + b * b)
    fx += a * (20.0 * (r - 0.95) / r)
    fy += b * (20.0 * (r - 0.95) / r)
v[t + 1, i, j, 0] = v[t, i, j, 0] * 0.99 + fx * 0.05
v[t + 1, i, j, 1] = v[t, i, j, 1] * 0.99 + fy * 0.05
"""


def net(n, kind="f8"):
    """A kernel that moves a net of masses and springs, and its arguments."""
    places = np.stack(np.meshgrid(np.arange(n), np.arange(n), indexing="ij"), -1) + 0.1 * floats(n, n, 2).data
    x, v = np.zeros((2, 3, n, n, 2), kind)
    x[1], v[1] = places, floats(n, n, 2, seed=9).data
    given = {"x": Grad(x), "v": Grad(v), "t": 1}
    lines = [f"    {line}" for line in NET.strip().splitlines()]
    return kernel_of(given, "for i, j in cg.ndrange(x.shape[1], x.shape[2]):", *lines), given


def adjoint_of_net(x, gf):
    """The gradient to the places from that to the forces, written by hand: each spring pulls on both of its ends."""
    gx = np.zeros_like(x)
    every, first, last = slice(None), slice(None, -1), slice(1, None)
    for low, high in (((first, every), (last, every)), ((every, first), (every, last))):
        d, g = x[high] - x[low], gf[low] - gf[high]
        r = np.sqrt((d * d).sum(-1))[..., None]
        gd = 20.0 * ((1 - 0.95 / r) * g + 0.95 / r**3 * d * (d * g).sum(-1)[..., None])
        gx[high] += gd
        gx[low] -= gd
    return gx


def test_gradient_of_a_net_of_springs_is_the_one_written_by_hand():
    function, given = net(7)
    program, found = check(function, given)
    before = memory_of(given)
    gv = before["v.grad"][2]
    np.testing.assert_allclose(
        found["x.grad"][1] - before["x.grad"][1], adjoint_of_net(given["x"].data[1], gv * 0.05), rtol=1e-10
    )
    np.testing.assert_allclose(found["v.grad"][1] - before["v.grad"][1], gv * 0.99, rtol=1e-13)
    assert not found["v.grad"][2].any()
    assert atomics(program) == [] != atomics(gradient_of(function, given, None))


SMOOTH = ["for i, j in cg.ndrange((1, x.shape[0] - 1), (1, x.shape[1] - 1)):"]
SMOOTH += ["    y[i, j] = x[i - 1, j] * x[i + 1, j] + cg.sin(x[i, j - 1] - x[i, j + 1]) * x[i, j]"]


def test_gradients_are_central_differences_beyond_the_loop_too():
    given = {"x": floats(6, 5), "y": floats(6, 5, seed=8)}
    function = kernel_of(given, *SMOOTH)
    program, found = check(function, given, exact=False)
    before = memory_of(given)
    wanted = differences(function, {"y": before["y.grad"]}, "x", **given)
    np.testing.assert_allclose(found["x.grad"] - before["x.grad"], wanted, rtol=1e-6, atol=1e-8)
    assert atomics(program) == []


@pytest.mark.parametrize("shape", [(3, 64), (2, 96)], ids=str)
@pytest.mark.parametrize("size", [(70, 133), (5, 300), (64, 32)], ids=str)
def test_gradients_of_many_columns_are_those_of_few_threads(size, shape):
    """Blocks of whole warps run tiles of the index space."""
    given = {"x": floats(*size), "y": floats(*size, seed=8)}
    program, memory = gradient_of(kernel_of(given, *SMOOTH), given), memory_of(given)
    wanted = execute("x86", gradient_of(kernel_of(given, *SMOOTH), given, None), memory)[0]
    found = {path: value.copy() for path, value in memory.items() if isinstance(value, np.ndarray)}
    on_ptx(program, found, memory, shape)
    for path, value in wanted.items():
        np.testing.assert_allclose(found[path], value, rtol=1e-12, atol=1e-12, err_msg=path)


def line(*lines, **given):
    """A loop over i = 1, ..., n - 2 with these lines, and arguments."""
    given = {"x": floats(12), "y": floats(12, seed=8), "z": floats(12, seed=9), "n": 12} | given
    return kernel_of(given, "for i in range(1, n - 1):", *(f"    {each}" for each in lines)), given


@pytest.mark.parametrize(
    "lines",
    [
        ["y[i] = x[i - 1] * x[i + 1]", "z[i] = y[i] * x[i]"],
        ["y[i] = x[i - 1] * x[i + 1]", "y[i] = y[i] * 1.5", "z[i] += y[i] * 2.0"],
        ["y[i] += x[i - 1] * x[i + 1]", "z[i] = z[i] * 0.5 + x[i - 1]"],
        ["if x[i] > 0.1:", "    y[i] = x[i - 1]", "else:", "    y[i] = x[i + 1] * 3.0", "z[i] = y[i]"],
    ],
)  # fmt: skip
def test_iterations_that_read_what_they_store_are_gathered(lines):
    program, _ = check(*line(*lines))
    assert is_gathered(program)
    assert "x.grad" not in atomics(program)


@pytest.mark.parametrize(
    "lines",
    [
        ["if 0 < i and i < n - 1:", "    y[i] = x[i - 1] + x[i + 1]", "else:", "    y[i] = x[i]"],
        ["if i == 0:", "    y[i] = x[i + 1]", "else:", "    y[i] = x[i - 1] * x[i]"],
    ],
)  # fmt: skip
def test_a_store_on_one_side_of_a_branch_does_not_come_before_a_read_on_the_other(lines):
    given = {"x": floats(12), "y": floats(12, seed=8), "n": 12}
    program, _ = check(kernel_of(given, "for i in range(n):", *(f"    {each}" for each in lines)), given)
    assert is_gathered(program)
    assert atomics(program) == []


@pytest.mark.timeout(60)
def test_indices_that_use_a_value_many_times_take_no_longer():
    """Each round uses the number before it twice: a walk along all paths would take 2**80 steps."""
    given = {"x": floats(12), "y": floats(12, seed=8), "table": np.linspace(0.0, 1.0, 8), "n": 12}
    rounds = ["h = h ^ (h << 13)", "h = h ^ (h >> 7)"] * 40
    lines = [
        "h = i",
        *rounds,
        "s = x[i]",
        "if i > 0:",
        "    s += x[i - 1] * 0.5",
        "y[i] = s * table[h & 7] * x[i]",
    ]
    program, _ = check(kernel_of(given, "for i in range(n):", *(f"    {each}" for each in lines)), given)
    assert is_gathered(program)


def test_elements_without_additions_are_not_touched():
    """The loop is longer than x, whose other elements would be out of bounds."""
    given = {"x": floats(9), "y": floats(12)}
    function = kernel_of(
        given, "for i in y:", "    if 0 < i and i < x.shape[0] - 1:", "        y[i] = x[i - 1] * x[i + 1]"
    )
    assert is_gathered(check(function, given)[0])


def test_sums_of_the_last_loop_come_before_its_results_are_cleared():
    """The iterations of one loop read the gradients that another one clears."""
    program, _ = check(*line("y[i] = x[i - 1] * x[i + 1]"))
    (sums, clears) = program.tasks
    assert [each.array.path for each in ir.walk(clears.body) if isinstance(each, ir.Store)] == ["y.grad"]
    assert [each.array.path for each in ir.walk(sums.body) if isinstance(each, ir.Store)] == ["x.grad"]


def test_iterations_without_branches_load_all_elements_first():
    function, given = net(6)
    body = gradient_of(function, given, STRAIGHT).tasks[0].loop.body.body
    assert not [each for each in body if isinstance(each, ir.If)]
    kinds = [type(each) for each in body if isinstance(each, (ir.Load, ir.Store)) or each_is_root(each)]
    first = kinds.index(ir.Op)
    assert (
        kinds[:first] == [ir.Load] * 24
    )  # two vectors of the iteration and of each neighbour, and both sums
    assert ir.Load not in kinds[first:]


ENDS = [
    "for i in range(n):",
    "    v = x[i] * w[i]",
    "    if i > 0:",
    "        v += w[i - 1]",
    "    y[i] = v + u[t, i] * u[0, i]",
]


def ends(t):
    given = {
        "x": floats(9),
        "w": floats(9, seed=4),
        "y": floats(9, seed=8),
        "u": floats(2, 9),
        "n": 9,
        "t": t,
    }
    return kernel_of(given, *ENDS), given


@pytest.mark.parametrize("t", [0, 1])
def test_sums_of_one_element_under_two_indices_are_both_added(t):
    program, _ = check(*ends(t))
    assert is_gathered(program)


def test_sums_of_one_array_under_two_names_are_both_added():
    function, given = ends(1)
    found = []
    for prices in (None, STRAIGHT, ALWAYS):
        memory = memory_of(given)
        memory["w"], memory["w.grad"] = memory["x"], memory["x.grad"]
        interpret(gradient_of(function, given, prices).kernel, memory, memory)
        found.append(memory["x.grad"])
    for each in found[1:]:
        np.testing.assert_allclose(each, found[0], rtol=1e-13)


def test_branches_on_values_stay_branches():
    lines = [
        "for i in range(n):",
        "    v = x[i] * x[i]",
        "    if m[i] > 0:",
        "        v += cg.exp(x[i])",
        "    if i > 0:",
        "        v += x[i - 1]",
        "    y[i] = v",
    ]
    given = {"x": floats(9), "y": floats(9), "m": numbers(9), "n": 9}
    program = gradient_of(kernel_of(given, *lines), given, STRAIGHT)
    (branch,) = [each for each in program.tasks[0].loop.body.body if isinstance(each, ir.If)]
    assert [each for each in ir.walk(branch.then) if isinstance(each, ir.Op) and each.name == "exp"]


def each_is_root(statement):
    return isinstance(statement, ir.Op) and statement.name == "sqrt"


def test_branches_with_one_condition_become_one_that_loads_each_element_once():
    function, given = net(5)
    body = gradient_of(function, given).tasks[0].loop.body
    assert len([each for each in body.body if isinstance(each, ir.If)]) == 4
    for branch in (body, *(each.then for each in body.body if isinstance(each, ir.If))):
        loads = [(each.array.path, *each.index) for each in branch.body if isinstance(each, ir.Load)]
        roots = [each for each in branch.body if isinstance(each, ir.Op) and each.name == "sqrt"]
        assert len(set(loads)) == len(loads)
        assert len(roots) == (0 if branch is body else 1)


def test_gradients_that_may_overlap_have_a_loop_each():
    """Arrays with other numbers of dimensions may be the same memory, so one loop would add their sums atomically."""
    given = {"x": floats(3, 7, 6), "w": floats(7, 6, seed=4), "y": floats(7, 6, seed=8), "t": 1}
    lines = ["for i, j in cg.ndrange((1, w.shape[0] - 1), w.shape[1]):"]
    lines += ["    y[i, j] = w[i, j] * x[t, i - 1, j] - w[i, j] * x[t, i + 1, j]"]
    program, _ = check(kernel_of(given, *lines), given)
    assert (len(program.tasks), atomics(program)) == (3, [])
    lines[1] = "    y[i, j] = cg.exp(w[i, j] * x[t, i, j]) + x[t, i - 1, j] + x[t, i + 1, j]"
    shared = gradient_of(kernel_of(given, *lines), given, Prices(100, 1000))
    assert (len(shared.tasks), atomics(shared)) == (2, ["w.grad", "x.grad"])
    assert len(gradient_of(kernel_of(given, *lines), given, Prices(100, 20)).tasks) == 3


# Additions that stay

REFUSED = {
    "loops": (["for q in range(3):", "    y[i] += x[i - 1] * x[i + 1]"], "is a loop in an iteration"),
    "indices from memory": (["y[i] = x[m[i]] + x[m[i - 1]]"], "not all at fixed distances"),
    "strides": (["y[i] = x[2 * i - i] + x[n - 1 - i] * x[n - i]"], "not all at fixed distances"),
    "times that may be equal": (
        ["u[t + t, i] = u[2 * t + 1, i - 1] + u[2 * t + 1, i + 1]"],
        "may use the same elements",
    ),
    "results of several iterations": (["y[m[i]] = x[i - 1] + x[i + 1]"], "several iterations may write"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_additions_that_no_iteration_can_sum_stay_atomic_for_a_reason(name):
    lines, why = REFUSED[name]
    function, given = line(*lines, m=numbers(12), u=floats(4, 12), t=1)
    program = gradient_of(function, given)
    assert [why in each for _, each in program.kernel.gathered] == [True]
    assert atomics(program) == atomics(gradient_of(function, given, None))


def test_sums_that_cost_more_than_atomics_are_not_made():
    function, given = line("y[i] = cg.exp(x[i - 1] * x[i + 1]) * cg.exp(x[i])")
    program = gradient_of(function, given, Prices(1, 20))
    ((number, why),) = program.kernel.gathered
    assert number == 2
    assert why.startswith("the sums would cost an iteration as much as")
    assert "x.grad" in atomics(program)
    assert is_gathered(gradient_of(function, given, Prices(1000, 20)))


def test_sums_of_very_many_statements_are_not_made(monkeypatch):
    function, given = line("y[i] = x[i - 1] * x[i + 1]")
    monkeypatch.setattr(gather_additions, "MOST_STATEMENTS", 10)
    ((_, why),) = gradient_of(function, given).kernel.gathered
    assert why == "the sums would have more than 10 statements"


def test_functions_that_are_called_count():
    function, given = line("y[i] = cg.tanh(x[i - 1] * x[i + 1])")
    assert is_gathered(gradient_of(function, given, Prices(40, 0)))
    assert not is_gathered(gradient_of(function, given, Prices(40, 1000)))


@pytest.mark.parametrize("target", [X86(), Ptx()], ids=lambda target: target.name)
def test_targets_gather_stencils(target):
    function, given = net(5, "f4")
    assert is_gathered(gradient_of(function, given, target.prices))


@pytest.mark.parametrize("mode", ["forward", "second", "constant", None])
def test_other_modes_have_the_same_code_with_sums_and_without(mode):
    function, given = line("y[i] = x[i - 1] * x[i + 1]")
    signature = specialise(function, given)
    texts = [
        printer.text(lower(function, signature, mode=mode, fuse="call", prices=prices)[0])
        for prices in (ALWAYS, None)
    ]
    assert texts[0] == texts[1]


def test_gradients_without_fusion_are_not_gathered():
    function, given = line("y[i] = x[i - 1] * x[i + 1]")
    assert gradient_of(function, given, fuse=None).kernel.gathered == ()
