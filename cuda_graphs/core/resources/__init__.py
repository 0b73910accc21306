# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""C++ handles of contexts, streams, events, memory, code and DLPack tensors.

Other rooms may import:
    boxes      counts of live boxes, for tests
    context    contexts, and scopes that make a context current or relax the capture mode
    event      events
    handles    Cython declarations of this room and of core/handles
    memory     memory pools and allocations
    module     libraries, kernels and their parameters
    stream     streams
"""
