# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A definition as text for other tools: DOT.

Other rooms may import:
    dot  names and source lines in DOT files
"""
