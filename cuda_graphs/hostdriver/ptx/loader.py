# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The entry point: image bytes -> LoadedImage. Its `address` is a cgh_image of `hostdriver/image_loader.h`."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cuda_graphs.native import llvm, trace
from cuda_graphs.native.image import is_native_image
from cuda_graphs.native.loaded_code import LoadedCode

from . import abi, native_image
from .errors import INVALID_IMAGE, NO_BINARY_FOR_GPU, OUT_OF_MEMORY, ImageError, invalid_ptx

if TYPE_CHECKING:
    from cuda_graphs.hostdriver.ptx.lowering.instrumentation import Wants


class Param(ctypes.Structure):
    _fields_ = [("offset", ctypes.c_uint32), ("size", ctypes.c_uint32)]


class Kernel(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("entry", ctypes.c_void_p),
        ("params", ctypes.POINTER(Param)),
        ("param_count", ctypes.c_uint32),
        ("param_bytes", ctypes.c_uint32),
        ("static_shared_bytes", ctypes.c_uint32),
        ("local_bytes", ctypes.c_uint32),
        ("const_bytes", ctypes.c_uint32),
        ("registers", ctypes.c_uint32),
        ("max_threads_per_block", ctypes.c_uint32),
        ("required_block", ctypes.c_uint32 * 3),
        ("uses_barrier", ctypes.c_uint32),
        ("uses_cluster", ctypes.c_uint32),
        ("required_cluster", ctypes.c_uint32 * 3),
        ("ptx_version", ctypes.c_uint32),
        ("binary_version", ctypes.c_uint32),
        ("is_open_ended", ctypes.c_uint32),
        ("is_instrumented", ctypes.c_uint32),
    ]


class Global(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("address", ctypes.c_void_p), ("bytes", ctypes.c_uint64)]


class Image(ctypes.Structure):
    _fields_ = [
        ("kernels", ctypes.POINTER(Kernel)),
        ("globals", ctypes.POINTER(Global)),
        ("kernel_count", ctypes.c_uint32),
        ("global_count", ctypes.c_uint32),
        ("owner", ctypes.c_void_p),
    ]


# Code finds the functions of cgh_services in one of two ways. Code translated here reads its own table, which is filled
# after linking. A native image imports the functions by name.
FUNCTIONS = ctypes.c_void_p * len(abi.SERVICES)
SERVICES = FUNCTIONS.from_address


class Services(ctypes.Structure):
    _fields_ = [("functions", FUNCTIONS), ("wants", ctypes.c_uint64)]


Link = Callable[[bytes, list[str], int], LoadedCode]


def _with_table(code: bytes, symbols: list[str], services: int) -> LoadedCode:
    from cuda_graphs.hostdriver.ptx.lowering.services import TABLE

    try:
        linked = LoadedCode(code, [TABLE, *symbols])
    except RuntimeError as error:
        raise ImageError(OUT_OF_MEMORY, f"the module cannot be placed in memory: {error}") from None
    ctypes.memmove(linked[TABLE], services, ctypes.sizeof(SERVICES(services)))
    return linked


def _with_imports(code: bytes, symbols: list[str], services: int) -> LoadedCode:
    found = zip(abi.SERVICES, SERVICES(services), strict=True)
    try:
        return LoadedCode(code, symbols, {f"cgh_{name}": address for name, address in found})
    except RuntimeError as error:  # a name that it imports or should export is missing
        raise ImageError(INVALID_IMAGE, f"the native image cannot be linked: {error}") from None


class LoadedImage:
    """Code in this process with its C description. The code is unloaded with this object."""

    def __init__(self, description: dict, code: bytes, services: int, link: Link):
        kernels, variables = description["kernels"], description["globals"]
        symbols = [kernel["symbol"] for kernel in kernels] + [symbol for _, symbol, _ in variables]
        self._code = link(code, symbols, services)
        self._params = [_params(kernel["params"]) for kernel in kernels]
        self._kernels = (Kernel * len(kernels))()
        for out, kernel, params in zip(self._kernels, kernels, self._params, strict=True):
            self._fill(out, kernel, params)
        self._globals = (Global * len(variables))()
        for found, (name, symbol, size) in zip(self._globals, variables, strict=True):
            found.name, found.address, found.bytes = name.encode(), self._code[symbol], size
        self.image = Image(self._kernels, self._globals, len(kernels), len(variables), None)
        self.address = ctypes.addressof(self.image)

    def _fill(self, out: Kernel, kernel: dict, params: ctypes.Array) -> None:
        out.name = kernel["name"].encode()
        out.entry = self._code[kernel["symbol"]]
        out.params = params
        out.param_count = len(params)
        out.required_block = (ctypes.c_uint32 * 3)(*kernel["required_block"])
        out.required_cluster = (ctypes.c_uint32 * 3)(*kernel["required_cluster"])
        for field in [
            "param_bytes",
            "static_shared_bytes",
            "local_bytes",
            "const_bytes",
            "registers",
            "max_threads_per_block",
            "uses_barrier",
            "uses_cluster",
            "ptx_version",
            "binary_version",
            "is_open_ended",
            "is_instrumented",
        ]:
            setattr(out, field, kernel[field])


