# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The kernel language: annotations, functions with a meaning in kernels only, and signatures."""
