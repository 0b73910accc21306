# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`quadrants.graph`: the words of graph kernels."""

import cuda_graphs as cg

do_while = cg.graph_do_while
parallel, parallel_context = cg.graph_section, cg.graph_parallel

__all__ = ["do_while", "parallel", "parallel_context"]
