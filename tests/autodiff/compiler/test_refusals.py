# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a program whose gradient would be wrong is a CompileGradientError, with the line at fault and a remedy."""

import linecache

import numpy as np
import pytest

from cuda_graphs.compiler.errors import CompileGradientError
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.pipeline import lower
from tests.autodiff.compiler.gradient_rig import check, floats, forward, gradients, ints, zeros
from tests.compiler.rig import Grad, cg

f64, i32 = cg.f64, cg.i32
ndarray = cg.types.ndarray


def in_place(x: ndarray(f64, 1)):
    for i in x:
        x[i] = cg.sin(x[i])


def read_then_written_by_the_next_loop(x: ndarray(f64, 1), y: ndarray(f64, 1)):
    for i in x:
        y[i] = x[i] * x[i]
    for i in x:
        x[i] = 0.0


def written_in_a_later_round(x: ndarray(f64, 1), y: ndarray(f64, 1)):
    for i in x:
        for k in range(3):
            y[i] = y[i] * y[i] + x[i] * k


def neighbour(x: ndarray(f64, 1)):
    for i in range(1, x.shape[0]):
        x[i] = 2.0 * x[i - 1]


def through_an_index(x: ndarray(f64, 1), at: ndarray(i32, 1)):
    for i in at:
        x[i] = 2.0 * x[at[i]]


