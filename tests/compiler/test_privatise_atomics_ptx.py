# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: whatever the grid, a block of the GPU adds to an element once what its threads have gathered, and has bins in
its shared memory; the result is that of the atomics."""

import re

import numpy as np
import pytest

from cuda_graphs.compiler import compile_kernel, specialise
from cuda_graphs.compiler.ir import types as t
from cuda_graphs.compiler.pipeline import lower
from cuda_graphs.core.driver.choice import driver_info
from tests.compiler.rig import cg, function_of, on_gpu, on_ptx, pairs_of, ptx_target, run_all

# One thread; no whole warp; some warps; as many threads as there may be.
SHAPES = [(1, 1), (2, 20), (3, 64), (2, 96), (1, 1024)]
SOME = [(2, 20), (2, 96)]
SIZES = [0, 1, 37, 1024, 4099]
RNG = np.random.default_rng(11)
INTS, FLOATS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"], ["f32", "f64"]
NUMBERS, BITS = ["add", "mul", "min", "max"], ["sub", "and", "or", "xor"]
KINDS = pairs_of(INTS, NUMBERS + BITS) + pairs_of(FLOATS, NUMBERS)


def in_shape(machine, program, given, shape):
    """The arrays after a run of PTX whose parallel tasks have this shape."""
    arrays = {path: value.copy() for path, value in given.items() if isinstance(value, np.ndarray)}
    machine(program, arrays, given, shape)
    return arrays


def same_in_all_shapes(k, given, shapes=SHAPES):
    """Checks that x86 and PTX, in every shape, give the interpreter's result."""
    wanted = run_all(k, **given)
    program, _ = lower(k, specialise(k, given))
    for shape in shapes:
        for machine in (on_ptx, *([on_gpu] if driver_info().kind == "cuda" else [])):
            found = in_shape(machine, program, given, shape)
            for path, array in wanted.items():
                np.testing.assert_array_equal(found[path], array, err_msg=f"{path}, {shape}")
    return wanted


def whole_numbers(n, dtype):
    """Returns numbers whose sums and products have the same bits in every order."""
    if dtype.kind == "f":
        return RNG.choice([1.0, 1.0, 1.0, -1.0, 2.0, 0.5], n).astype(dtype)
    return RNG.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, n, dtype, endpoint=True)


@pytest.mark.parametrize(("type", "kind"), KINDS)
def test_every_kind_and_type_gives_what_the_atomics_give(type, kind):
    k = function_of(f"""
def k(x: ndarray({type}, 1), out: ndarray({type}, 1), scalar: ndarray({type}, 0)):
    for i in x:
        cg.atomic_{kind}(out[1], x[i])
        cg.atomic_{kind}(scalar[()], x[i])
""")
    dtype = np.dtype(t.SCALARS[type].dtype)
    x = whole_numbers(200 if kind == "mul" else 1500, dtype)
    given = {"x": x, "out": np.array([5, 1, 6], dtype), "scalar": np.array(1, dtype)}
    same_in_all_shapes(k, given, SOME)


def sums(x: cg.ndarray(cg.i32, 1), out: cg.ndarray(cg.i64, 1), least: cg.ndarray(cg.i32, 0)):
    for i in x:
        out[0] += x[i]
        if x[i] > 50:
            out[1] += 1
        cg.atomic_min(least[()], x[i])


@pytest.mark.parametrize("n", SIZES)
def test_several_sums_of_any_number_of_iterations(n):
    x = RNG.integers(-100, 100, n).astype("i4")
    given = {"x": x, "out": np.zeros(2, "i8"), "least": np.array(1000, "i4")}
    found = same_in_all_shapes(sums, given)
    np.testing.assert_array_equal(found["out"], [x.sum(), (x > 50).sum()])
    assert found["least"] == min([1000, *x])


@pytest.mark.parametrize("far", [1, 7, 1000, 2**30])
def test_sums_over_every_so_manieth(far):
    k = function_of(f"""
def k(x: ndarray(i32, 1), out: ndarray(i32, 0)):
    for i in range(3, x.shape[0], {far}):
        out[()] += x[i]
""")
    x = np.arange(4099, dtype="i4")
    assert same_in_all_shapes(k, {"x": x, "out": np.array(0, "i4")})["out"] == x[3::far].sum()


def norms(u: cg.ndarray(cg.f32, 2), out: cg.ndarray(cg.f32, 1), at: cg.i32):
    for i, j in u:
        out[at] += u[i, j] * u[i, j]


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (1, 1), (7, 13), (64, 33)])
def test_sums_over_several_axes_into_an_element_that_is_an_argument(shape):
    u = RNG.integers(-4, 5, shape).astype("f4")
    found = same_in_all_shapes(norms, {"u": u, "out": np.zeros(3, "f4"), "at": 2})
    np.testing.assert_array_equal(found["out"], [0, 0, np.square(u).sum()])


def guarded(x: cg.ndarray(cg.i32, 1), out: cg.ndarray(cg.i32, 1), at: cg.i32):
    for i in x:
        if x[i] > 1000:
            out[at] += 1


def test_an_element_that_no_iteration_changes_is_not_touched():
    """The index is far outside of the array, so no element exists."""
    same_in_all_shapes(guarded, {"x": np.arange(100, dtype="i4"), "out": np.zeros(1, "i4"), "at": 1 << 30})


def near(found, wanted, n):
    """Sums of n floats in any order differ by no more than n roundings of the sum of their sizes (Higham, 4.2)."""
    return abs(found - wanted) <= n * np.finfo("f4").eps * wanted


