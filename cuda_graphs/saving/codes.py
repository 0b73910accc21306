# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The code of the kernels of a definition: for the driver that it was built on, and for the other one if possible.

Kernels of Python are compiled again for the other driver. PTX is compiled to cubins for the architectures asked for. It
serves both drivers, and its translation for this CPU is saved too, so that the host driver needs no LLVM. Code for one
GPU alone serves that GPU.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from cuda_graphs.compiler.artifact import OVERFLOW_PATH
from cuda_graphs.compiler.errors import CompileError
from cuda_graphs.core.driver.choice import driver_info
from cuda_graphs.hostdriver.ptx.errors import ImageError
from cuda_graphs.hostdriver.ptx.loader import native_code
from cuda_graphs.kernels.specialisation.origins import origin_of
from cuda_graphs.kernels.targets import CODE_TYPES, other_target
from cuda_graphs.objects.code.object_code import read_signature
from cuda_graphs.objects.device.device import Device

from .cubins import cubin_of
from .schema import Row
from .sizes import TaskSize, describe_task

if TYPE_CHECKING:
    from cuda_graphs.compiler.artifact import Slot
    from cuda_graphs.objects.code.kernel import Kernel

__all__ = ["Blobs", "Codes", "SavedKernel"]

ONLY = ("native", "cubin", "fatbin")  # code types of one driver alone


def is_ptx(code: bytes) -> bool:
    """Return whether code is PTX text, whatever its type says: a cubin of the host driver is."""
    return code.lstrip()[:16].startswith((b"//", b"/*", b".version"))


def types_of(image: Any) -> list[list[Any]] | None:
    """Return the types of the parameters of a kernel; None if neither its name nor its code has them."""
    if image.signatures is not None:
        return [list(each) for each in image.signatures.get(image.entry, ())]
    found = read_signature(image.code, image.entry) if is_ptx(image.code) else []
    return [list(each) for each in found] or None


class Blobs:
    """The blobs of a file: `add` returns the number of one. Equal contents are one blob."""

    def __init__(self) -> None:
        self.all: list[bytes] = []
        self.rows: list[list[Any]] = []
        self._numbers: dict[str, int] = {}

    def add(self, data: bytes) -> int:
        digest = hashlib.sha256(data).hexdigest()
        if digest not in self._numbers:
            self._numbers[digest] = len(self.all)
            self.all.append(data)
            self.rows.append([len(data), digest])
        return self._numbers[digest]


