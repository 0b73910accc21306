# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: each thread first sums the additions of its iterations to one element, where no program can observe the
difference; the result is that of the atomics, on every target."""

import re
import sys

import numpy as np
import pytest

from cuda_graphs.compiler import compile_kernel, specialise
from cuda_graphs.compiler.codegen.x86.x86_target import X86
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir import types as t
from cuda_graphs.compiler.passes.offload import offload
from cuda_graphs.compiler.passes.privatise_atomics import privatise_atomics
from cuda_graphs.compiler.pipeline import lower
from cuda_graphs.native.units import assembly
from tests.compiler.rig import cg, function_of, pairs_of, run_all

INTS, FLOATS = np.arange(-40, 60, dtype="i4"), np.arange(100, dtype="f4")


def atomics_inside(function, **arguments):
    """Returns the number of atomics that are left in the loops of a kernel."""
    program, _ = lower(function, specialise(function, arguments), verify_ir=True)
    return sum(
        isinstance(s, ir.Atomic) for task in program.tasks if task.loop for s in ir.walk(task.loop.body)
    )


KINDS = ["add", "sub", "mul", "min", "max", "and", "or", "xor"]
TYPES = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]


@pytest.mark.parametrize(("kind", "type"), pairs_of(KINDS, TYPES))
def test_every_kind_and_type_gives_what_the_atomics_give(kind, type):
    k = function_of(f"""
def k(x: ndarray({type}, 1), out: ndarray({type}, 1)):
    for i in x:
        cg.atomic_{kind}(out[1], x[i])
""")
    dtype = np.dtype(type.replace("u", "uint").replace("i", "int").replace("uintnt", "uint"))
    x = np.random.default_rng(3).integers(1, 100, 37).astype(dtype)
    given = {"x": x, "out": np.array([5, 77, 6], dtype)}
    assert atomics_inside(k, **given) == 0
    run_all(k, **given)


def sums(x: cg.ndarray(cg.f32, 1), out: cg.ndarray(cg.f64, 1), n: cg.i32):
    total = 0.0
    for i in range(n):
        total += x[i]
        out[0] += cg.f64(x[i])
        if x[i] > 50.0:
            out[1] += 1.0
    out[2] = total


@pytest.mark.parametrize("n", [0, 1, 2, 31, 100])
def test_sums_of_locals_of_elements_and_under_conditions(n):
    """Whole numbers, so that any order of the sums has the same bits."""
    given = {"x": FLOATS, "out": np.zeros(3), "n": n}
    assert atomics_inside(sums, **given) == 0
    found = run_all(sums, **given)["out"]
    np.testing.assert_array_equal(found, [FLOATS[:n].sum(), (FLOATS[:n] > 50).sum(), FLOATS[:n].sum()])


def test_sums_of_the_cpu_are_vector_loops():
    k = function_of("def k(x: ndarray(f32, 1), s: ndarray(f32, 1)):\n    for i in x:\n        s[0] += x[i]\n")
    text = assembly(compile_kernel(k, specialise(k, {"x": FLOATS, "s": FLOATS}), X86()).llvm)
    assert re.search(r"v?addps", text)


def guarded(x: cg.ndarray(cg.i32, 1), out: cg.ndarray(cg.i32, 1), at: cg.i32):
    for i in x:
        if x[i] > 1000:
            out[at] += 1


def test_an_element_that_no_iteration_changes_is_not_touched():
    """The index is far outside of the array, so no element exists."""
    given = {"x": INTS, "out": np.zeros(1, "i4"), "at": 1 << 30}
    assert atomics_inside(guarded, **given) == 0
    run_all(guarded, **given)


def test_the_sign_of_zero_stays():
    k = function_of("def k(x: ndarray(f32, 1), s: ndarray(f32, 1)):\n    for i in x:\n        s[0] += x[i]\n")
    found = run_all(k, x=np.full(9, -0.0, "f4"), s=np.full(1, -0.0, "f4"))
    assert np.signbit(found["s"][0])


NAN = float("nan")


@pytest.mark.parametrize("type", ["f32", "f64"])
@pytest.mark.parametrize("kind", ["min", "max"])
@pytest.mark.parametrize("x", [[3.0, NAN, -2.0, 7.0], [NAN] * 40, [NAN] * 33 + [1.5], [np.inf, -np.inf], []])
@pytest.mark.parametrize("before", [NAN, 1.0, -np.inf])
def test_the_least_and_greatest_float_is_one_that_is_not_nan_if_there_is_one(type, kind, x, before):
    k = function_of(f"""
