# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a part of a loop on the CPU, and a block of the GPU, collects its additions to elements of a small array in
bins if no program can observe the difference. The result is that of the atomics."""

import numpy as np
import pytest

from cuda_graphs.compiler import compile_kernel, specialise
from cuda_graphs.compiler.codegen.x86.x86_target import X86
from cuda_graphs.compiler.ir import types as t
from cuda_graphs.compiler.language.annotations import ArraySpec
from cuda_graphs.compiler.pipeline import generate, lower
from tests.compiler.rig import SEED, Services, cg, function_of, on_x86, pairs_of, run_all

RNG = np.random.default_rng(5)
BYTES = RNG.integers(0, 12, 1000).astype("u1")


def arrays_with_bins(function, **arguments):
    """Paths of the arrays that may have bins in some task."""
    program, _ = lower(function, specialise(function, arguments), verify_ir=True)
    return {atomic.array.path for task in program.tasks for atomic in task.bins}


KINDS = ["add", "sub", "mul", "min", "max", "and", "or", "xor"]
TYPES = ["i8", "i16", "i32", "i64", "u16", "u32", "u64"]


@pytest.mark.parametrize(("kind", "type"), pairs_of(KINDS, TYPES))
def test_every_kind_and_type_gives_what_the_atomics_give(kind, type):
    k = function_of(f"""
def k(at: ndarray(u8, 1), x: ndarray({type}, 1), bins: ndarray({type}, 1)):
    for i in x:
        cg.atomic_{kind}(bins[at[i]], x[i])
""")
    dtype = np.dtype(t.SCALARS[type].dtype)
    x = RNG.integers(1, 100, 1000).astype(dtype)
    given = {"at": BYTES, "x": x, "bins": RNG.integers(1, 50, 12).astype(dtype)}
    assert arrays_with_bins(k, **given) == {"bins"}
    run_all(k, **given)


def histogram(x: cg.ndarray(cg.u8, 1), bins: cg.ndarray(cg.i32, 1)):
    for i in x:
        bins[x[i]] += 1


@pytest.mark.parametrize("n", [0, 1, 3, 40, 1000])
@pytest.mark.parametrize("size", [12, 256, 4096, 4097, 20000])
def test_any_number_of_bins_and_of_iterations(n, size):
    """More bins than are worth it, and more than there is room for, too."""
    found = run_all(histogram, x=BYTES[:n], bins=np.zeros(size, "i4"))["bins"]
    np.testing.assert_array_equal(found, np.bincount(BYTES[:n], minlength=size))


def test_bins_of_two_axes_of_two_arrays_and_under_conditions():
    k = function_of("""
def k(x: ndarray(u8, 1), a: ndarray(i32, 2), b: ndarray(f32, 1)):
    for i in x:
        a[x[i] & 1, x[i] >> 1] += 1
        if x[i] > 3:
            b[x[i]] += 0.5
            b[0] += 1.0
""")
    given = {"x": BYTES, "a": np.zeros((2, 6), "i4"), "b": np.zeros(12, "f4")}
    assert arrays_with_bins(k, **given) == {"a", "b"}
    run_all(k, **given)  # halves, so that any order of the sums has the same bits


def test_bins_of_loops_over_several_axes_and_with_loops_inside():
    k = function_of("""
def k(x: ndarray(u8, 2), bins: ndarray(i64, 1)):
    for i, j in x:
        for k in range(x[i, j]):
            bins[k] += i - j
""")
    given = {"x": BYTES.reshape(20, 50), "bins": np.zeros(12, "i8")}
    assert arrays_with_bins(k, **given) == {"bins"}
    run_all(k, **given)


def test_the_sign_of_zeros_stays():
    k = function_of("""
def k(x: ndarray(u8, 1), bins: ndarray(f32, 1)):
    for i in x:
        if x[i] < 4:
            bins[x[i]] += -0.0