@pytest.mark.parametrize("n", [1, 1000, 50021])
def test_sums_of_floats_are_as_near_as_any_order_is(n):
    k = function_of("def k(x: ndarray(f32, 1), s: ndarray(f32, 1)):\n    for i in x:\n        s[0] += x[i]\n")
    x = RNG.random(n, "f4")
    given = {"x": x, "s": np.zeros(1, "f4")}
    program, _ = lower(k, specialise(k, given))
    for shape in SHAPES:
        found = in_shape(on_ptx, program, given, shape)
        assert near(found["s"][0], x.sum(dtype="f8"), n)


def histogram(x: cg.ndarray(cg.u8, 1), bins: cg.ndarray(cg.i32, 1)):
    for i in x:
        bins[x[i]] += 1


@pytest.mark.parametrize(("size", "n"), pairs_of([12, 256, 5000], SIZES))
def test_bins_of_any_number_and_of_any_number_of_iterations(n, size):
    x = RNG.integers(0, 12, n).astype("u1")
    found = same_in_all_shapes(histogram, {"x": x, "bins": np.arange(size, dtype="i4")})["bins"]
    np.testing.assert_array_equal(found, np.arange(size) + np.bincount(x, minlength=size))


@pytest.mark.parametrize(("type", "kind"), KINDS)
def test_bins_of_every_kind_and_type_give_what_the_atomics_give(type, kind):
    k = function_of(f"""
def k(at: ndarray(u8, 1), x: ndarray({type}, 1), bins: ndarray({type}, 1)):
    for i in x:
        cg.atomic_{kind}(bins[at[i]], x[i])
""")
    dtype = np.dtype(t.SCALARS[type].dtype)
    given = {
        "at": RNG.integers(0, 5, 700).astype("u1"),
        "x": whole_numbers(700, dtype),
        "bins": np.ones(5, dtype),
    }
    same_in_all_shapes(k, given, SOME)


@pytest.mark.parametrize("each", [3, 5, 9, 17, 33, 65, 130])
@pytest.mark.parametrize("size", [1, 3, 100, 257])
def test_lanes_have_any_number_of_copies_of_the_bins(size, each):
    """A bin has 1 to 32 copies, by the number of iterations for each bin, and by the memory."""
    k = function_of("""
def k(x: ndarray(u16, 1), y: ndarray(f64, 1), bins: ndarray(i32, 1), sums: ndarray(f64, 1)):
    for i in x:
        bins[x[i]] += 1
        sums[x[i]] += y[i]
""")
    x = RNG.integers(0, size, each * size).astype("u2")
    y = RNG.integers(-9, 9, each * size).astype("f8")
    given = {"x": x, "y": y, "bins": np.zeros(size, "i4"), "sums": np.zeros(size)}
    found = same_in_all_shapes(k, given, [(1, 20), (1, 96), (2, 32)])
    np.testing.assert_array_equal(found["bins"], np.bincount(x, minlength=size))
    np.testing.assert_array_equal(found["sums"], np.bincount(x, y, minlength=size))


def both(x: cg.ndarray(cg.u8, 1), bins: cg.ndarray(cg.i32, 1), total: cg.ndarray(cg.i64, 0)):
    for i in x:
        bins[x[i]] += 1
        total[()] += x[i]


def test_bins_and_sums_of_one_loop():
    x = RNG.integers(0, 9, 3001).astype("u1")
    found = same_in_all_shapes(both, {"x": x, "bins": np.zeros(9, "i4"), "total": np.array(0, "i8")})
    assert found["total"] == x.sum()


def test_an_old_value_that_is_used_stays_that_of_an_atomic():
    k = function_of("""
def k(x: ndarray(i32, 1), y: ndarray(i32, 1), seen: ndarray(i32, 1)):
    for i in x:
        old = cg.atomic_add(y[0], 1)
        cg.atomic_add(seen[old], 1)
""")
    given = {"x": np.zeros(500, "i4"), "y": np.zeros(1, "i4"), "seen": np.zeros(500, "i4")}
    found = same_in_all_shapes(k, given)
    assert (found["seen"] == 1).all()


def code(k, **given):
    return compile_kernel(k, specialise(k, given), ptx_target(), verify_ir=True)


def test_ptx_has_one_atomic_of_a_sum_shuffles_and_wide_loads():
    k = function_of("def k(x: ndarray(f32, 1), s: ndarray(f32, 1)):\n    for i in x:\n        s[0] += x[i]\n")
    artifact = code(k, x=np.zeros(4, "f4"), s=np.zeros(1, "f4"))
    text = artifact.code.decode()
    assert len(re.findall(r"\b(atom|red)\.", text)) == 1
    assert "shfl.sync.bfly" in text
    assert "ld.global.v4" in text
    assert artifact.tasks[0].has_sums


def test_ptx_has_bins_in_shared_memory_and_atomics_of_memory():
    artifact = code(histogram, x=np.zeros(4, "u1"), bins=np.zeros(4, "i4"))
    text = artifact.code.decode()
    assert re.search(r"\b(atom|red)\.[a-z.]*shared", text)
    assert re.search(r"\b(atom|red)\.[a-z.]*global", text)
    assert re.search(r"ld\.global\.v\d", text)
    assert artifact.tasks[0].has_sums


def test_a_loop_that_gathers_nothing_says_so():
    k = function_of("def k(x: ndarray(f32, 1)):\n    for i in x:\n        x[i] += 1.0\n")
    assert not code(k, x=np.zeros(4, "f4")).tasks[0].has_sums
