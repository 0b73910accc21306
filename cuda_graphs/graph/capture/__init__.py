# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""GraphBuilder: a graph from the work that is given to a stream.

Other rooms may import:
    builder                   GraphBuilder.
    library_call              `capture_call`: the work of a function as a node.
    captured_insertion_point  The end of a stream's captured work, where kernels with control flow add nodes.
"""
