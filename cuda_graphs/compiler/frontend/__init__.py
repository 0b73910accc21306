# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The frontend: translates Python source to IR in one walk over the syntax tree, which gives every value its type.
A second walk follows if a name must have a wider type than its first value (`frame/weak_types.py`).

This package reads Python's syntax and knows compile-time values. A transformation of the IR alone is a pass. From the
lowest to the highest: the source and its free names, `frame/`, `precision.py` (implicit conversions), `expressions/`,
`calls/`, `statements/`, the tables of `syntax.py`, and the entry, `translate.py`.

Other rooms may import:
    translate    the entry: from a function to IR
    source       the syntax tree of a function
    definitions  the text and syntax of definitions in a file
    free_values  values of globals and closures that a kernel depends on
    returns      checks of declared return types
"""
