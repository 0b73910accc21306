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
try:
    from . import choice as _choice  # noqa: F401
except ImportError as error:
    from importlib.util import find_spec

    if find_spec(f"{__name__}.seam") is not None:
        raise
    raise ImportError(
        f"{__path__[0]} has no compiled modules: it is a part of the source of cuda_graphs, which Python imports if "
        "it is started in the folder of the source. Build it with `pip install -e .`, or start Python in another folder"
    ) from error
