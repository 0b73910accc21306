# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The C interface of loaded code, its lifetime, and loading from many threads at once."""

import ctypes
import gc
import threading

import numpy as np
import pytest

from cuda_graphs.hostdriver.ptx import code_generation, loader
from cuda_graphs.hostdriver.ptx.module_lowering import ModuleLowering
from cuda_graphs.hostdriver.ptx.units import parse
from cuda_graphs.native import llvm
from cuda_graphs.native.loaded_code import LoadedCode
from tests.ptx.rig import HEADER, Services, compile_cuda, load

DESCRIBED = (
    HEADER
    + """
.global .align 4 .u32 counter = 7;
.global .align 8 .u64 places[3] = {generic(counter), counter+4, 9};
.const .align 8 .b8 table[24];
.visible .entry kernel(.param .u8 a, .param .f64 b, .param .align 16 .b8 c[20], .param .u16 d) .reqntid 32, 4
{
  .reg .b64 %rd<4>; .reg .b32 %r;
  .local .align 8 .b8 mine[40];
  .shared .align 8 .b8 own[100];
  .shared .u32 more;
  mov.u32 %r, own; mov.u32 %r, more;
  ret;
}
"""
)


def test_kernels_are_described_as_declared():
    program = load(DESCRIBED)
    kernel = program.kernels["kernel"]
    layout = [(kernel.params[i].offset, kernel.params[i].size) for i in range(kernel.param_count)]
    assert layout == [(0, 1), (8, 8), (16, 20), (36, 2)]
    assert kernel.param_bytes == 38
    assert kernel.static_shared_bytes == 104
    assert kernel.local_bytes == 40
    assert kernel.const_bytes == 24
    assert kernel.max_threads_per_block == 128
    assert list(kernel.required_block) == [32, 4, 1]
    assert not kernel.uses_barrier
    assert kernel.registers > 0
    assert (kernel.ptx_version, kernel.binary_version) == (90, 90)


def test_variables_have_addresses_and_initial_values():
    import ctypes

    program = load(DESCRIBED)
    address, size = program.variable("counter")
    assert size == 4
    assert ctypes.c_uint32.from_address(address).value == 7
    places, size = program.variable("places")
    assert size == 24
    assert list((ctypes.c_uint64 * 3).from_address(places)) == [address, address + 4, 9]
    assert program.variable("table")[1] == 24


def test_a_dropped_image_is_unloaded(monkeypatch):
    closed = []
    real = LoadedCode.close
    monkeypatch.setattr(LoadedCode, "close", lambda self: closed.append(1) or real(self))
    program = load(DESCRIBED)
    del program
    gc.collect()
    assert closed


def test_two_images_of_one_text_have_their_own_variables():
    import ctypes

    one, two = load(DESCRIBED), load(DESCRIBED)
    ctypes.c_uint32.from_address(one.variable("counter")[0]).value = 1
    assert ctypes.c_uint32.from_address(two.variable("counter")[0]).value == 7


def test_names_of_c_functions_are_ordinary_names():
    text = (
        HEADER
        + """
.global .u32 malloc = 3;
.func (.param .b32 r) memcpy(.param .b32 a) { .reg .b32 %r; ld.param.b32 %r, [a];
  add.u32 %r, %r, 1; st.param.b32 [r], %r; ret; }
.visible .entry main(.param .u64 p) {
  .reg .b64 %rd; .reg .b32 %r; .param .b32 x; .param .b32 y;
  ld.global.u32 %r, [malloc]; st.param.b32 [x], %r; call (y), memcpy, (x); ld.param.b32 %r, [y];
  ld.param.u64 %rd, [p]; st.global.u32 [%rd], %r; ret;
}
"""
    )
    out = np.zeros(1, np.uint32)
    load(text).launch("main", 1, 1, out)
    assert out[0] == 4


def test_many_threads_load_and_run_at_once():
    text = (
        HEADER
        + """
.visible .entry add(.param .u64 p, .param .u32 n) {{
  .reg .b64 %rd; .reg .b32 %r<3>;
  ld.param.u64 %rd, [p]; ld.param.u32 %r1, [n]; add.u32 %r1, %r1, {number}; st.global.u32 [%rd], %r1; ret;
}}
"""
    )
    failures = []

    def work(worker: int) -> None:
        for turn in range(4):
            number = 10 * worker + turn
            out = np.zeros(1, np.uint32)
            load(text.format(number=number)).launch("add", 1, 1, out, np.uint32(1000))
            if out[0] != 1000 + number:
                failures.append((worker, turn, out[0]))

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures


