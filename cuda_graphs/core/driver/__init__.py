# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The driver seam: the table of CUDA driver functions, its loader, and the conversion of a CUresult to an exception.

This package holds code that every caller of the driver needs. It does not depend on streams or graphs.

Other rooms may import:
    __init__    Refuses subinterpreters.
    choice      The driver of the process, and the reason for its choice.
    cuda        Cython declarations of the driver table.
    cuda_graph  The same for graphs.
    driver_facts  What the driver was asked once: its version, and the number of devices.
    functions   The list of driver functions.
    seam        Errors of driver calls, and the plug of the host driver.
    table       The table of driver functions for C++.
"""

from .interpreter import require_main_interpreter

# Runs before any extension module is loaded: `cuda_graphs` imports this package first.
require_main_interpreter()

# Registers itself with `seam`, which loads the chosen driver at the first device call.
from . import choice as _choice  # noqa: E402, F401
