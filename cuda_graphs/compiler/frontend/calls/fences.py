# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Order of accesses to memory without a barrier: `cg.fence`."""

from __future__ import annotations

from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.ir import ir


def fence(frame: Frame) -> None:
    """Translate cg.fence()."""
    frame.builder.put(ir.Fence(frame.builder.loc))
