# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""How long the host driver takes to load PTX: cold, that is translated by LLVM; from the disk cache; and again in a
process that has loaded something before. Each figure but the last is of a process of its own.

    python benchmarks/loading.py [--ptx FILE] [--rounds 5] [--json OUT]

Without a file it is a module of 1000 lines: kernels with loops, barriers, shared memory and shuffles.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

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

LOAD = """
import json, sys, time
import cuda_graphs as cg
cg.Device().set_current()
found = []
image = open(sys.argv[1], "rb").read()
for turn in range(2):
    code = cg.ObjectCode.from_ptx(image)
    start = time.perf_counter()
    code.handle
    found.append(1e3 * (time.perf_counter() - start))
print(json.dumps(found))
"""


def thousand_lines() -> str:
    text, number = HEAD, 0
    while text.count("\n") < 1000:
        text += KERNEL.format(n=number, shuffle=SHUFFLE if number % 4 == 3 else "")
        number += 1
    return text


def load(ptx: Path, cache: str) -> tuple[float, float]:
    """Milliseconds of the first and of the second time that a process loads it."""
    environment = {**os.environ, "CUDA_GRAPHS_DRIVER": "host", "CUDA_GRAPHS_CACHE_DIR": cache}
    command = [sys.executable, "-c", LOAD, str(ptx)]
    first, again = json.loads(subprocess.check_output(command, env=environment, text=True))
    return first, again


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ptx", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ptx = args.ptx
        if ptx is None:
            ptx = Path(folder, "thousand.ptx")
            ptx.write_text(thousand_lines())
        rows: dict[str, list[float]] = {"cold": [], "from disk": [], "in the process": []}
        for number in range(args.rounds):
            cache = str(Path(folder, f"cache{number}"))
            rows["cold"].append(load(ptx, cache)[0])
            first, again = load(ptx, cache)
            rows["from disk"].append(first)
            rows["in the process"].append(again)
        lines = ptx.read_text().count("\n")
    medians = {name: statistics.median(found) for name, found in rows.items()}
    print(f"PTX of {lines} lines, milliseconds (median of {args.rounds})")
    for name, median in medians.items():
        print(f"  {name:16}{median:9.1f}")
    if args.json:
        args.json.write_text(json.dumps({"lines": lines, "ms": medians, "all": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
