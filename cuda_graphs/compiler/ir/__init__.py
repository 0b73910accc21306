# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The intermediate representation: types, operations, statements, their printer, checker and interpreter."""