def k(x: ndarray({type}, 1), out: ndarray({type}, 1)):
    for i in x:
        cg.atomic_{kind}(out[0], x[i])
""")
    dtype = np.dtype(t.SCALARS[type].dtype)
    given = {"x": np.array(x, dtype), "out": np.array([before], dtype)}
    assert atomics_inside(k, **given) == 0
    found = run_all(k, **given)["out"]
    wanted = getattr(np, f"f{kind}").reduce(np.array([before, *x], dtype))
    np.testing.assert_array_equal(found, [wanted])


@pytest.mark.parametrize("type", ["f32", "f64"])
@pytest.mark.parametrize("kind", ["min", "max"])
@pytest.mark.parametrize(
    "x",
    [
        [3.0, NAN, -2.0, 7.0, 0.0, -0.0],
        [NAN, -NAN] * 40,
        [NAN] * 33 + [1.5],
        [np.inf, -np.inf],
        [-0.0] * 70,
        [],
    ],
)
@pytest.mark.parametrize("before", [NAN, 1.0, -np.inf, 0.0])
def test_the_least_and_greatest_magnitude_is_one_that_is_not_nan_if_there_is_one(type, kind, x, before):
    """Magnitudes are compared as integers."""
    k = function_of(f"""
def k(x: ndarray({type}, 1), out: ndarray({type}, 1)):
    for i in x:
        cg.atomic_{kind}(out[0], abs(x[i]))
""")
    dtype = np.dtype(t.SCALARS[type].dtype)
    given = {"x": np.array(x, dtype), "out": np.array([before], dtype)}
    assert atomics_inside(k, **given) == 0
    found = run_all(k, **given)["out"]
    wanted = getattr(np, f"f{kind}").reduce(np.array([before, *np.abs(given["x"])], dtype))
    np.testing.assert_array_equal(found, [wanted])


def test_signs_that_only_some_values_lack_are_compared_as_floats():
    k = function_of("""
def k(x: ndarray(f32, 1), out: ndarray(f32, 1)):
    for i in x:
        cg.atomic_max(out[0], abs(x[i]) - 5.0)
        cg.atomic_max(out[0], x[i] * x[i] - 9.0)
        cg.atomic_min(out[1], abs(x[i]))
        cg.atomic_min(out[1], x[i])
""")
    x = np.linspace(-2, 1, 50, dtype="f4")
    given = {"x": x, "out": np.array([-100, 100], "f4")}
    found = run_all(k, **given)["out"]
    np.testing.assert_array_equal(found, [np.max(abs(x) - 5), -2])


def after_a_loop(x: cg.ndarray(cg.f32, 2), out: cg.ndarray(cg.f32, 1)):
    for i in range(x.shape[0]):
        least = 1000.0
        for j in range(x.shape[1]):
            least = min(least, x[i, j])
        out[0] += least


def test_values_read_in_a_loop_are_not_added_again_after_it():
    x = np.random.default_rng(3).integers(1, 100, (40, 5)).astype(np.float32)
    given = {"x": x, "out": np.zeros(1, np.float32)}
    assert atomics_inside(after_a_loop, **given) == 0
    np.testing.assert_array_equal(run_all(after_a_loop, **given)["out"], x.min(1).sum())


STAY = {
    "a load that comes again": "for k in range(3):\n            y[0] += x[k]",
    "who looks at the old value": "old = cg.atomic_add(y[0], 1)\n        x[i] = old",
    "another element each time": "y[x[i] & 7] += 1",
    "a load of the array": "y[0] += y[1]",
    "a load afterwards of what may be the same": "y[0] += 1\n        z[i] = x[1]",
    "a store to what may be the same": "y[0] += 1\n        x[i] = 1",
    "two kinds": "y[0] += 1\n        y[0] |= x[i]",
    "exchange": "cg.atomic_exchange(y[0], x[i])",
    "cas": "cg.atomic_cas(y[0], 1, x[i])",
}


@pytest.mark.parametrize("what", STAY)
def test_updates_that_cannot_be_collected_stay_atomic(what):
    k = function_of(f"""
