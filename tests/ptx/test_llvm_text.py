# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""PTX as LLVM's NVPTX back end writes it (untyped registers, shared addresses of 64 bits) runs like NVRTC's."""

import numpy as np
import pytest

from tests.ptx.rig import compile_cuda, load

IR = r"""
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare float @llvm.sqrt.f32(float)
declare float @llvm.fma.f32(float, float, float)
@s = internal addrspace(3) global [64 x float] undef
@tab = internal addrspace(4) constant [4 x i32] [i32 1, i32 2, i32 3, i32 4]
define internal i32 @callee(i32 %a, { i32, i64 } %p) noinline {
  %x = extractvalue { i32, i64 } %p, 0
  %y = extractvalue { i32, i64 } %p, 1
  %z = trunc i64 %y to i32
  %r = mul i32 %a, %x
  %q = add i32 %r, %z
  ret i32 %q
}
define ptx_kernel void @k(ptr addrspace(1) %out, i32 %n, { i32, i64 } %p, half %h, ptr %f) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %sp = getelementptr float, ptr addrspace(3) @s, i32 %t
  %i = sitofp i32 %t to float
  %root = call float @llvm.sqrt.f32(float %i)
  store float %root, ptr addrspace(3) %sp
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %j = sub i32 %n, %t
  %sp2 = getelementptr float, ptr addrspace(3) @s, i32 %j
  %g = load float, ptr addrspace(3) %sp2
  %hf = fpext half %h to float
  %g2 = call float @llvm.fma.f32(float %g, float 2.0, float %hf)
  %i3 = and i32 %t, 3
  %tp = getelementptr i32, ptr addrspace(4) @tab, i32 %i3
  %tv = load i32, ptr addrspace(4) %tp
  %c = call i32 @callee(i32 %tv, { i32, i64 } %p)
  %cf = sitofp i32 %c to float
  %r = fadd float %g2, %cf
  %op = getelementptr float, ptr addrspace(1) %out, i32 %t
  store float %r, ptr addrspace(1) %op
  %old = atomicrmw add ptr %f, i32 1 monotonic
  ret void
}
"""


def test_text_of_the_nvptx_back_end_runs():
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple("nvptx64-nvidia-cuda")
    machine = target.create_target_machine(cpu="sm_90", features="+ptx80", opt=3)
    text = machine.emit_assembly(llvm.parse_assembly(IR))
    out, count = np.zeros(64, "f"), np.zeros(1, np.int32)
    pair = np.array([5, 0], np.int32).tobytes() + np.int64(100).tobytes()
    load(text).launch("k", 1, 64, out, np.int32(63), pair, np.float16(0.5), count)
    t = np.arange(64)
    twice = 2 * np.sqrt((63 - t).astype("f")) + np.float32(0.5)
    np.testing.assert_allclose(out, twice + ((t & 3) + 1) * 5 + 100, rtol=1e-6)
    assert count[0] == 64


@pytest.mark.parametrize(
    "option",
    [
        "--device-debug",
        "-lineinfo",
        "-use_fast_math",
        "--maxrregcount=32",
        "-rdc=true",
        "--gpu-architecture=compute_75",
    ],
)
def test_options_of_nvrtc_that_change_its_text_are_understood(option):
    source = r"""
    __device__ __noinline__ float twice(float x) { return x * 2; }
    extern "C" __global__ void __launch_bounds__(128, 2) k(float* o) {
        __shared__ float s[4];
        o[threadIdx.x] = twice(o[threadIdx.x]) / 4 + sinf(0);
        if (o[0] < 0) { s[threadIdx.x & 3] = 1; printf("%f", s[1]); }
    }"""
    out = np.arange(1, 33, dtype="f")
    program = load(compile_cuda(source, option))
    program.launch("k", 1, 32, out)
    np.testing.assert_array_equal(out, np.arange(1, 33) / 2)
    assert program.kernels["k"].max_threads_per_block == 128
