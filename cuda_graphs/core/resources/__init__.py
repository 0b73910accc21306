# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""C++ handles of contexts, streams, events, memory, code and DLPack tensors.

Other rooms may import:
    context  Contexts and the current context.
    device_scope  Scopes in which a device is current, and access between devices.
    dlpack   The structures of DLPack, and exports.
    event    Events.
    handles  Cython declarations of this room and of `handles/`.
    memory   Pools and allocations.
    module   Libraries, kernels and functions.
    stream   Streams.
"""
