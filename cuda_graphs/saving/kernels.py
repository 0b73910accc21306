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
    rows = [Row(data, f"kernel {number}") for number, data in enumerate(archive.manifest["kernels"])]
    codes = Codes(archive, rows)
    return [LoadedKernel(codes.kernel(row), row) for row in rows]


class Codes:
    """The code of all kernels. Kernels of one image share its ObjectCode."""

    def __init__(self, archive: Archive, rows: list[Row]) -> None:
        self._archive, self._kind = archive, driver_info().kind
        self._objects: dict[tuple[int, str, bool], ObjectCode] = {}
        self._types: dict[tuple[int, str, bool], dict[str, list[Type]]] = {}
        for row in rows:
            types = types_of(row)
            for key in self._keys(row):
                self._types.setdefault(key, {})[row.text("name")] = types or []

    def _keys(self, row: Row) -> list[tuple[int, str, bool]]:
        """Return (blob, code type, whether the file has the types) of each code of a kernel for this driver."""
        codes = Row(row.get("code"), f"code of {row.where}")
        found = [each for each in CODE_TYPES[self._kind] if codes.get(each) is not None]
        if row.get("architecture") != Device().arch:
            found = [each for each in found if each != "cubin"]
        blobs = self._archive.manifest["blobs"]
        return [(codes.index(each, blobs), each, row.get("types") is not None) for each in found]

    def kernel(self, row: Row) -> Kernel:
        """Return the kernel of a row."""
        name = row.text("name")
        refused: Exception | None = None
        for key in self._keys(row):
            number, code_type, has_types = key
            if key not in self._objects:
                types = self._types[key] if has_types else None
                code = self._archive.blob(number)
                self._objects[key] = make_object_code(code, code_type, row.text("label"), None, types)
            try:
                return self._objects[key].get_kernel(name)
            except (
                ImageError,
                ValueError,
            ) as error:  # for another CPU or a later driver: the next code may do
                refused = error
        if refused is not None:
            raise SavedGraphError(f"kernel {name!r} cannot be loaded: {refused}") from refused
        has = ", ".join(Row(row.get("code"), row.where).data) or "none"
        raise SavedGraphError(
            f"kernel {name!r} has no code for {NAMES[self._kind]}: {row.optional_text('missing') or f'it has {has}'}"
        )


def types_of(row: Row) -> list[Type] | None:
    """Return the types of the parameters of a kernel; None if its code tells them."""
    if row.get("types") is None:
        return None
    found = []
    for data in row.items("types"):
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