class SavedKernel:
    """A kernel of the file.

    Attributes:
        number: The number of its row.
        slots: What each parameter is, for a kernel of Python; else None.
        temps: {path: bytes} of the temporary arrays of a kernel of Python.
        size: The TaskSize of a kernel of Python, else None.
        problem: Why it has no cubin for one of the architectures asked for, or "".
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.slots: tuple[Slot, ...] | None = None
        self.temps: dict[str, int] = {}
        self.size: TaskSize | None = None
        self.problem = ""


class Codes:
    """The table of kernels.

    Args:
        architecture: The oldest GPU that code is compiled for on the host driver.
        cubins: Names of the architectures for which kernels have cubins, beside their PTX.
    """

    def __init__(self, blobs: Blobs, architecture: str | None, cubins: Sequence[str]) -> None:
        self.rows: list[dict[str, Any]] = []
        self._blobs, self._architecture = blobs, architecture
        self._wanted = cubins
        self._cubins: dict[
            tuple[int, str], int | str
        ] = {}  # blob, or a reason, by blob of PTX and architecture
        self._known: dict[int, SavedKernel] = {}
        self._artifacts: dict[int, Any] = {}  # by Specialisation

    def add(self, kernel: Kernel) -> SavedKernel | None:
        """Return the kernel of the file; None for a kernel whose code is unknown."""
        found = self._known.get(kernel.handle)
        if found is not None:
            return found
        image = kernel._image()
        if image is None:
            return None
        code_type = "ptx" if is_ptx(image.code) else image.code_type
        row: dict[str, Any] = {
            "name": image.entry,
            "label": image.label,
            "code": {code_type: self._blobs.add(image.code)},
            "types": types_of(image),
            "task": None,
            "missing": None,
        }  # fmt: skip
        if code_type in ONLY:
            row["missing"] = f"it has code of the type {code_type!r} alone"
        if code_type == "cubin":
            row["architecture"] = Device().arch
        if image.ptx:
            row["code"]["ptx"], row["missing"] = self._blobs.add(image.ptx), None
        found = self._known[kernel.handle] = SavedKernel(len(self.rows))
        origin = origin_of(kernel)
        if origin is not None:
            self._add_task(found, row, *origin)
        elif "ptx" in row["code"]:
            self._add_translation(row, image.ptx or image.code)
        if self._wanted:
            found.problem = self._add_cubins(row)
        self.rows.append(row)
        return found

    def _add_task(self, found: SavedKernel, row: dict[str, Any], code: Any, number: int) -> None:
        """Add the description of a task, and its code for the other driver."""
        info = code.artifact.tasks[number]
        found.slots, found.temps = info.slots, {OVERFLOW_PATH: 8, **dict(code.artifact.temps)}
        row["task"] = describe_task(info)
        found.size = TaskSize(Row(row["task"], f"the task of {row['name']}"), len(info.slots))
        artifact = self._compiled(code)
        if isinstance(artifact, str):
            row["missing"] = artifact
        elif len(artifact.tasks) != len(code.artifact.tasks) or artifact.tasks[number].slots != info.slots:
            row["missing"] = "its tasks are others on the other driver"
        else:
            row["code"][CODE_TYPES[artifact.target]] = self._blobs.add(artifact.image)
            row["missing"] = None

    def _add_translation(self, row: dict[str, Any], ptx: bytes) -> None:
        """Add the code of PTX for this CPU, if the host driver can translate it."""
        try:
            row["code"]["native"] = self._blobs.add(native_code(ptx))
        except ImageError as error:
            row["missing"] = f"it cannot be translated for the host driver: {str(error).splitlines()[0]}"

    def _add_cubins(self, row: dict[str, Any]) -> str:
        """Add the cubins for all architectures that are wanted; return why there is none for one of them, or ""."""
        ptx, row["cubins"] = row["code"].get("ptx"), {}
        for name in self._wanted:
            number = name.removeprefix("sm_")
            if ptx is None:
                if row.get("architecture") == number:
                    continue  # its own cubin is for this one
                return f"has no PTX to make a cubin for {name} from: {row['missing']}"
            cubin = self._cubin(ptx, name)
            if isinstance(cubin, str):
                return f"has no cubin for {name}: {cubin}"
            row["cubins"][number] = cubin
        return ""

    def _cubin(self, ptx: int, architecture: str) -> int | str:
        """Return the blob of a cubin, or the reason why there is none."""
        if (ptx, architecture) not in self._cubins:
            try:
                cubin: int | str = self._blobs.add(cubin_of(self._blobs.all[ptx], architecture))
            except RuntimeError as error:
                cubin = str(error)
            self._cubins[ptx, architecture] = cubin
        return self._cubins[ptx, architecture]

    def _compiled(self, code: Any) -> Any:
        """Return the artifact for the other driver, or a text with the reason for its absence."""
        if id(code) not in self._artifacts:
            self._artifacts[id(code)] = reason_or(
                lambda: code.recipe.compile(other_target(code.recipe.fast_math, self._architecture))
            )
        return self._artifacts[id(code)]


def reason_or(make: Callable[[], Any]) -> Any:
    """Return the result of `make`, or the message of its error."""
    try:
        return make()
    except (CompileError, RuntimeError) as error:
        where = "a GPU" if driver_info().kind == "host" else "the host driver"
        return f"it cannot be compiled for {where}: {str(error).splitlines()[0]}"
