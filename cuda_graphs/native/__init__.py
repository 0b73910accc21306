# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Native code, for the kernel compiler and for the PTX translator of the host driver: LLVM IR as text -> object file ->
code in this process, and the disk cache between processes.

This package knows neither of its users, and imports nothing else of cuda_graphs.

Other rooms may import:
    access_sites   constants that describe the accesses of instrumented code
    disk_cache     entries of compiled code on disk
    function_text  the text of one LLVM function, the base of all emitters
    host_cpu       the identity of this CPU
    image          the format of native images
    llvm           the LLVM driver: optimises IR, emits objects and PTX
    loaded_code    object files as code in this process
    object_merge   several object files as one
    trace          debug output on stderr
    units          the parts of a program, compiled and kept on disk one by one
    versions       versions and hashes of everything that decides code
"""
