# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The bridge: what ties the compiler to devices. Arrays and fields, kernels, their calls and caches.

The folder is not called `kernel` because `cuda_graphs.kernel` is the decorator.

Nothing below knows of it: `compiler/` gives code for types, `_objects/` and `graph/` run code, and only this folder
uses both.
"""