def _params(layout: list) -> ctypes.Array:
    found = (Param * len(layout))()
    for param, (offset, size) in zip(found, layout, strict=True):
        param.offset, param.size = offset, size
    return found


@contextmanager
def _nesting() -> Iterator[None]:
    try:
        yield
    except RecursionError:
        raise invalid_ptx("the PTX is nested too deeply") from None


def translate(text: str, wants: Wants | None = None) -> tuple[dict, str]:
    """Translates PTX text and returns (description, LLVM IR)."""
    from cuda_graphs.hostdriver.ptx.lowering.instrumentation import NOTHING
    from cuda_graphs.hostdriver.ptx.module_lowering import ModuleLowering

    from .units import parse

    with _nesting():
        with trace.timed("PTX parse"):
            module = parse(text)
        with trace.timed("PTX lowering"):
            lowered = ModuleLowering(module, wants or NOTHING).lower()
    return lowered.description(), lowered.ir


def _text(image: bytes) -> str:
    try:
        return image.decode("utf-8")
    except UnicodeDecodeError as error:
        raise invalid_ptx(f"the text is not UTF-8: {error}") from None


def _load_ptx(image: bytes, bits: int) -> tuple[dict, bytes]:
    # Native images need none of these, and are loaded in first calls.
    from cuda_graphs.hostdriver.ptx.lowering.instrumentation import Wants

    from . import cache, code_generation

    image, wants = image.rstrip(b"\0"), Wants.of(bits)
    name = cache.key(image, {**code_generation.depends_on(), "wants": repr(wants)})
    entry = cache.load(name)
    if entry is None:
        description, ir = translate(_text(image), wants)
        entry = description, code_generation.object_code(ir)
        cache.store(name, *entry)
    return entry


def _check_parts(image: bytes, bits: int) -> tuple[dict, bytes]:
    """Checks each text of an unfinished link by itself, and returns an empty module."""
    from . import units

    with _nesting():
        units.check_parts(_text(image))
    return _load_ptx(b".version 8.0 .target sm_50 .address_size 64", bits)


def _read_native(image: bytes, bits: int) -> tuple[dict, bytes]:
    return native_image.read(image)


def _refuse_gpu_code(image: bytes, bits: int) -> tuple[dict, bytes]:
    raise ImageError(
        NO_BINARY_FOR_GPU, "this image has GPU machine code; the host driver runs PTX: compile to PTX"
    )


def _is_parts(image: bytes) -> bool:
    return image.startswith(PARTS)


def _is_ptx(image: bytes) -> bool:
    start = image.lstrip()[:16]
    return start.startswith((b"//", b"/*", b".version"))


# The first line that the driver's linker writes before texts that are to be checked (units.py).
PARTS = b"// linked by the host driver of cuda_graphs: parts"

# Kinds of image: (test, function that returns (description, object code), function that links). The first match counts.
# The second gets the bits of cgh_services.wants, too.
Build = Callable[[bytes, int], tuple[dict, bytes]]
KINDS: tuple[tuple[Callable[[bytes], bool], Build, Link], ...] = (
    (is_native_image, _read_native, _with_imports),
    (_is_parts, _check_parts, _with_table),
    (_is_ptx, _load_ptx, _with_table),
    (lambda image: image.startswith(b"\x7fELF"), _refuse_gpu_code, _with_table),
    (lambda image: image.startswith(b"\x50\xed\x55\xba"), _refuse_gpu_code, _with_table),  # a fatbin
)


def native_code(ptx: bytes) -> bytes:
    """Returns the native image of PTX for this CPU, which the host driver loads without LLVM. Raises ImageError."""
    from cuda_graphs.hostdriver.ptx.lowering.services import TABLE

    if os.uname().machine != "x86_64":
        raise ImageError(NO_BINARY_FOR_GPU, "native code of PTX is made for x86-64 CPUs only")
    with llvm.LOCK:
        description, code = _load_ptx(ptx, 0)
        return native_image.pack(description, code, TABLE)


def load(image: bytes, services: int) -> LoadedImage:
    """Loads an image. `services` is the address of a cgh_services. Raises ImageError."""
    image = bytes(image)
    bits = Services.from_address(services).wants
    for fits, build, link in KINDS:
        if fits(image):
            with llvm.LOCK, trace.timed("image load"):
                description, code = build(image, bits)
                return LoadedImage(description, code, services, link)
    raise ImageError(INVALID_IMAGE, "the image is neither PTX text nor another known format")
