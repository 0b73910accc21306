# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""IR of the functions of the special function unit that the CPU has as instructions (CUDA_GRAPHS_HOST_MATH=fast): rcp,
rsqrt and sqrt of f32.

They stand in the place of those of interpolator.py, with the same names. Quotients and roots are correctly rounded, so
rcp and sqrt differ from the exact value by half a unit in the last place, and rsqrt, which rounds twice, by less than
two. These are within the bounds that the PTX ISA states for the approximate instructions. Subnormal arguments and
results count, also with `.ftz`. The CPU has no instructions for the other functions.
"""

from __future__ import annotations

ROOT = "  %root = call float @llvm.sqrt.f32(float %x)\n"
QUOTIENT = "  %out = fdiv float 1.0, "

BODIES = {
    "rcp": f"{QUOTIENT}%x\n  ret float %out\n",
    "rsqrt": f"{ROOT}{QUOTIENT}%root\n  ret float %out\n",
    "sqrt": f"{ROOT}  ret float %root\n",
}


def functions(name: str) -> dict[str, str] | None:
    """Returns the definition of @interpolator.NAME, by name; None if the CPU has no instructions for it."""
    body = BODIES.get(name.removesuffix(".gradual"))
    if body is None:
        return None
    head = f"define internal float @interpolator.{name}(float %x) alwaysinline nounwind"
    return {f"interpolator.{name}": f"{head} {{\n{body}}}"}
