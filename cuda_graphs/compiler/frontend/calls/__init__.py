# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Calls in kernels: functions of the language, inlined functions, and Python functions that run at compile time."""
