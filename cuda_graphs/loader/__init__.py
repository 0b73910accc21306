# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The loader of files of `GraphDef.save`, in C++ without Python: `cuda_graphs.load` and the library for C share it.

The core of the Python package and the library for C each have a copy. What differs between them is a Program: functions
of the host, the counters of loops, and what only Python keeps.

    failure     the exception of this package
    manifest    checks of everything that a manifest says
    archive     the zip file: the manifest, and blobs with their sizes and hashes
    program     what the program around the loader adds
    device      the device, and calls of its driver
    memory      memory that a file declares
    sizes       the sizes of launches of kernels of Python
    kernels     kernels of a file, for the driver of this process
    parameters  named parameters and their values
    references  what operands of nodes refer to
    tables      the loaded tables of a file
    nodes       the nodes of a file
    loading     from a file to a definition

Other rooms may import:
    loading     from a file to a definition
    failure     its exception
    device      calls without the lock of the core
    memory      memory of a type
    parameters  values of parameters
"""
