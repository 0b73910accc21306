# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Definitions in files: `GraphDef.save` and `load`.

A file is a zip with a JSON manifest and blobs. docs/design/2026-11-saved-graphs.md describes the format.

    schema      the tables of the manifest, and the functions that check what stands in one
    archive     the zip file: the manifest, and blobs with their sizes and hashes
    sizes       the sizes of launches of kernels of Python, on any driver
    codes       the code of a kernel for each driver (writing)
    addresses   memory and conditions behind the arguments of nodes (writing)
    tables      the tables of a file, apart from that of graphs (writing)
    node_rows   the rows of nodes (writing)
    writing     save: from a definition to a file
    memory      memory that a file declares (loading)
    parameters  named parameters (loading)
    kernels     kernels of a file, for the driver of this process (loading)
    nodes       nodes of a file (loading)
    loading     load: from a file to a LoadedGraph
    text        a file in words

Other rooms may import:
    loading  LoadedGraph, load
    memory   arrays of the types of a file
    text     a file in words
"""
