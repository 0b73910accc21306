# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""From the LLVM IR of a translated module to an object file for this CPU."""

from __future__ import annotations

from cuda_graphs.native import llvm
from cuda_graphs.native.host_cpu import identity
from cuda_graphs.native.versions import llvm_version

from . import extremes
from .errors import invalid_ptx


def depends_on() -> dict[str, str]:
    """Returns the properties that the object code depends on besides the IR, without loading LLVM."""
    return {"llvm": llvm_version(), "cpu": identity(), **llvm.CODE_MODEL}


def object_code(ir: str) -> bytes:
    """Returns the object file. Raises ImageError if LLVM does not accept the IR."""
    try:
        return llvm.object_code(ir, extremes.replaced)
    except llvm.InvalidIR as error:
        raise invalid_ptx(f"the translation to LLVM is not valid: {error}") from None


def assembly(ir: str) -> str:
    """Returns the assembly of the object file from `object_code`."""
    return llvm.assembly(ir, extremes.replaced)
