# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Readers: each converts the argument of one parameter, or of one member of a parameter, into leaves and keys.

    reader          Reader, the base class
    numbers         numbers, vectors and matrices
    host_objects    Conditions, and objects whose methods add nodes
    arrays          NDArrays, arrays of other libraries, array parameters of graphs
    templates       fields and other constants of the code
    structures      objects with members, and arrays of structures
    kept_arguments  arguments as a graph keeps them

`arguments.pyx`, beside this folder, chooses the Reader of a parameter.
"""
