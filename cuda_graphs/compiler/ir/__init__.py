# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The intermediate representation: types, operations, statements, their printer, verifier and interpreter.

Other rooms may import:
    ir           kernels, tasks and programs
    types        scalar types
    ops          the table of operations
    collectives  the table of warp and block operations
    scalars      numbers of scalar types
    formats      formats of printed values
    builder      emission of statements with types
    exchanges    reductions between GPUs of one host, and the layout of their memory
    host_calls   arguments of calls of host objects, in plans
    printer      IR as text
    verifier     the laws of IR
"""
