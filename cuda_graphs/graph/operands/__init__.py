# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Operands of nodes: arguments, named parameters, copies and fills, and the bytes that they access.

Other rooms may import:
    array_values  ArrayValue, an array as config functions see it
    condition  Condition
    edge_data  EdgeData
    fill       the values of fills
    graph_array  GraphArray, the memory of alloc nodes as arrays
    loop_counter  the iterations of loops
    operands   single arguments: kernels, events, edges, memory
    parameter  Parameter, and the uses of parameters by nodes
    spans      Span
    stop_words  the words that end loops
    transfer   the parameters of memcpy and memset nodes
    values     values of named parameters as bits
"""
