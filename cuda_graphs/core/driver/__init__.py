# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The driver seam: the table of CUDA driver functions, its loader, and the conversion of a CUresult to an exception.

This package holds code that every caller of the driver needs. It does not depend on streams or graphs.
"""

from .interpreter import require_main_interpreter

# Runs before any extension module is loaded: `cuda_graphs` imports this package first.
require_main_interpreter()

# Registers itself with `seam`, which loads the chosen driver at the first device call.
from . import choice as _choice  # noqa: E402, F401
