# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Readers of bytes that come from files, in C++ without Python: JSON, SHA-256, and entries of a zip file.

They are for code that cannot use Python's: the host driver, and the runtime for C. Each library has a copy of its own.
Nothing in a file is trusted: every length and offset is checked, and all failures are FormatErrors.
"""
