# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A definition for readers: pictures, and DOT files of the driver.

Other rooms may import:
    dot      names and source lines in DOT files
    difference_drawing  the pictures of differences
    drawing  the pictures of graphs
    reading  the Scene of a definition
"""
