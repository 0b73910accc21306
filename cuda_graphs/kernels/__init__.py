# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The link between the compiler and devices: arrays and fields, kernels, their calls and caches.

The folder is not called `kernel` because `cuda_graphs.kernel` is the decorator.

Lower layers do not import this folder. `compiler/` generates code for types, `objects/` and `graph/` run code, and
only this folder uses both.
"""
