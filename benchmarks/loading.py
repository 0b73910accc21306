# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The time that the host driver takes to load PTX: cold (translated by LLVM), from the disk cache, and again.

"Again" is a second load in the same process. Each other figure uses a new process.

    python benchmarks/loading.py [--ptx FILE] [--rounds 5] [--json OUT]

Without a file the benchmark uses modules of slightly more than 1000 lines:

    barriers    kernels with loops, barriers and shared memory; one in four with a shuffle
    shuffles    the same, all with a shuffle, so that their warps may be at different positions
    plain       short kernels without barriers and shuffles, which become vector loops
    NVRTC       CUDA C++ with loops, barriers, shuffles and functions of libdevice

Each round loads all modules in turn. The figures are elapsed time and CPU time, which other work on the machine changes
less.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from statistic import Record, record
from timing import show, write

KERNEL = """
.visible .entry k{n}(.param .u64 out, .param .u64 in, .param .u32 size)
{{
  .reg .pred %p<4>; .reg .b32 %r<12>; .reg .f32 %f<12>; .reg .b64 %rd<8>;
  .shared .align 4 .b8 s{n}[1024];
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r1, [size];
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mad.lo.s32 %r5, %r3, %r4, %r2;
  mov.f32 %f1, 0f00000000;
LOOP:
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra DONE;
  mul.wide.s32 %rd3, %r5, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.f32 %f2, [%rd4];
  fma.rn.f32 %f1, %f2, %f2, %f1;
  sqrt.rn.f32 %f3, %f2;
  add.f32 %f1, %f1, %f3;
  add.s32 %r5, %r5, 1024;
  bra.uni LOOP;
DONE:
  {shuffle}
  mov.u32 %r6, s{n};
  shl.b32 %r7, %r2, 2;
  add.s32 %r8, %r6, %r7;
  st.shared.f32 [%r8], %f1;
  bar.sync 0;
  mov.u32 %r9, 128;
HALVE:
  setp.ge.u32 %p2, %r2, %r9;
  @%p2 bra SKIP;
  shl.b32 %r10, %r9, 2;
  add.s32 %r10, %r8, %r10;
  ld.shared.f32 %f4, [%r10];
  ld.shared.f32 %f5, [%r8];
  add.f32 %f5, %f5, %f4;
  st.shared.f32 [%r8], %f5;
SKIP:
  bar.sync 0;
  shr.u32 %r9, %r9, 1;
  setp.ne.u32 %p3, %r9, 0;
  @%p3 bra HALVE;
  ld.shared.f32 %f6, [s{n}];
  st.global.f32 [%rd2], %f6;
  ret;
}}
"""
SHUFFLE = "shfl.sync.bfly.b32 %r11, %r2, 1, 31, -1;\n  add.u32 %r2, %r11, 0;"
HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"


PLAIN = """
.visible .entry p{n}(.param .u64 out, .param .u64 in, .param .u32 size)
{{
  .reg .pred %p<2>; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r1, [size];
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mad.lo.s32 %r5, %r3, %r4, %r2;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra DONE;
  mul.wide.s32 %rd3, %r5, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.f32 %f2, [%rd4];
  fma.rn.f32 %f1, %f2, %f2, %f2;
  sqrt.rn.f32 %f3, %f2;
  add.f32 %f1, %f1, %f3;
  add.s64 %rd5, %rd2, %rd3;
  st.global.f32 [%rd5], %f1;
DONE:
  ret;
}}
"""

CUDA = """
extern "C" __global__ void n{n}(int n, const float* x, float* y) {{
    __shared__ float s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = 0;
    for (int k = i; k < n; k += {n} + 3) a += sinf(x[k]) * expf(-x[k]) + x[(k * 7 + {n}) % n];
    s[threadIdx.x] = a;
    __syncthreads();
    for (int h = 128; h > 0; h >>= 1) {{
        if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];
        __syncthreads();
    }}
    a += __shfl_xor_sync(0xffffffff, a, {n} % 5 + 1);
    if (i < n) y[i] = a / (s[0] + {n}.5f) + rsqrtf(a * a + 1);
}}
"""

