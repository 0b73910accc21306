# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Layouts that generated code agrees on: cgh_launch, the block record, the hidden arguments, shared metadata."""

# The order of cgh_services.
SERVICES = (
    "set_conditional",
    "vprintf",
    "assert_fail",
    "trap",
    "scratch",
    "clock64",
    "globaltimer",
    "access",
    "order",
    "allocate",
    "release",
    "sleep_until",
    "share",
    "collect",
)

# Offsets in cgh_launch.
LAUNCH = {
    "nctaid.x": 0,
    "nctaid.y": 4,
    "nctaid.z": 8,
    "ntid.x": 12,
    "ntid.y": 16,
    "ntid.z": 20,
    "cluster_nctaid.x": 24,
    "cluster_nctaid.y": 28,
    "cluster_nctaid.z": 32,
    "dynamic_smem_size": 36,
}
TOGETHER_AT = 40  # offset of a pointer to a cgh_together, or of null
LAUNCH_BYTES = 48

# cgh_together: field -> (offset, LLVM type).
TOGETHER = {
    "grid": (0, "ptr"),
    "shared": (8, "ptr"),
    "step": (16, "i64"),
    "barrier": (24, "i64"),
    "ended": (32, "ptr"),
    "threads": (40, "i32"),
}
TOGETHER_BYTES = 48

# The block record, shared by the threads of a block: field -> (offset, LLVM type).
BLOCK = {
    "arena": (0, "ptr"),  # frames of resumable threads
    "stride": (8, "i64"),  # bytes of one frame
    "frame": (16, "ptr"),  # the entry's stack frame: local memory lies below
    "launch": (24, "ptr"),
    "shared": (32, "ptr"),
    "params": (40, "ptr"),
    "threads": (48, "i64"),
    "ctaid.x": (56, "i32"),
    "ctaid.y": (60, "i32"),
    "ctaid.z": (64, "i32"),
    "dyn": (68, "i32"),
    "cluster": (72, "ptr"),  # a cgh_together, in kernels that use clusters
}
BLOCK_BYTES = 80

# The hidden arguments of every function. `dyn`: offset of dynamic shared memory; `block`: the block record.
HIDDEN = {
    "launch": "ptr",
    "shared": "ptr",
    "block": "ptr",
    "dyn": "i32",
    "ctaid.x": "i32",
    "ctaid.y": "i32",
    "ctaid.z": "i32",
    "tid.x": "i32",
    "tid.y": "i32",
    "tid.z": "i32",
}
HIDDEN_SIGNATURE = ", ".join(f"{kind} %{name}" for name, kind in HIDDEN.items())
HIDDEN_TYPES = ", ".join(HIDDEN.values())

INVARIANT = "!invariant.load !0"
ACCESS_GROUP = "!llvm.access.group !1"
READ_ONLY_SCOPE = "!alias.scope !4"
# Metadata of the loops around the threads of a row: unrolling these loops would copy their whole bodies.
ROWS, LAYERS = (f", !llvm.loop !{number}" for number in (9, 10))
NOT_READ_ONLY = "!noalias !4"
METADATA = (
    "!0 = !{}",
    "!1 = distinct !{}",
    '!2 = distinct !{!2, !"memory of this module"}',
    '!3 = distinct !{!3, !2, !"read only for the launch"}',
    "!4 = !{!3}",
    '!5 = !{!"llvm.loop.parallel_accesses", !1}',
    '!6 = !{!"llvm.loop.unroll.disable"}',
    '!7 = !{!"llvm.loop.interleave.count", i32 1}',
    '!8 = !{!"branch_weights", i32 4000, i32 1}',
    "!9 = distinct !{!9, !6}",
    "!10 = distinct !{!10, !6}",
)
