# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: gradients of random programs are central differences: loops in loops, branches, jumps, carried
values and indices. Programs that write elements at such indices may also be refused."""

import linecache

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cuda_graphs.compiler.errors import CompileGradientError
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.pipeline import lower
from tests.autodiff.compiler.gradient_rig import differences, forward, gradients, ints, zeros
from tests.compiler.rig import Grad, cg

NAMES = ("a", "b", "c")
INDICES = ("p", "q")
N = 4  # elements of x

HEAD = """\
def program(
    x: cg.types.ndarray(cg.f64, 1), k: cg.types.ndarray(cg.i32, 1), n: cg.i32, y: cg.types.ndarray(cg.f64, 1),
    w: cg.types.ndarray(cg.f64, 1),
):
    for i in range({n}):
        a = x[i]
        b = cg.sin(x[(i + 1) % {n}])
        c = cg.f64(0.5)
        p = i
        q = 1
"""


@st.composite
def values(draw, depth=2):
    """An expression that stays between -3 and 3 or so."""
    if depth == 0:
        return draw(
            st.sampled_from([*NAMES, "x[i]", "x[p]", "x[q]", "0.7", "-0.4", "0.1 * p", "0.3 * q", "x[k[p]]"])
        )
    left, right = draw(values(depth - 1)), draw(values(depth - 1))
    form = draw(
        st.sampled_from(
            [
                "cg.sin({0})", "cg.cos({0} + {1})", "cg.tanh({0} * {1})", "0.5 * ({0} + {1})", "0.3 * {0} * {1}",
                "cg.exp(-({0}) * ({0}))", "cg.sqrt(1.5 + ({0}) * ({0}))", "{0} / (2.0 + ({1}) * ({1}))",
                "cg.select({0} > {1}, {0}, 0.5 * {1})", "min({0}, {1})", "max({0}, 0.5 * {1})", "abs({0})",
                "cg.atan2({0}, 2.0 + ({1}) * ({1}))", "-({0})", "cg.tanh(cg.log(3.0 + ({0}) * ({1}) * ({0}) * ({1})))",
            ]
        )
    )  # fmt: skip
    return form.format(left, right)


@st.composite
def conditions(draw):
    kind = draw(st.integers(0, 3))
    if kind == 0:
        return f"({draw(values(1))}) > {draw(st.sampled_from(['0.21', '-0.13', '0.57']))}"
    if kind == 1:
        return f"({draw(st.sampled_from(INDICES))} + i) % 2 == 0"
    if kind == 2:
        return f"{draw(st.sampled_from(NAMES))} < {draw(st.sampled_from(NAMES))} + 0.0123"
    return f"p > q and {draw(st.sampled_from(NAMES))} > 0.0321"


@st.composite
def writes(draw):
    """A write of an element of w, at an index that other iterations may have too."""
    index = draw(st.sampled_from(["i", "p", "q", "2 * i", "i + 4", "p + q", "i + p", "k[i]", "0"]))
    return f"w[{index}] {draw(st.sampled_from(['=', '=', '+=']))} {draw(values(1))}"


@st.composite
def statements(draw, depth, loops, fresh, has_writes=False):
    """Lines of a block."""
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        kinds = ["set", "set", "index", "if", "for", "while", "jump", "add", "swap"]
        kind = draw(st.sampled_from([*kinds, "write", "write"] if has_writes else kinds))
        if kind == "set" or (depth == 0 and kind in ("if", "for", "while")):
            lines.append(f"{draw(st.sampled_from(NAMES))} = {draw(values())}")
        elif kind == "add":
            lines.append(f"y[i] += {draw(values(1))}")
        elif kind == "write":
            lines.append(draw(writes()))
        elif kind == "swap":
            lines.append(f"a, b = b, {draw(values(1))}")
        elif kind == "index":
            lines.append(
                f"{draw(st.sampled_from(INDICES))} = (p + {draw(st.integers(1, 3))} * q + k[q]) % {N}"
            )
        elif kind == "jump" and loops:
            word = draw(st.sampled_from(["break", "continue"] if loops == "serial" else ["continue"]))
            lines += [f"if {draw(conditions())}:", f"    {word}"]
        elif kind == "if":
            lines.append(f"if {draw(conditions())}:")
            lines += ["    " + line for line in draw(statements(depth - 1, loops, fresh, has_writes))]
            if draw(st.booleans()):
                lines.append("else:")
                lines += ["    " + line for line in draw(statements(depth - 1, loops, fresh, has_writes))]
        elif kind == "for":
            name = f"j{next(fresh)}"
            bounds = draw(
                st.sampled_from(["3", "n", "k[i]", "p", "1, n + 1", "q, -1, -1", "0, 5, 2", "-1, i"])
            )
            lines.append(f"for {name} in range({bounds}):")
            lines.append(f"    c = c * 0.9 + 0.01 * {name}")
            lines += ["    " + line for line in draw(statements(depth - 1, "serial", fresh, has_writes))]
        elif kind == "while":
            name = f"w{next(fresh)}"
            lines += [f"{name} = 0", f"while {name} < {draw(st.integers(1, 3))} and {draw(conditions())}:"]
            lines.append(f"    {name} += 1")
            lines += ["    " + line for line in draw(statements(depth - 1, "serial", fresh, has_writes))]
    return lines or ["pass"]


SERIAL = HEAD.replace("    for i in range({n}):\n", "    if n > 0:\n        i = 1\n")  # of the kernel itself


@st.composite
def programs(draw, has_writes=False):
    is_parallel = draw(st.integers(0, 3)) > 0
    lines = draw(statements(3, "parallel" if is_parallel else None, iter(range(100)), has_writes))
    body = "".join(f"        {line}\n" for line in lines)
    return (HEAD if is_parallel else SERIAL).format(n=N) + body + "        y[i] += a * b + cg.sin(c)\n"


def function_of(source):
    name = f"<gradient {abs(hash(source))}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space = {"cg": cg}
    exec(compile(source, name, "exec"), space)
    return space["program"]


def inputs():
    x = np.array([0.31, -0.52, 0.83, 1.14])
    return {"x": Grad(x), "k": ints(1, 0, 3, 2), "n": 3, "y": zeros(N), "w": zeros(3 * N)}


def agree(source, targets):
    function, arguments = function_of(source), inputs()
    seeds = {"y": np.array([1.0, -0.5, 2.0, 0.25]), "w": np.linspace(-1.0, 2.0, 3 * N)}
    with np.errstate(all="ignore"):
        wanted = differences(function, seeds, "x", **arguments)
        found = gradients(function, seeds, targets=targets, **arguments)
    np.testing.assert_allclose(found["x"], wanted, rtol=2e-4, atol=2e-6, err_msg=source)


QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


@settings(max_examples=25, deadline=None, suppress_health_check=QUIET, derandomize=True)
@given(source=programs())
def test_random_programs_have_the_gradients_of_central_differences(source):
    agree(source, ("interpreter",))


def is_refused(source):
    function = function_of(source)
    try:
        lower(function, specialise(function, inputs()), mode="reverse")
    except CompileGradientError as error:
        return "several iterations write one element of 'w'" in error.cause
    return False


def has_an_order(source):
    """Return True if the order of the iterations decides the results."""
    loop = f"    for i in range({N}):\n"
    backward = source.replace(loop, f"    for r in range({N}):\n        i = {N - 1} - r\n")
    with np.errstate(all="ignore"):
        one, other = (forward(function_of(each), inputs())["w"] for each in (source, backward))
    return not np.allclose(one, other, rtol=1e-9, atol=1e-12)


@settings(max_examples=60, deadline=None, suppress_health_check=QUIET, derandomize=True)
@given(source=programs(has_writes=True))
def test_random_programs_with_writes_are_refused_or_have_the_gradients_of_central_differences(source):
    if not is_refused(source) and not has_an_order(source):
        agree(source, ("interpreter",))


@pytest.mark.parametrize("target", ["x86", "ptx"])
@settings(max_examples=3, deadline=None, suppress_health_check=QUIET, derandomize=True)
@given(source=programs())
def test_targets_do_as_the_interpreter_does(target, source):
    agree(source, ("interpreter", target))


@pytest.mark.nightly
@pytest.mark.timeout(7200)
@settings(max_examples=400, deadline=None, suppress_health_check=QUIET)
@given(source=programs())
def test_many_random_programs_have_the_gradients_of_central_differences(source):
    agree(source, ("interpreter", "x86"))
