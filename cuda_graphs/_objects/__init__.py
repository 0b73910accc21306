# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Device, Context, Stream, Event, memory, code, kernels and launches: thin Python objects, each round one handle.

Here belongs what exists without a graph. Graphs and their nodes are in `graph/`; nothing here imports it.
"""