def test_entry_runs_in_many_threads_over_disjoint_blocks():
    source = r"""
    extern "C" __global__ void fill(unsigned* out) {
        __shared__ unsigned s[64];
        s[threadIdx.x] = blockIdx.x;
        __syncthreads();
        out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x] * 1000 + threadIdx.x;
    }"""
    program = load(compile_cuda(source))
    out = np.zeros(64 * 96, np.uint32)
    threads = [
        threading.Thread(
            target=program.launch, args=("fill", 96, 64, out), kwargs={"first": i * 12, "end": i * 12 + 12}
        )
        for i in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    index = np.arange(out.size)
    np.testing.assert_array_equal(out, index // 64 * 1000 + index % 64)


@pytest.mark.parametrize("level", ["1", "4", "5"])
def test_debug_levels_show_their_stage(level, monkeypatch, capsys):
    monkeypatch.setenv("CUDA_GRAPHS_DEBUG", level)
    load(DESCRIBED)
    shown = capsys.readouterr().err
    assert "[cuda_graphs] image load:" in shown
    assert ("after optimisation" in shown) == (int(level) >= 4)
    assert (".globl" in shown) == (int(level) >= 5)


def saxpy_assembly(source: str) -> str:
    return code_generation.assembly(ModuleLowering(parse(compile_cuda(source))).lower().ir)


@pytest.mark.skipif("x86_64" not in llvm.requirements()["triple"], reason="reads x86 assembly")
@pytest.mark.parametrize(
    "source",
    [
        'extern "C" __global__ void k(int n, float a, const float* __restrict__ x, float* y) {'
        " int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; y[i] = a * x[i] + y[i]; }",
        'extern "C" __global__ void k(int n, const float* x, float* y) {'
        " int i = blockIdx.x * blockDim.x + threadIdx.x;"
        " if (i > 0 && i < n - 1) y[i] = x[i - 1] - 2 * x[i] + x[i + 1]; }",
        'extern "C" __global__ void k(unsigned n, const float* x, float* y) {'
        " unsigned i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = sqrtf(x[i]); }",
    ],
    ids=["saxpy", "stencil", "sqrt"],
)
def test_simple_kernels_are_vectorised(source):
    text = saxpy_assembly(source)
    packed = [
        line.split()[0]
        for line in text.splitlines()
        if line.startswith("\tv") and ("ps\t" in line or "pd\t" in line)
    ]
    assert any(name.startswith(("vfmadd", "vadd", "vsqrt")) for name in packed), text


def test_services_are_where_the_struct_says():
    services = Services()
    assert ctypes.sizeof(services.table.functions) == ctypes.sizeof(loader.SERVICES(services.address))
    assert len(services.callbacks) == len(services.table.functions)


@pytest.mark.parametrize("distance", [0, 1, 2])
def test_a_thread_sees_its_own_stores_in_order_however_its_pointers_alias(distance):
    """Strided accesses that a vectoriser likes to move; a and b are the same memory, shifted."""
    source = r"""extern "C" __global__ void k(const int* b, int* a, int* out) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        int x = b[4 * i]; a[4 * i + 1] = 7 * i; a[4 * i] = x + 1; int y = b[4 * i + 1]; a[4 * i + 1] = y + x;
        out[2 * i] = b[4 * i]; out[2 * i + 1] = b[4 * i + 1] + 1000 * y; }"""
    n = 256
    memory, out = np.arange(4 * n + 16, dtype=np.int32), np.zeros(2 * n, np.int32)
    b, a = memory, memory[distance:]
    expected, results = [int(value) for value in memory], []
    for i in range(n):  # at these distances no thread touches another's elements
        x = expected[4 * i]
        expected[4 * i + 1 + distance] = 7 * i
        expected[4 * i + distance] = x + 1
        y = expected[4 * i + 1]
        expected[4 * i + 1 + distance] = y + x
        results += [expected[4 * i], expected[4 * i + 1] + 1000 * y]
    load(compile_cuda(source)).launch("k", 2, 128, b, a, out)
    np.testing.assert_array_equal(out, results)
    np.testing.assert_array_equal(memory, expected)


def test_an_alias_is_its_target():
    text = (
        HEADER
        + """
.func (.param .b32 r) target(.param .b32 a) { .reg .b32 %r; ld.param.b32 %r, [a]; add.u32 %r, %r, 1;
  st.param.b32 [r], %r; ret; }
.func (.param .b32 r) other(.param .b32 a);
.alias other, target;
.visible .entry k(.param .u64 p) {
  .reg .b64 %rd; .reg .b32 %r; .param .b32 x; .param .b32 y;
  st.param.b32 [x], 41; call (y), other, (x); ld.param.b32 %r, [y]; ld.param.u64 %rd, [p]; st.global.u32 [%rd], %r; ret;
}
"""
    )
    out = np.zeros(1, np.uint32)
    load(text).launch("k", 1, 1, out)
    assert out[0] == 42
