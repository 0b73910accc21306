# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Definitions in files: `GraphDef.save` and `load`.

A file is a zip with a JSON manifest and blobs. docs/design/2026-11-saved-graphs.md describes the format.

    schema      the tables of the manifest, and the functions that check what stands in one
    archive     the zip file: writing it, and reading the manifest
    sizes       the sizes of launches of kernels of Python, on any driver
    cubins      machine code for chosen GPUs, from PTX
    codes       the code of a kernel for each driver
    addresses   memory and conditions behind the arguments of nodes
    tables      the tables of a file, apart from that of graphs
    node_rows   the rows of nodes
    writing     save: from a definition to a file
    array_types the types of arrays, by their names in a file
    loading     load: from a file to a LoadedGraph, by the C++ loader (cuda_graphs/loader/)
    text        a file in words

Other rooms may import:
    loading      LoadedGraph, load
    array_types  the types of arrays of a file
    text         a file in words
"""
