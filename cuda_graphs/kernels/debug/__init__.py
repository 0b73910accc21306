# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Explanations and listings of a kernel, and the errors that kernels with `debug=True` report.

Other rooms may import:
    explanation  KernelFunction.explain
    faults       the exceptions of kernels with debug=True
    inspection   KernelFunction.inspect
    reports      reports that nodes of a graph write
"""
