# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the targets generate vector loops on the CPU, no contraction without a request, and slots as documented."""

import itertools
import re

import numpy as np
import pytest

from cuda_graphs.compiler import compile_kernel
from cuda_graphs.compiler.codegen.ptx.ptx_target import Ptx
from cuda_graphs.compiler.codegen.x86.x86_target import X86
from cuda_graphs.compiler.ir import types as t
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.pipeline import lower
from cuda_graphs.native.units import assembly
from tests.compiler.rig import cg, on_ptx, on_x86, ptx_target, run_all


def saxpy(a: cg.f32, x: cg.ndarray(cg.f32, 1), y: cg.ndarray(cg.f32, 1)):
    for i in range(x.shape[0]):
        y[i] += a * x[i]


def stencil(u: cg.ndarray(cg.f64, 2), v: cg.ndarray(cg.f64, 2)):
    for i, j in cg.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
        v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


def scale(x: cg.ndarray(cg.i32, 1), k: cg.i32):
    for i in x:
        x[i] = x[i] * k + i


x, u, n = np.zeros(8, "f"), np.zeros((8, 8)), np.zeros(8, "i4")
KERNELS = {
    "saxpy": (saxpy, {"a": 1.0, "x": x, "y": x}, r"vmulps|mulps"),
    "stencil": (stencil, {"u": u, "v": u}, r"vaddpd|addpd"),
    "scale": (scale, {"x": n, "k": 3}, r"pmulld"),
}


def compiled(name, target):
    function, arguments, _ = KERNELS[name]
    return compile_kernel(function, specialise(function, arguments), target, verify_ir=True)


@pytest.mark.parametrize("name", KERNELS)
def test_loops_of_the_cpu_are_vector_loops(name):
    text = assembly(compiled(name, X86()).llvm)
    assert re.search(KERNELS[name][2], text)


def test_products_and_sums_are_fused_only_on_request():
    assert "fmadd" not in assembly(compiled("saxpy", X86()).llvm)
    assert "fmadd" in assembly(compiled("saxpy", X86(fast_math=True)).llvm)
    plain, fast = (compiled("saxpy", Ptx(fast_math=fast)).code.decode() for fast in (False, True))
    assert "mul.rn.f32" in plain
    assert "add.rn.f32" in plain
    assert "fma.rn.f32" not in plain
    assert "fma.rn.f32" in fast


@pytest.mark.parametrize("version", [80, 83, 85])
def test_ptx_has_the_version_that_is_asked_for(version):
    text = compiled("saxpy", Ptx(version=version, arch="sm_90")).code.decode()
    assert f".version {version // 10}.{version % 10}" in text
    assert ".target sm_90" in text


def wave(x: cg.ndarray(cg.f32, 1)):
    for i in x:
        x[i] = cg.sin(x[i])


def test_libdevice_is_linked_on_need_and_only_what_is_used():
    with_sine = compile_kernel(wave, specialise(wave, {"x": x}), ptx_target()).code.decode()
    assert ".func" not in with_sine
    assert "__nv_" not in with_sine
    assert compiled("saxpy", Ptx(libdevice=None)).code


def slots(a: cg.f64, flag: cg.bool_, m: cg.ndarray(cg.f32, 2), unused: cg.f32, small: cg.u8, n: cg.i64):
    for i in range(n):
        m[i, 1] = a if flag else small


@pytest.mark.filterwarnings("ignore:.*the conversion can lose:cuda_graphs.CompileWarning")
def test_an_entry_takes_what_its_task_uses_in_the_described_places():
    arguments = {"a": 1.0, "flag": True, "m": np.zeros((3, 3), "f"), "unused": 1.0, "small": 3, "n": 3}
    artifact = compile_kernel(slots, specialise(slots, arguments), X86())
    (task,) = artifact.tasks
    found = {(s.kind, s.path, s.axis): (s.offset, s.size) for s in task.slots}
    sizes = {"a": 8, "flag": 1, "small": 1, "n": 8}
    assert set(found) == {("pointer", "m", 0), ("extent", "m", 1), *(("scalar", name, 0) for name in sizes)}
    assert found["pointer", "m", 0] == (0, 8)
    taken = sorted(found.values())
    assert all(offset % size == 0 for offset, size in taken)
    assert all(a + size <= b for (a, size), (b, _) in itertools.pairwise(taken))
    assert (task.reads, task.writes) == (frozenset(), frozenset({"m"}))
    assert task.parallel
    assert task.iterations is None
    assert task.line == slots.__code__.co_firstlineno + 1


def two_results(a: cg.f64) -> tuple[cg.f64, cg.i32]:
    return a, 3


def test_results_are_temporaries():
    artifact = compile_kernel(two_results, specialise(two_results, {"a": 1.0}), X86())
    assert [(r.temp, r.type) for r in artifact.results] == [("return.0", t.f64), ("return.1", t.i32)]
    assert artifact.temps == (("return.0", 8), ("return.1", 4))
    assert [task.iterations for task in artifact.tasks] == [1]


def test_compiling_twice_gives_the_same_code():
    for target in (X86(), ptx_target()):
        assert compiled("stencil", target).code == compiled("stencil", target).code


