# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of a saved graph. The driver of this process loads the first code of the file that it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuda_graphs.core.driver.choice import driver_info
from cuda_graphs.errors import ImageError, SavedGraphError
from cuda_graphs.objects.code.object_code import make_object_code
from cuda_graphs.objects.code.signature import FORMS, Type
from cuda_graphs.objects.device.device import Device

from .schema import Row, check_index, check_int, check_list, fail
from .sizes import TaskSize

if TYPE_CHECKING:
    from cuda_graphs.objects.code.kernel import Kernel
    from cuda_graphs.objects.code.object_code import ObjectCode

    from .archive import Archive

__all__ = ["LoadedKernel", "load_kernels"]

# Code types that each driver loads, the best first.
CODE_TYPES = {"host": ("native", "ptx"), "cuda": ("cubin", "fatbin", "ptx")}
NAMES = {"host": "the host driver", "cuda": "a GPU"}
TYPE_FIELDS = (str, str, int, str, int, bool)


class LoadedKernel:
    """A kernel of the file.

    Attributes:
        kernel: The Kernel.
        sizes: The bytes of its parameters.
        task: The TaskSize of a kernel of Python, else None.
    """

    def __init__(self, kernel: Kernel, row: Row) -> None:
        self.kernel = kernel
        self.sizes = [info.size for info in kernel.arguments_info]
        self.task: TaskSize | None = None
        if row.get("task") is not None:
            self.task = TaskSize(Row(row.get("task"), f"task of {row.where}"), len(self.sizes))


def load_kernels(archive: Archive) -> list[LoadedKernel]:
    """Load the code of all kernels.

    Raises:
        SavedGraphError: A row is wrong, or a kernel has no code for this driver.
    """
    objects: dict[tuple[int, str], ObjectCode] = {}
    found = []
    for number, data in enumerate(archive.manifest["kernels"]):
        row = Row(data, f"kernel {number}")
        found.append(LoadedKernel(load_kernel(archive, row, objects), row))
    return found


def load_kernel(archive: Archive, row: Row, objects: dict[tuple[int, str], ObjectCode]) -> Kernel:
    kind = driver_info().kind
    codes = Row(row.get("code"), f"code of {row.where}")
    types = types_of(row)
    refused: Exception | None = None
    for code_type in CODE_TYPES[kind]:
        if codes.get(code_type) is None or (
            code_type == "cubin" and row.get("architecture") != Device().arch
        ):
            continue
        key = codes.index(code_type, archive.manifest["blobs"]), repr((code_type, row.get("name"), types))
        if key not in objects:
            signatures = None if types is None else {row.text("name"): types}
            objects[key] = make_object_code(
                archive.blob(key[0]), code_type, row.text("label"), None, signatures
            )
        try:
            return objects[key].get_kernel(row.text("name"))
        except (
            ImageError,
            ValueError,
        ) as error:  # made for another CPU or a later driver: the next code may do
            refused = error
    why = (
        f": {row.optional_text('missing')}"
        if row.get("missing")
        else f" but {', '.join(map(str, codes.data))}"
    )
    if refused is None:
        raise SavedGraphError(f"kernel {row.text('name')!r} has no code for {NAMES[kind]}{why}")
    raise SavedGraphError(f"kernel {row.text('name')!r} cannot be loaded: {refused}") from refused


def types_of(row: Row) -> list[Type] | None:
    """Return the types of the parameters of a kernel; None if its code tells them."""
    if row.get("types") is None:
        return None
    found = []
    for data in row.list("types"):
        where = f"a type of {row.where}"
        fields = check_list(data, where, len(TYPE_FIELDS))
        for value, kind in zip(fields, TYPE_FIELDS, strict=True):
            if type(value) is not kind:
                fail(where, f"has {value!r} in place of {kind.__name__}")
        check_index(FORMS.index(fields[1]) if fields[1] in FORMS else -1, where, FORMS)
        check_index(FORMS.index(fields[3]) if fields[3] in FORMS else -1, where, FORMS)
        check_int(fields[2], where, 0, 2**16)
        check_int(fields[4], where, 0, 2**16)
        found.append(Type(*fields))
    return found
