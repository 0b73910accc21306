# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of kernels, as kernels: reverse mode (docs/design/2026-11-autodiff.md) and forward mode (tangent.py).

This folder transforms IR to IR. It contains the normal form, activity analysis, the choice of saved values, the bounds
of their number, the forward and the reverse sweep, and the checks for constructs without a gradient. The folder
kernels/ contains adjoint arrays, launches and tapes.

Other rooms may import:
    __init__  the kernels of each mode: gradient, counting, sizing, tangent, constant, second, part, plan
    analysis  size expressions, which callers evaluate
"""

from .gradient import counting, gradient, sizing
from .parts import part, plan
from .tangent import constant, second, tangent

__all__ = ["constant", "counting", "gradient", "part", "plan", "second", "sizing", "tangent"]