def mixed(x: cg.ndarray(cg.f64, 1), y: cg.ndarray(cg.u8, 1), z: cg.ndarray(cg.f32, 1)):
    for i in range(x.shape[0]):
        y[i] = y[i] * 2 + cg.cast(x[i] + z[0], cg.u8)


def gathered(x: cg.ndarray(cg.f32, 1), at: cg.ndarray(cg.i32, 1), y: cg.ndarray(cg.f32, 1)):
    for i in range(at.shape[0]):
        y[i] = x[at[i]] + 1.0


def bytewise(x: cg.ndarray(cg.u8, 1)):
    for i in x:
        x[i] = x[i] + 3


f, d, b, k = np.zeros(8, "f"), np.zeros(8), np.zeros(8, "u1"), np.zeros(8, "i4")
WIDE = {
    "saxpy": (saxpy, {"a": 1.0, "x": f, "y": f}, {"ld.global.v4.b32": 2, "st.global.v4.b32": 1}),
    "mixed": (
        mixed,
        {"x": d, "y": b, "z": f},
        {"ld.global.v2.b64": 1, "ld.global.v2.b8": 1, "st.global.v2.b8": 1},
    ),
    "gathered": (gathered, {"x": f, "at": k, "y": f}, {"ld.global.v4.b32": 1, "st.global.v4.b32": 1}),
    "bytewise": (bytewise, {"x": b}, {"ld.global.v4.b32": 1, "st.global.v4.b32": 1}),
}


@pytest.mark.parametrize("name", WIDE)
def test_accesses_of_a_gpu_are_16_bytes_wide(name):
    function, arguments, wanted = WIDE[name]
    text = compile_kernel(function, specialise(function, arguments), Ptx(), verify_ir=True).code.decode()
    assert {access: text.count(access) for access in wanted} == wanted


def shifts(x: cg.ndarray(cg.f32, 1)):
    for i in range(x.shape[0] - 1):
        x[i + 1] = x[i]


def branches(x: cg.ndarray(cg.f32, 1)):
    for i in x:
        if x[i] > 0.0:
            x[i] = 0.0


def later(x: cg.ndarray(cg.f32, 1)):
    for i in range(1, x.shape[0]):
        x[i] = x[i] + 1.0


@pytest.mark.parametrize("function", [shifts, branches, later], ids=lambda f: f.__name__)
def test_loops_whose_groups_could_disturb_each_other_stay_narrow(function):
    given = {"x": f}
    text = compile_kernel(function, specialise(function, given), Ptx()).code.decode()
    assert ".v4" not in text
    assert ".v2" not in text


@pytest.mark.parametrize("name", WIDE)
@pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 15, 16, 17, 63, 64, 65, 255, 1000])
def test_groups_of_iterations_cover_every_size(name, size):
    function, arguments, _ = WIDE[name]
    values = np.random.default_rng(size)
    given = {
        path: (values.random(max(size, 1) if path == "z" else size) * 9).astype(value.dtype)
        if isinstance(value, np.ndarray)
        else value
        for path, value in arguments.items()
    }
    if name == "gathered":
        given["x"], given["at"] = values.random(10).astype("f"), values.integers(0, 10, size).astype("i4")
    run_all(function, **given)


@pytest.mark.parametrize("skip", [1, 2, 3, 4])
@pytest.mark.parametrize("which", ["x", "y", "both"])
def test_arrays_may_begin_anywhere(skip, which):
    """The whole array is aligned, what is passed begins `skip` elements after it."""
    memory = {name: aligned(100) for name in "xy"}
    given = {name: at[skip:] if which in (name, "both") else at[: 100 - skip] for name, at in memory.items()}
    program, _ = lower(saxpy, specialise(saxpy, {"a": 1.5, **given}))
    wanted = given["y"] + np.float32(1.5) * given["x"]
    for run in (on_x86, on_ptx):
        fresh = {name: at[skip:] if which in (name, "both") else at[: 100 - skip] for name, at in
                 {name: aligned(100) for name in "xy"}.items()}  # fmt: skip
        run(program, fresh, {"a": 1.5})
        np.testing.assert_array_equal(fresh["y"], wanted)


def aligned(count):
    """0, 1, 2, ... as f32 that begin at a multiple of 16 bytes."""
    raw = np.zeros(4 * count + 16, np.uint8)
    start = -raw.ctypes.data % 16
    found = raw[start : start + 4 * count].view("f4")
    found[:] = np.arange(count)
    return found


def reads_lengths(x: cg.ndarray(cg.f32, 1), n: cg.ndarray(cg.i32, 1)):
    for i in range(n[0]):
        x[i] = x[i] + cg.f32(x.shape[0])


def test_bounds_are_read_before_the_loop_and_not_in_it():
    """A body of the loop has the loads of its own elements, and no other."""
    artifact = compile_kernel(
        reads_lengths, specialise(reads_lengths, {"x": f, "n": k}), Ptx(), verify_ir=True
    )
    assert [task.parallel for task in artifact.tasks] == [True]
    text = artifact.code.decode()
    loop = text[text.rindex("st.global") - 400 : text.rindex("st.global")]
    assert loop.count("ld.global") == 1
