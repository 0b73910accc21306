# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Buffers, the memory resources that allocate them, and views of other libraries' arrays.

Other rooms may import:
    abstract_resource  MemoryResource, the base class.
    array_shape        Shapes, and the memory that an index selects.
    array_view         Views of other libraries' arrays.
    buffer             Buffer.
    dlpack             The constants of DLPack, and exports as capsules.
    graph_memory       GraphMemoryResource.
    memory_resource    The memory resources.
    shared_memory      Memory that several processes of a host use.
    typed_memory       TypedMemory, the base class of arrays.
"""
