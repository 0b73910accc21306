# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The kernel language: annotations, functions with a meaning in kernels only, and signatures.

Other rooms may import:
    intrinsics    functions and types of kernels
    block         cg.block
    warp          cg.warp
    library       functions that are written in the language
    decompositions  of matrices, in the language
    quaternions   in the language
    graph_flow    control flow between tasks
    cofactors     determinants and inverses of small matrices
    host_vectors  vectors and matrices on the host
    annotations   declarations of parameters, and their Specs
    declarations  names that declare parameters, for the compiler and for type checkers
    host_objects  classes of parameters whose methods add nodes between tasks
    structs       types of members, and layouts of arrays of structures
    signature     Specs of the arguments of a call
    lowerings     lowerings of graph kernels
    number_rules  types of numbers in the source
    free_names    names of globals and closures in a function
"""
