# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Reverse mode: the gradient of a kernel, as a kernel (docs/design/2026-11-autodiff.md).

Here belongs what makes IR of IR: the normal form, what is active, what must be saved and how large that becomes, the
two sweeps, and what is refused. Adjoint arrays, launches and tapes are the bridge's (kernels/).
"""

from .gradient import counting, gradient

__all__ = ["counting", "gradient"]
