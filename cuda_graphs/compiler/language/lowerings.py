# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The ways to lower the control flow between the tasks of a graph kernel, and to fuse tasks."""

__all__ = ["CHOICES", "FUSIONS", "IN_MEMORY", "LOWERINGS"]

LOWERINGS = {
    "conditional": "conditional nodes of a graph of its own",
    "embedded": "conditional nodes of any graph",
    "host": "tasks that leave conditions in memory for the caller to read",
    "resident": "one launch, whose threads stay",
}
# Choices: "A or B" is resident if possible. The value is the lowering otherwise.
CHOICES = {"resident or conditional": "conditional", "resident or host": "host"}
IN_MEMORY = ("host", "resident")  # lowerings with conditions in memory
# How much is known about the arrays when neighbouring tasks are fused.
FUSIONS = {
    "call": "each call compares their ranges and extents, and runs other code if fused tasks do not fit them",
    "large": "the same, and loops are so long that the order of sums is not fixed, and that memory is their limit",
    "any": "nothing: nodes of a graph may get other arrays",
}