def one_for_all(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for i in x:
        y[()] += x[i] * y[()]


def order_of_atomics(x: ndarray(f64, 1), n: ndarray(i32, 0), y: ndarray(f64, 1)):
    for i in x:
        k = cg.atomic_add(n[()], 1)
        y[k] = x[i]


def greatest(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for i in x:
        cg.atomic_max(y[()], x[i] * 2.0)


def products(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for i in x:
        cg.atomic_mul(y[()], x[i])


def drawn(x: ndarray(f64, 1), y: ndarray(f64, 1)):
    for i in x:
        y[i] = x[i] * cg.random(f64)


def bits(x: ndarray(f64, 1), y: ndarray(f64, 1)):
    for i in x:
        y[i] = cg.bit_cast(cg.bit_cast(x[i], cg.i64) + 1, f64)


def by_way_of(x: ndarray(f64, 1), t: ndarray(f64, 1), y: ndarray(f64, 1)):
    for i in x:
        t[i] = x[i] * 2.0
    for i in x:
        y[i] = t[i] * 3.0


def teams(x: ndarray(f64, 1), y: ndarray(f64, 1)):
    for b, t in cg.blocks(x.shape[0], 32):
        y[b] = x[b] * t


def whose_is_it(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    most = f64(0.0)
    for i in x:
        cg.atomic_max(most, x[i])
    y[()] = most


def last_one_wins(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for i in x:
        y[()] = x[i] * x[i]


def neighbours_write(x: ndarray(f64, 1), y: ndarray(f64, 1)):
    for i in range(1, x.shape[0]):
        y[i - 1] = x[i] * 2.0
        y[i] += x[i] * 3.0


def transposed(x: ndarray(f64, 2), y: ndarray(f64, 2)):
    for i, j in x:
        y[i, j] = x[i, j] * 2.0
        y[j, i] += x[i, j] * 3.0


CASES = [
    (transposed, {"x": (3, 3), "y": (3, 3)}, "order of the iterations is unknown", "add with +="),
    (last_one_wins, {"x": 3, "y": ()}, "order of the iterations is unknown", "write different elements"),
    (neighbours_write, {"x": 3, "y": 3}, "order of the iterations is unknown", "add with +="),
    (in_place, {"x": 3}, "may write it later", "write to another array"),
    (read_then_written_by_the_next_loop, {"x": 3, "y": 3}, "may write it later", "write to another array"),
    (written_in_a_later_round, {"x": 3, "y": 3}, "may write it later", "write to another array"),
    (neighbour, {"x": 3}, "another iteration writes", "belong to the iteration"),
    (through_an_index, {"x": 3, "at": ints(0, 1, 2)}, "another iteration writes", "belong to the iteration"),
    (one_for_all, {"x": 3, "y": ()}, "another iteration writes", "belong to the iteration"),
    (order_of_atomics, {"x": 3, "n": np.zeros((), np.int32), "y": 3}, "order of iterations", "loop variables"),
    (greatest, {"x": 3, "y": ()}, "atomic max", "add with"),
    (products, {"x": 3, "y": ()}, "atomic mul", "y[i] = y[i] * c if each iteration"),
    (drawn, {"x": 3, "y": 3}, "different random numbers", "separate kernel"),
    (bits, {"x": 3, "y": 3}, "bit_cast", "do not depend on arrays"),
    (by_way_of, {"x": 3, "t": np.zeros(3), "y": 3}, "'t' passes a value on", "needs_grad=True"),
    (teams, {"x": 3, "y": 3}, "blocks", "without cg.blocks"),
    (whose_is_it, {"x": 3, "y": ()}, "atomic max", "add with"),
    (in_place, {"x": np.zeros(3)}, "no array that in_place uses has a gradient", "needs_grad=True"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "shapes", "cause", "remedy"), CASES, ids=lambda each: getattr(each, "__name__", "")
)
@pytest.mark.parametrize("mode", ["reverse", "count"])
def test_programs_without_a_right_gradient_are_refused(function, shapes, cause, remedy, mode):
    arguments = {
        name: Grad(np.zeros(shape)) if isinstance(shape, (int, tuple)) else shape
        for name, shape in shapes.items()
    }
    with pytest.raises(CompileGradientError) as caught:
        lower(function, specialise(function, arguments), mode=mode)
    assert cause in caught.value.cause
    assert remedy in caught.value.remedy
    assert caught.value.loc is not None
    assert caught.value.loc.function == function.__name__


# The kernel itself is compiled as ever.


def test_refusals_are_of_gradients_only():
    lower(in_place, specialise(in_place, {"x": floats(1, 2)}))


# Where iterations may write one element, and nothing says that they do, one of them has the adjoint.


def scattered(x: ndarray(f64, 1), at: ndarray(i32, 1), y: ndarray(f64, 1)):
    for i in x:
        y[at[i]] = x[i] * x[i]
        if i == 1:
            y[3] = x[i] * 5.0


@pytest.mark.parametrize("order", [(2, 3, 0, 1), (1, 2, 2, 2)], ids=str)
def test_the_adjoint_of_an_element_is_taken_once(order):
    x = np.array([0.3, 0.7, 1.1, 0.4])
    seed = np.array([1.0, -2.0, 0.5, 0.0])
    arguments = {"x": Grad(x), "at": ints(*order), "y": zeros(4)}
    found = gradients(scattered, {"y": seed}, targets=("interpreter",), is_race=True, **arguments)["x"]
    on_x86 = gradients(scattered, {"y": seed}, targets=("x86",), is_race=True, **arguments)["x"]
    for each in (found, on_x86):  # any of those that write an element may be the last one
        taken = each / (2 * x)
        assert [np.sum(taken[np.equal(order, k)]) for k in range(3)] == pytest.approx(
            [seed[k] if k in order else 0.0 for k in range(3)]
        )


def defined(name, source, folder):
    """Return the function of a name that a text defines, with the names of this module."""
    file = str(folder / f"{name}.py")
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    space = dict(globals())
    exec(compile(source, file, "exec"), space)
    return space[name]


# Writes in a loop whose iterations all store to y[i]: whether they meet another iteration, and the gradient is refused.

MEETINGS = {
    "if x[i] > 0.5: y[i + 1] += x[i]": True,
    "if x[i] > 0.5: y[i + 1] = x[i]": True,
    "if n > 2: y[i + 1] += x[i]": True,
    "if i == n - 1: y[i + 1] = x[i]": False,
    "if i == n - 1 and x[i] > 0.5: y[i + 1] += x[i]": False,
    "if x[i] > 0.5: y[i] += x[i]": False,
    "if x[i] > 0.5: y[i + n] += x[i]": False,
    "y[n - 1 - i] += x[i]": True,
    "y[n - 1 - i] = x[i]": True,
    "y[2 * n - 1 - i] += x[i]": False,
    "y[0] += x[i]": True,
    "y[n - 1] += x[i]": True,
    "y[n] += x[i]": False,
    "y[(i + 1) % n] += x[i]": True,
    "y[i // 2] += x[i]": True,
    "y[2 * i] += x[i]": True,
    "y[min(i, 3)] += x[i]": True,
    "y[max(i, 0)] += x[i]": False,
    "y[i % n] += x[i]": False,
    "y[n + i // 2] += x[i]": False,
    "y[cg.i32(x[i])] += x[i]": False,
    "for k in range(2): y[i + k] += x[i]": True,
    "for k in range(2): y[n - 1 - k] = x[i]": True,
    "for j, k in cg.ndrange(2, 3): y[i + j + k] += x[i]": True,
    "for k in range(1): y[i + k] += x[i]": False,
    "for k in range(2): y[n + 2 * i + k] += x[i]": False,
    "for k in range(n): y[i + k] += x[i]": False,  # n may be 1
    "for k in range(1000000): y[i + k] += x[i]": True,
    "y[i // (n - 6)] += x[i]": True,
    "for k in range(n): y[i] += x[i]": False,
}


@pytest.mark.parametrize("is_first", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("statement", MEETINGS)
def test_data_does_not_keep_iterations_apart(statement, is_first, tmp_path):
    lines = ["y[i] = 2.0 * x[i]", statement]
    if is_first:
        lines.reverse()
    body = "".join(f"        {line}\n" for line in lines)
    source = f"def meeting(x: ndarray(f64, 1), y: ndarray(f64, 1), n: i32):\n    for i in range(n):\n{body}"
    meeting = defined("meeting", source, tmp_path)
    signature = specialise(meeting, {"x": zeros(9), "y": zeros(9), "n": 4})
    if not MEETINGS[statement]:
        lower(meeting, signature, mode="reverse", verify_ir=True)
        return
    with pytest.raises(CompileGradientError, match="several iterations write one element of 'y'"):
        lower(meeting, signature, mode="reverse")


# Bodies of a loop over i whose writes go through variables, elements of arrays and tests of the index. The order of the
# iterations decides the results of the first ones, which are refused. The others have the right gradient.

ORDERED = {
    "strides of a while": ("k = 0", "while k < n:", "    y[k] = x[i]", "    k += 2"),
    "a cursor": ("p = i", "for _ in range(3):", "    p += 1", "    y[p] = x[i]"),
    "a cursor beside a store": ("y[i] = x[i]", "p = i", "for _ in range(2):", "    p += 1", "    y[p] += x[i]"),
    "all elements": ("for k in range(n):", "    y[k] = x[i]",),
    "an element of an array": ("y[at[0]] = x[i]",),
    "a symbol and a number": ("y[at[0] + i] = x[i]", "y[at[0] + i + 1] += x[i]"),
    "neighbours in a list": ("y[at[i]] = x[i]", "y[at[i + 1]] += x[i]"),
    "all but one": ("if i > 0:", "    y[0] = x[i]"),
    "even and odd": ("if i % 2 == 0:", "    y[i + 1] = x[i]", "else:", "    y[i] = 3.0 * x[i]"),
    "before a break": ("for k in range(9):", "    if k > i:", "        break", "    y[k] = x[i]"),
    "after a continue": ("if i < 2:", "    continue", "y[1] = x[i]"),
    "half of the index": ("h = i", "h //= 2", "y[h] = x[i]"),
    "swapped": ("p, q = i, 0", "p, q = q, p", "y[p] = x[i]"),
    "bounds of data": ("for k in range(at[i]):", "    y[k] = x[i]"),
    "a test of data in a loop": ("k = 0", "while k < 3 and x[k] > 0.0:", "    y[k] = x[i]", "    k += 1"),
}  # fmt: skip
UNORDERED = {
    "pairs": ("p = 2 * i", "for _ in range(2):", "    y[p] = x[i] * x[i]", "    p += 1"),
    "strides of the loop": ("k = i", "while k < 2 * n:", "    y[k] = cg.sin(x[i])", "    k += n"),
    "constants": ("for k in range(3):", "    y[k] = 1.0", "y[i + 3] = x[i]"),
    "a constant": ("y[0] = 1.0", "y[i + 1] = x[i] * x[i]"),
    "one value": ("for k in range(3):", "    y[k] = x[k] * x[k]"),
    "one iteration": ("if i == 2:", "    y[0] = x[i] * x[i]"),
    "one iteration of a later test": ("p = i", "p -= 2", "if p == 0:", "    y[0] = x[i] * x[i]"),
    "before a break": ("for k in range(9):", "    if k > 0:", "        break", "    y[i + k] = x[i] * x[i]"),
    "places in a list": ("y[at[i]] = x[i] * x[i]",),
    "a first place": ("first = at[0]", "y[first + i] = x[i] * x[i]"),
    "rows": ("for k in range(n):", "    y[n * i + k] = x[i] * x[i]"),
    "rows of a list": ("for k in range(2 * at[i], 2 * at[i] + 2):", "    y[k] = x[i] * x[i]"),
    "sums": ("k = 0", "while k < n:", "    y[k] += x[i] * x[i]", "    k += 2"),
    "a test that fails": ("if n < 9 and n > 9:", "    y[0] = x[i]"),
}  # fmt: skip


def body_of(lines, is_backward, folder):
    """Return the loop over i with these statements. Backward, the last iteration runs first."""
    inner = ["i = n - 1 - j" if is_backward else "i = j", *lines]
    body = "".join(f"        {line}\n" for line in inner)
    head = "def ordered(x: ndarray(f64, 1), at: ndarray(i32, 1), y: ndarray(f64, 1), n: i32):\n    for j in range(n):\n"
    return defined("ordered", head + body, folder)


def ordered_arguments():
    return {
        "x": floats(0.3, 0.7, 1.1, 0.4),
        "at": ints(2, 5, 3, 4, 1),
        "y": Grad(np.linspace(1.0, 2.0, 24)),
        "n": 4,
    }


def results_differ(lines, folder):
    """Return True if the order of the iterations decides the result."""
    forwards, backwards = (
        forward(body_of(lines, each, folder), ordered_arguments())["y"] for each in (False, True)
    )
    return not np.allclose(forwards, backwards)


@pytest.mark.parametrize("name", ORDERED)
def test_loops_whose_order_decides_are_refused(name, tmp_path):
    assert results_differ(ORDERED[name], tmp_path)
    ordered = body_of(ORDERED[name], False, tmp_path)
    with pytest.raises(CompileGradientError, match="several iterations write one element of 'y'"):
        lower(ordered, specialise(ordered, ordered_arguments()), mode="reverse")


@pytest.mark.parametrize("name", UNORDERED)
def test_loops_in_any_order_have_the_gradient_of_central_differences(name, tmp_path):
    assert not results_differ(UNORDERED[name], tmp_path)
    seeds = {"y": np.linspace(-1.0, 2.0, 24)}
    check(
        body_of(UNORDERED[name], False, tmp_path),
        seeds,
        ("x", "y"),
        targets=("interpreter",),
        **ordered_arguments(),
    )


# Patterns of indices in one loop: what an iteration reads, another may write.

PATTERNS = {
    "x[i] = x[i] * 2.0": True,
    "x[i + 1] = x[i + 1] * 2.0": True,
    "x[2 * i] = x[2 * i + 1] * 2.0": True,
    "x[i + 1] = x[i] * 2.0": False,
    "x[i] = x[i + 1] * 2.0": False,
    "x[i] = x[n - i] * 2.0": False,
    "x[cg.u8(i)] = x[cg.u8(i)] * 2.0": False,
    "x[cg.i64(i)] = x[cg.i64(i)] * 2.0": True,
    "x[i] = x[0] * 2.0": False,
    "x[i] += x[i + n] * 2.0": False,
}


@pytest.mark.parametrize("statement", PATTERNS)
def test_iterations_keep_to_themselves(statement, tmp_path):
    source = f"def pattern(x: ndarray(f64, 1), n: i32):\n    for i in range(n):\n        {statement}\n"
    pattern = defined("pattern", source, tmp_path)
    signature = specialise(pattern, {"x": zeros(9), "n": 4})
    if PATTERNS[statement]:
        lower(pattern, signature, mode="reverse", verify_ir=True)
        return
    with pytest.raises(CompileGradientError, match="another iteration"):
        lower(pattern, signature, mode="reverse")
