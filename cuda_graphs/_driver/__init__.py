# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The seam: one table of CUDA driver functions, how it is filled, and how a CUresult becomes an exception.

Here belongs what every caller of the driver needs. Nothing here knows what a stream or a graph is.
"""

from cuda_graphs._driver.interpreter import require_main_interpreter

# Before any extension module: `cuda_graphs` imports this package first.
require_main_interpreter()
