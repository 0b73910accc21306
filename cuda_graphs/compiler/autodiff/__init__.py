# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of a kernel, as a kernel: reverse mode (docs/design/2026-11-autodiff.md), and forward mode (tangent.py).

Here belongs what makes IR of IR: the normal form, what is active, what must be saved and how large that becomes, the
two sweeps, and what is refused. Adjoint arrays, launches and tapes are the bridge's (kernels/).
"""

from .gradient import counting, gradient, sizing
from .tangent import constant, tangent

__all__ = ["constant", "counting", "gradient", "sizing", "tangent"]
