# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs: definitions, their nodes, conditions, and executable graphs.

This package holds the Python classes of CUDA graphs. A definition (GraphDef) and its nodes (GraphNode and one class per
kind) derive from InsertionPoint, which has the methods that add nodes. A Graph is an executable made from a definition.
`core/graphs/` manages lifetimes. Devices, streams, kernels and memory are in `objects/`.
"""
