# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The method `save` of GraphDef. Its keyword `include` is a word of Cython, so it stands in a module of Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from cuda_graphs.objects import constructors

from .nodes.places import reading_places

if TYPE_CHECKING:
    from .nodes.protocols import Definition

__all__ = ["save"]


def save(
    self: Definition,
    path: str | PathLike[str],
    *,
    inputs: Mapping[str, Any] | None = None,
    outputs: Mapping[str, Any] | None = None,
    include: Sequence[Any] = (),
    architecture: str | None = None,
    architectures: Sequence[str] = (),
) -> None:
    """Write the definition, with the code of its kernels, to a file that `load` reads on another machine and driver.

    path          the file, which is replaced in one step
    inputs, outputs
                  mappings from names to arrays or Buffers that the nodes use. Each becomes a Parameter of the loaded
                  definition, with an array of the same shape and type as its default. A Parameter of this definition
                  may be named too
    include       arrays and Buffers whose contents are saved: those that are no inputs or outputs, and inputs whose
                  default has the contents
    architecture  the oldest GPU for which the host driver saves kernels of Python. None: "sm_80". Newer GPUs run the
                  code too. A file that is saved on a GPU has code for this GPU and newer ones
    architectures GPUs for which the file has cubins beside the PTX, such as ["sm_90", "sm_100"]. They load cubins
                  without compiling, and so do GPUs of the same major and a higher minor version. Other GPUs compile
                  the PTX. Needs nvJitLink: pip install 'cuda-graphs[cubins]'

    Raises SavedGraphError, which lists each node that cannot be saved with its reason: memory that no argument names,
    a part of an input or output, an address as an int, a callback without a name, code of other libraries, and
    PTX that cannot be compiled for one of `architectures`. Raises TypeError and ValueError for other arguments,
    RuntimeError if nvJitLink is needed and not installed, and OSError if the file cannot be written.
    """
    with reading_places():
        constructors.saving().save(
            self,
            path,
            inputs=inputs,
            outputs=outputs,
            include=include,
            architecture=architecture,
            architectures=architectures,
        )
