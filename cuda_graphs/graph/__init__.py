# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs: definitions, their nodes, conditions, and executable graphs.

Here belongs what users see of a CUDA graph. A definition (GraphDef) and its nodes (GraphNode and one class a kind) are
both a Place, which is where the methods that add nodes are. A Graph is an executable made of a definition. What keeps
what alive is in `_handles/graph*.hpp`; devices, streams, kernels and memory are in `_objects/`.
"""
