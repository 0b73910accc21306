# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The library for C and C++ programs: loads files of `GraphDef.save` and launches them, without Python and LLVM.

Its interface is `cuda_graphs_runtime.h`, in the folder of `cuda_graphs.get_include()`. The library has its own copy of
the loader (loader/) and of the C++ core, with the lock of lock.cpp in place of Python's.

    device      the driver and the context
    interface   the functions of the header
    lock        takes the place of core/handles/gil.cpp
"""
