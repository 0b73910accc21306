# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The seam: one table of CUDA driver functions, how it is filled, and how a CUresult becomes an exception.

Here belongs what every caller of the driver needs. Nothing here knows what a stream or a graph is.
"""
