# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Device, Context, Stream, Event, memory, code, kernels and launches: thin Python objects, each with one handle.

This package holds the objects that do not need a graph. Graphs and their nodes are in `graph/`, which this package does
not import.
"""
