# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The C side: the driver table, the handles of CUDA resources, graphs and captures, in one shared library.

`driver/` calls the CUDA driver, `handles/` has what all handles share, `resources/` the handles of contexts, streams,
events, memory and modules, `graphs/` those of definitions, nodes and executables, `capture/` stream captures. Nothing
here knows a Python class of ours."""