""")
    found = run_all(k, x=BYTES, bins=np.full(12, -0.0, "f4"))["bins"]
    assert np.signbit(found).all()


@pytest.fixture
def asked(monkeypatch):
    """Requests of pieces of loops for memory of their thread: (arguments, the array `bins` at that time)."""
    found, collect = [], Services.collect

    def noted(self, *given):
        found.append((given, found_bins.copy()))
        return collect(self, *given)

    found_bins = np.zeros(12, "i4")
    monkeypatch.setattr(Services, "collect", noted)

    def run(bins):
        nonlocal found_bins
        found_bins = bins
        given = {"x": BYTES, "bins": bins}
        program, _ = lower(histogram, specialise(histogram, given), verify_ir=True)
        on_x86(program, given, given | {"random.seed": SEED})
        return found

    return run


def test_a_thread_adds_its_bins_to_the_array_in_its_last_call(asked):
    """Not in the calls before it, for pieces of the loop. (The rig runs three pieces, in one thread.)"""
    bins = np.zeros(12, "i4")
    seen = [before for _, before in asked(bins)]
    np.testing.assert_array_equal(seen, np.zeros((4, 12)))
    np.testing.assert_array_equal(bins, np.bincount(BYTES, minlength=12))


@pytest.mark.parametrize(
    ("elements", "threads"),
    [(100, 5), (500, 1), (501, 0), (1 << 22, 0)],
    ids=["five threads", "one", "too few atomics", "too large"],
)
def test_bins_pay_from_two_atomics_for_each_element_and_thread_on(asked, elements, threads):
    ((size, most_threads),) = {given[:2] for given, _ in asked(np.zeros(elements, "i4"))}
    assert size == -(-4 * elements // 64) * 64
    assert most_threads == threads


def test_both_versions_are_in_the_code():
    text = compile_kernel(
        histogram, specialise(histogram, {"x": BYTES, "bins": np.zeros(3, "i4")}), X86()
    ).llvm
    assert "atomicrmw add ptr" in text
    assert "call noalias ptr @cgh_collect(" in text


@pytest.mark.parametrize("kind", ["min", "max"])
def test_bins_of_the_least_and_greatest_floats_pass_by_nan(kind):
    k = function_of(f"""
def k(at: ndarray(u8, 1), x: ndarray(f32, 1), bins: ndarray(f32, 1)):
    for i in x:
        cg.atomic_{kind}(bins[at[i]], x[i])
""")
    x = RNG.normal(size=1000).astype("f4")
    x[::7], x[BYTES == 5] = np.nan, np.nan
    given = {"at": BYTES, "x": x, "bins": np.full(12, np.nan, "f4")}
    assert arrays_with_bins(k, **given) == {"bins"}
    found = run_all(k, **given)["bins"]
    wanted = [getattr(np, f"f{kind}").reduce(x[b == BYTES]) for b in range(12)]
    np.testing.assert_array_equal(found, wanted)


STAY = {
    "who looks at the old value": "z[i] = cg.atomic_add(y[x[i]], 1)",
    "a load of the array": "y[x[i]] += y[1]",
    "a load afterwards of what may be the same": "y[x[i]] += 1\n        z[i] = w[1]",
    "a load before, in a loop, of what may be the same": "for k in range(2):\n            y[x[i]] += w[k]",
    "a store to what may be the same": "y[x[i]] += 1\n        w[i] = 1",
    "two kinds": "y[x[i]] += 1\n        y[x[i]] |= 3",
    "exchange": "cg.atomic_exchange(y[x[i]], 3)",
    "cas": "cg.atomic_cas(y[x[i]], 1, 3)",
    "more than two arrays": "y[x[i]] += 1\n        f[x[i]] += 1.0\n        d[x[i]] += 1.0",
}


@pytest.mark.parametrize("what", STAY)
def test_updates_that_cannot_be_collected_have_no_bins(what):
    k = function_of(f"""
def k(x: ndarray(u8, 1), y: ndarray(i32, 1), z: ndarray(i64, 1), w: ndarray(i32, 1), f: ndarray(f32, 1),
      d: ndarray(f64, 1)):
    for i in z:
        {STAY[what]}
""")
    given = {"x": BYTES, "y": np.zeros(12, "i4"), "z": np.zeros(9, "i8"), "w": np.zeros(9, "i4")}
    given |= {"f": np.zeros(12, "f4"), "d": np.zeros(12)}
    assert arrays_with_bins(k, **given) == set()


def test_a_loop_that_an_assert_may_end_has_no_bins():
    def k(x: cg.ndarray(cg.u8, 1), bins: cg.ndarray(cg.i32, 1)):
        for i in x:
            bins[x[i]] += 1

    program, _ = lower(k, specialise(k, {"x": BYTES, "bins": np.zeros(12, "i4")}), debug=True, verify_ir=True)
    assert [task.bins for task in program.tasks] == [()]


def test_bins_of_vectors_need_no_extents_but_those_of_the_array():
    k = function_of("""
def k(at: ndarray(u8, 1), x: ndarray(f32, 1)):
    for i in at:
        x[at[i]] += 1.0
""")
    specs = {"at": ArraySpec(t.u8, 1), "x": ArraySpec(t.f32, 1, (3,))}
    program, free_values = lower(k, specs, verify_ir=True)
    assert {atomic.array.path for task in program.tasks for atomic in task.bins} == {"x"}
    slots = [slot for task in generate(program, X86(), free_values).tasks for slot in task.slots]
    assert {(s.path, s.axis) for s in slots if s.kind == "extent"} == {("at", 0), ("x", 0)}
