# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""PTX text to a syntax tree.

Other rooms may import:
    datatypes  types of PTX, and their LLVM types
    lexer      text to tokens
    limits     limits of the device
    parser     tokens to a module
    syntax     the classes of the syntax tree
"""
