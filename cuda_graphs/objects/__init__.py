# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Device, Context, Stream, Event, memory, code, kernels and launches: thin Python objects, each with one handle.

This package holds the objects that do not need a graph. Graphs and their nodes are in `graph/`, which this package does
not import.
"""

# They set their constructors (constructors.py), which the files below them call.
from cuda_graphs.objects.device import device as _device  # noqa: F401
from cuda_graphs.objects.memory import memory_resource as _memory_resource  # noqa: F401
