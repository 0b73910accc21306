# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The library for C and C++ programs: loads files of `GraphDef.save` and launches them, without Python and LLVM.

Its interface is `cuda_graphs_runtime.h`, in the folder of `cuda_graphs.get_include()`. The library has its own copy of
the C++ core, with the lock of lock.cpp in place of Python's.

    failure     the exception of this package, and the text of a thread's last error
    manifest    checks of everything that a manifest says; the same rules as saving/schema.py
    archive     the zip file: the manifest, and blobs with their sizes and hashes
    device      the driver and the context
    memory      memory that a file declares, and arrays of the caller
    sizes       the sizes of launches of kernels of Python
    kernels     kernels of a file, for the driver of this process
    parameters  named parameters and their values
    references  what operands of nodes refer to
    nodes       the nodes of a file
    loading     from a file to a definition
    interface   the functions of the header
    lock        takes the place of core/handles/gil.cpp
"""
