# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The driver seam: the table of CUDA driver functions, its loader, and the conversion of a CUresult to an exception.

It holds code that every caller of the driver needs, and does not depend on streams or graphs.

Other rooms may import:
    choice       the choice between libcuda and the host driver, and its description
    cuda         Cython declarations of cuda.h, and `driver()`, the table
    cuda_graph   Cython declarations of cuda.h for graphs
    seam         errors of driver calls; loads the driver at its first use
    serial       the lock around calls that libcuda cannot run at the same time
    table        the table for C++
"""

from .interpreter import require_main_interpreter

# Runs before any extension module is loaded: `cuda_graphs` imports this package first.
require_main_interpreter()
