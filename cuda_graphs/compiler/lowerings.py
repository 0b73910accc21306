# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What the compiler can make of control flow between the tasks of a graph kernel."""

__all__ = ["CHOICES", "IN_MEMORY", "LOWERINGS"]

LOWERINGS = {
    "conditional": "conditional nodes of a graph of its own",
    "embedded": "conditional nodes of any graph",
    "host": "tasks that leave conditions in memory, for a caller that looks there",
    "resident": "one launch, whose threads stay",
}
# The first of these where that can be, else the second.
CHOICES = {"resident or conditional": "conditional", "resident or host": "host"}
IN_MEMORY = ("host", "resident")  # where conditions are
