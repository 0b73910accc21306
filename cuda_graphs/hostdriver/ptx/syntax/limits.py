# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Limits on sizes. Shared memory and parameters have the limits of ptxas of CUDA 13.0; the others bound memory use."""

from cuda_graphs.hostdriver.ptx.errors import OUT_OF_MEMORY, ImageError, invalid_ptx

from .syntax import Function, Variable

SHARED = 48 << 10  # bytes of static shared memory of a kernel
LOCAL = 512 << 10  # bytes of local memory of a thread
PARAMETERS = 32764  # bytes
VARIABLES = 1 << 30  # bytes of .global and .const of a module together
ROW = 1 << 20  # elements of a row that an initialiser sets only in part
TOKEN = 4096  # characters; Python does not convert much longer numbers
EXTENT = (1 << 31) - 1  # the largest value of .maxntid and similar directives
ALIGNMENT = 4096  # a page


def check_kernel(function: Function, shared: int, local: int, parameters: int) -> None:
    """Raises ImageError if a size, in bytes, is above its limit."""
    for what, size, most in (
        ("static shared memory", shared, SHARED),
        ("local memory", local, LOCAL),
        ("parameters", parameters, PARAMETERS),
    ):
        if size > most:
            raise invalid_ptx(
                f"line {function.line}: the kernel `{function.name}` has {size} bytes of {what}; the limit is {most}"
            )


def check_variables(variables: list[Variable]) -> None:
    total = sum(variable.bytes for variable in variables)
    if total > VARIABLES:
        raise ImageError(
            OUT_OF_MEMORY, f"the module's variables take {total} bytes; the limit is {VARIABLES}"
        )


def is_alignment(size: int) -> bool:
    return 0 < size <= ALIGNMENT and size & (size - 1) == 0