LOAD = """
import json, sys, time
import cuda_graphs as cg
cg.Device().set_current()
found = []
image = open(sys.argv[1], "rb").read()
for turn in range(2):
    code = cg.ObjectCode.from_ptx(image)
    start = time.perf_counter(), time.process_time()
    code.handle
    found.append((1e3 * (time.perf_counter() - start[0]), 1e3 * (time.process_time() - start[1])))
print(json.dumps(found))
"""

COMPILE = """
import sys
import cuda_graphs as cg
options = cg.ProgramOptions(arch="sm_90")
print(bytes(cg.Program(sys.stdin.read(), "c++", options).compile("ptx").code).decode().rstrip(chr(0)))
"""

CLOCKS = ("clock", "processor")
Times = tuple[float, float]  # milliseconds by each of CLOCKS
WAYS = ("cold", "from disk", "in the process")


def long_enough(kernel: Callable[[int], str]) -> str:
    text, number = HEAD, 0
    while text.count("\n") < 1000:
        text += kernel(number)
        number += 1
    return text


def by_nvrtc() -> str:
    command, environment = [sys.executable, "-c", COMPILE], {**os.environ, "CUDA_GRAPHS_DRIVER": "host"}
    text, count = "", 0
    while text.count("\n") < 1000:
        count += 1
        source = "".join(CUDA.format(n=n) for n in range(count))
        text = subprocess.check_output(command, env=environment, text=True, input=source)
    return text


def modules() -> dict[str, str]:
    return {
        "barriers": long_enough(lambda n: KERNEL.format(n=n, shuffle=SHUFFLE if n % 4 == 3 else "")),
        "shuffles": long_enough(lambda n: KERNEL.format(n=n, shuffle=SHUFFLE)),
        "plain": long_enough(lambda n: PLAIN.format(n=n)),
        "NVRTC": by_nvrtc(),
    }


def load(ptx: Path, cache: str) -> tuple[Times, Times]:
    """Return the times of the first and of the second load in one process."""
    environment = {**os.environ, "CUDA_GRAPHS_DRIVER": "host", "CUDA_GRAPHS_CACHE_DIR": cache}
    command = [sys.executable, "-c", LOAD, str(ptx)]
    first, again = json.loads(subprocess.check_output(command, env=environment, text=True))
    return first, again


def once(ptx: Path, cache: str) -> dict[str, Times]:
    cold, _ = load(ptx, cache)
    first, again = load(ptx, cache)
    return dict(zip(WAYS, (cold, first, again), strict=True))


def figures(rounds: list[dict[str, Times]]) -> dict[str, dict[str, Record | None]]:
    """Returns the Records of each clock: way -> Record of milliseconds."""
    return {
        clock: {way: record([round(found[way][number], 3) for found in rounds]) for way in WAYS}
        for number, clock in enumerate(CLOCKS)
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ptx", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    texts = {args.ptx.name: args.ptx.read_text()} if args.ptx else modules()
    rounds: dict[str, list[dict[str, Times]]] = {name: [] for name in texts}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(args.rounds):
            for name, text in texts.items():
                ptx = Path(folder, "module.ptx")
                ptx.write_text(text)
                rounds[name].append(once(ptx, str(Path(folder, f"cache{number}{name}"))))
    document: dict[str, dict[str, Any]] = {
        name: {"lines": text.count("\n"), **figures(rounds[name])} for name, text in texts.items()
    }
    for clock in CLOCKS:
        table = {f"{name}, {found['lines']} lines": found[clock] for name, found in document.items()}
        show(f"Loading, {args.rounds} rounds, time of the {clock}", table, "milliseconds")
    write(args.json, {"rounds": args.rounds, "modules": document})


if __name__ == "__main__":
    main()
