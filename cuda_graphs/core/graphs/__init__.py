# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""C++ handles of graph definitions, nodes and executables, with the records that the driver does not keep."""