def k(x: ndarray(i32, 1), y: ndarray(i32, 1), z: ndarray(i64, 1)):
    for i in range(z.shape[0]):
        {STAY[what]}
""")
    given = {"x": INTS, "y": INTS.copy(), "z": np.zeros(9, "i8")}
    assert atomics_inside(k, **given) >= 1


def test_arrays_that_overlap_may_be_read_first():
    k = function_of("def k(x: ndarray(i32, 1), y: ndarray(i32, 1)):\n    for i in x:\n        y[0] += x[i]\n")
    assert atomics_inside(k, x=INTS, y=INTS) == 0
    assert run_all(k, x=INTS, y=np.zeros(1, "i4"))["y"][0] == INTS.sum()


def many(n):
    """A kernel with n atomics in its loop, of as many elements as are joined by blocks, and some more."""
    adds = "".join(f"        y[{j % 20}] += z[i] * {j}\n" for j in range(n))
    return function_of("def k(y: ndarray(i32, 1), z: ndarray(i64, 1)):\n    for i in z:\n" + adds)


@pytest.mark.filterwarnings("ignore:.*the conversion can lose:cuda_graphs.CompileWarning")
def test_many_sums_of_one_loop():
    given = {"y": np.zeros(20, "i4"), "z": np.arange(70)}
    assert atomics_inside(many(60), **given) == 0
    found = run_all(many(60), **given)["y"]
    np.testing.assert_array_equal(found, [sum(range(j, 60, 20)) * np.arange(70).sum() for j in range(20)])


def calls_of_the_pass(n):
    """Returns the number of Python functions that privatise_atomics calls for n atomics."""
    program, _ = lower(many(n), specialise(many(n), {"y": np.zeros(20, "i4"), "z": np.arange(7)}))
    tasks = offload(program.kernel)
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        privatise_atomics(tasks)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.filterwarnings("ignore:.*the conversion can lose:cuda_graphs.CompileWarning")
def test_the_work_of_the_pass_grows_as_the_loop_does():
    assert calls_of_the_pass(400) < 2.2 * calls_of_the_pass(200)


EXTREME = function_of("""
def extreme(x: ndarray(f32, 1), y: ndarray(f32, 1), most: ndarray(f32, 1)):
    for i in y:
        y[i] = x[i] * 2.0
        cg.atomic_max(most[0], x[i])
""")


@pytest.mark.parametrize(
    ("fuse", "left", "pairs"), [("call", 0, {"x", "y"}), ("any", 1, set()), (None, 1, set())]
)
def test_store_to_another_array_is_a_condition_on_calls_that_compare_their_arrays(fuse, left, pairs):
    given = {"x": FLOATS, "y": FLOATS.copy(), "most": np.zeros(1, "f4")}
    program, _ = lower(EXTREME, specialise(EXTREME, given), fuse=fuse, verify_ir=True)
    (task,) = (task for task in program.tasks if task.loop)
    assert sum(isinstance(s, ir.Atomic) for s in ir.walk(task.loop.body)) == left
    assert {one.path for one, _ in program.apart} == ({"most"} if pairs else set())
    assert {other.path for _, other in program.apart} == pairs


TWO = function_of("""
def two(x: ndarray(f32, 1), y: ndarray(f32, 1), z: ndarray(f32, 1)):
    for i in x:
        y[i] += x[i]
        z[i] -= x[i] * y[i]
""")


@pytest.mark.parametrize(
    ("fuse", "left", "pairs"), [("call", 0, {"y", "z"}), ("any", 2, set()), (None, 2, set())]
)
def test_two_arrays_that_a_loop_adds_to_are_apart_in_calls_that_compare_their_arrays(fuse, left, pairs):
    given = {name: FLOATS.copy() for name in "xyz"}
    program, _ = lower(TWO, specialise(TWO, given), fuse=fuse, verify_ir=True)
    (task,) = (task for task in program.tasks if task.loop)
    assert sum(isinstance(s, ir.Atomic) for s in ir.walk(task.loop.body)) == left
    assert {array.path for pair in program.apart for array in pair} == pairs
