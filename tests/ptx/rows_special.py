# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Special registers. Every row is launched with COUNT / BLOCK blocks of BLOCK threads in one dimension; other shapes
are in test_programs.py."""

import numpy as np

from tests.ptx.table import BLOCK, COUNT, GRID, op

I = np.arange(COUNT, dtype=np.uint32)  # noqa: E741 (it is %i of the kernels)
LANE = I % BLOCK % 32

VALUES = {
    "%tid.x": I % BLOCK,
    "%tid.y": 0 * I,
    "%tid.z": 0 * I,
    "%ntid.x": 0 * I + BLOCK,
    "%ntid.y": 0 * I + 1,
    "%ntid.z": 0 * I + 1,
    "%ctaid.x": I // BLOCK,
    "%ctaid.y": 0 * I,
    "%ctaid.z": 0 * I,
    "%nctaid.x": 0 * I + GRID,
    "%nctaid.y": 0 * I + 1,
    "%nctaid.z": 0 * I + 1,
    "%laneid": LANE,
    "%lanemask_eq": np.uint32(1) << LANE,
    "%lanemask_lt": (np.uint32(1) << LANE) - 1,
    "%lanemask_le": (np.uint32(2) << LANE) - 1,
    "%lanemask_gt": ~((np.uint32(2) << LANE) - 1),
    "%lanemask_ge": ~((np.uint32(1) << LANE) - 1),
    "WARP_SZ": 0 * I + 32,
    "%dynamic_smem_size": 0 * I,
}
for name, values in VALUES.items():
    op(name, "-> u32", lambda v=values: v.astype(np.uint32), body=f"mov.u32 %d, {name};")
op("mov.u16 of %tid.x", "-> u16", lambda: (I % BLOCK).astype(np.uint16), body="mov.u16 %d, %tid.x;")
op(
    "cvt.u64.u32 of %ctaid.x",
    "-> u64",
    lambda: (I // BLOCK).astype(np.uint64),
    body="cvt.u64.u32 %d, %ctaid.x;",
)
op(
    "clocks do not go backwards",
    "-> u32",
    lambda: 0 * I + 7,
    body="""mov.u64 %x, %clock64;
  mov.u64 %y, %clock64;
  setp.ge.u64 %q, %y, %x;
  selp.u32 %d, 1, 0, %q;
  mov.u64 %x, %globaltimer;
  mov.u64 %y, %globaltimer;
  setp.ge.u64 %q, %y, %x;
  selp.u32 %n, 2, 0, %q;
  or.b32 %d, %d, %n;
  setp.ne.u64 %q, %y, 0;
  selp.u32 %n, 4, 0, %q;
  or.b32 %d, %d, %n;
  mov.u32 %n, %clock;""",
    regs=".reg .b64 %x, %y;",
)
op(
    "cluster registers without clusters",
    "-> u32",
    lambda: (I // BLOCK) * 16 + 1 + 4,
    body="""mov.u32 %d, %clusterid.x;
  mul.lo.u32 %d, %d, 16;
  mov.u32 %n, %cluster_ctaid.x;
  mad.lo.u32 %d, %n, 2, %d;
  mov.u32 %n, %cluster_nctaid.x;
  add.u32 %d, %d, %n;
  mov.u32 %n, %cluster_nctarank;
  mad.lo.u32 %d, %n, 4, %d;""",
)
