# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""ObjectCode: compiled code, loaded at the first request for a kernel."""

import os
from collections.abc import Mapping

from libc.stddef cimport size_t
from libc.stdint cimport uintptr_t
from libc.stdlib cimport free
from libcpp.string cimport string
from libcpp.vector cimport vector

from cuda_graphs.core.driver import seam
from cuda_graphs.core.driver.cuda cimport CUresult
from cuda_graphs.core.driver.seam cimport check_attempt, ensure_driver, raise_noted
from cuda_graphs.core.resources.handles cimport (
    KernelHandle,
    LibraryHandle,
    KernelType,
    ValueForm,
    get_kernel,
    kernel_names,
    load_library,
    load_log,
    raw_of,
    set_signature,
    take_noted_error,
)
from .kernel cimport Kernel, LibraryHolder, keep_image
from .kernel import CodeImage
from .signature import FORMS, from_function, from_ptx
from cuda_graphs.errors import ImageError

cdef extern from "<cxxabi.h>" namespace "abi" nogil:
    char* __cxa_demangle(const char* name, char* buffer, size_t* length, int* status)

LOADABLE = ("cubin", "ptx", "fatbin", "native")
CODE_TYPES = (*LOADABLE, "ltoir", "object", "library")


cdef class ObjectCode(LibraryHolder):
    """Compiled code. `Program.compile` returns it; ``ObjectCode.from_ptx(...)`` and similar methods accept existing
    code.

    The first `get_kernel` loads it. It is unloaded when this object and all its kernels are deleted.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError(
            "ObjectCode has no public constructor: use Program.compile(), or ObjectCode.from_cubin() "
            "and similar methods."
        )

    @staticmethod
    def from_cubin(module, *, name="", symbol_mapping=None):
        """Return ObjectCode of type "cubin".

        Args:
            module: The code as bytes, or the path of its file.
            name: The name of the code in messages.
            symbol_mapping: A mapping from names for `get_kernel` to names in the code.
        """
        return make_object_code(module, "cubin", name, symbol_mapping)

    @staticmethod
    def from_ptx(module, *, name="", symbol_mapping=None):
        """Return ObjectCode of PTX text, given as bytes or a file; see `from_cubin`."""
        return make_object_code(module, "ptx", name, symbol_mapping)

    @staticmethod
    def from_fatbin(module, *, name="", symbol_mapping=None):
        """Return ObjectCode of a fat binary, given as bytes or a file; see `from_cubin`."""
        return make_object_code(module, "fatbin", name, symbol_mapping)

    @staticmethod
    def from_ltoir(module, *, name="", symbol_mapping=None):
        """Return ObjectCode of link-time-optimisation IR, given as bytes or a file. It can be stored, but not loaded; see
        `from_cubin`."""
        return make_object_code(module, "ltoir", name, symbol_mapping)

    @staticmethod
    def from_object(module, *, name="", symbol_mapping=None):
        """Return ObjectCode of an object file with device code, given as bytes or a file. It can be stored, but not
        loaded; see `from_cubin`."""
        return make_object_code(module, "object", name, symbol_mapping)

    @staticmethod
    def from_library(module, *, name="", symbol_mapping=None):
        """Return ObjectCode of an archive with device code, given as bytes or a file. It can be stored, but not loaded;
        see `from_cubin`."""
        return make_object_code(module, "library", name, symbol_mapping)

    @staticmethod
    def from_native(module, *, name="", symbol_mapping=None):
        """Return ObjectCode of a native image, given as bytes or a file. The kernel compiler creates it for a CPU, and
        the host driver loads it."""
        return make_object_code(module, "native", name, symbol_mapping)

    cdef LibraryHandle _load(self):
        if not self._h:
            load(self)
        return self._h

    def get_kernel(self, name):
        """Return the kernel of that name.

        Args:
            name: str or bytes: a key of `symbol_mapping`, or the name in the code.

        Raises:
            TypeError: `name` is neither str nor bytes.
            ValueError: The name contains a NUL.
            RuntimeError: Code of this type cannot be loaded.
            ImageError: The driver refuses the code; `log` gives the cause.
            CUDAError: The code has no kernel of that name.
        """
        if not isinstance(name, str | bytes):
            raise TypeError(f"name must be a str or bytes, got {type(name).__name__}")
        wanted = self._symbols.get(name, name)
        cdef bytes raw_name = wanted.encode() if isinstance(wanted, str) else bytes(wanted)
        if b"\0" in raw_name:
            raise ValueError(f"name must not contain a NUL, got {wanted!r}")
        cdef const char* text = raw_name
        cdef LibraryHandle library = self._load()
        cdef KernelHandle h
        with nogil:
            h = get_kernel(library, text)
        if not h:
            raise_for_kernel(self, raw_name.decode(errors="replace"))
        entry = raw_name.decode(errors="replace")
        set_signature(h, as_types(signature_of(self, entry)))
        keep_image(h, CodeImage(self._code, self._code_type, self._label, entry, self._signatures, self._ptx))
        return Kernel._from_handle(h)

    @property
    def code(self):
        """The code, bytes."""
        return self._code

    @property
    def code_type(self):
        """"cubin", "ptx", "fatbin", "native", "ltoir", "object" or "library"."""
        return self._code_type

    @property
    def name(self):
        """The name in messages."""
        return self._label

    @property
    def symbol_mapping(self):
        """A copy of the mapping from names for `get_kernel` to names in the code."""
        return dict(self._symbols)

    @property
    def handle(self):
        """The CUlibrary as an int; loads the code."""
        return <uintptr_t>raw_of(self._load())

    def __eq__(self, other):
        return self is other if isinstance(other, ObjectCode) else NotImplemented

    def __hash__(self):
        return hash((ObjectCode, <uintptr_t><void*>self))

    def __reduce__(self):
        return make_object_code, (
            self._code, self._code_type, self._label, self._symbols, self._signatures, self._ptx
        )

    def __repr__(self):
        handle = f"{<uintptr_t>raw_of(self._h):#x}" if self._h else "not loaded"
        return f"<ObjectCode handle={handle} code_type={self._code_type}>"


def make_object_code(
    module, str code_type, str name="", symbol_mapping=None, signatures=None, bytes ptx=None
) -> ObjectCode:
    """Return ObjectCode of any of CODE_TYPES, from bytes or the path of a file.

    `signatures` is a dict with the types of kernels, by their names in the code. None reads them from the code. `ptx` is the
    PTX of which machine code was made, for files that other GPUs and the host driver load.
    """
    if isinstance(module, (str, os.PathLike)):
        with open(module, "rb") as file:
            name = name or os.fspath(module)
            module = file.read()
    elif not isinstance(module, (bytes, bytearray, memoryview)):
        raise TypeError(f"module must be the code as bytes or the path of a file, got {type(module).__name__}")
    if symbol_mapping is not None and not isinstance(symbol_mapping, Mapping):
        raise TypeError(f"symbol_mapping must be a mapping or None, got {type(symbol_mapping).__name__}")
    cdef ObjectCode self = ObjectCode.__new__(ObjectCode)
    self._code = bytes(module)
    self._code_type = code_type
    self._label = name
    self._symbols = dict(symbol_mapping or {})
    self._signatures = signatures
    self._ptx = ptx
    return self


cpdef str demangle(str name):
    """Return the C++ function that a mangled name stands for, "f(int)"; None for other names."""
    cdef int status = 0
    cdef bytes encoded = name.encode()
    cdef char* text = __cxa_demangle(encoded, NULL, NULL, &status) if encoded.startswith(b"_Z") else NULL
    if text == NULL:
        return None
    try:
        return (<bytes>text).decode()
    finally:
        free(text)


cdef list signature_of(ObjectCode self, str name):
    """Return the Types of a kernel's parameters; an empty list if nothing tells them."""
    if self._signatures is not None:
        return self._signatures.get(name, [])
    return read_signature(self._code, name)


cpdef list read_signature(bytes code, str name):
    """Return the Types of a kernel's parameters from its mangled name, or from PTX; an empty list if neither tells them."""
    in_ptx = from_ptx(code, name)
    function = demangle(name)
    if function is not None and function.endswith(")"):
        types = from_function(function)
        # Names of other compilers may be mangled without being C++: their parameters differ from the code's.
        if in_ptx is None or [each.size or other.size for each, other in zip(types, in_ptx)] == [e.size for e in in_ptx]:
            return types
    return in_ptx or []


def tell_types(Kernel kernel not None, bytes code not None, str name):
    """Give a kernel the types of its parameters, as far as its code tells them."""
    set_signature(kernel._h, as_types(read_signature(code, name)))


cdef vector[KernelType] as_types(list signature) except *:
    cdef vector[KernelType] types
    cdef KernelType type
    for each in signature:
        type.text, type.size, type.element_size = each.text.encode(), each.size, each.element_size
        type.form = <ValueForm><int>FORMS.index(each.form)
        type.element = <ValueForm><int>FORMS.index(each.element)
        type.is_read_only = each.is_read_only
        types.push_back(type)
    return types


cdef str describe(ObjectCode self):
    label = repr(self._label) if self._label else "unnamed code"
    return f"{label} ({self._code_type}, {len(self._code)} bytes)"


cdef int load(ObjectCode self) except -1:
    if self._code_type not in LOADABLE:
        raise RuntimeError(
            f"code of type {self._code_type!r} cannot be loaded, only {', '.join(LOADABLE)}: link it to a cubin first"
        )
    ensure_driver()
    if self._code_type == "native":
        check_length(self)
    cdef const char* image = self._code  # a bytes object ends with an uncounted NUL, which PTX text needs
    cdef bint prints = may_print(self)
    cdef LibraryHandle h
    with nogil:
        h = load_library(image, prints)
    if not h:
        raise_noted(f"loading {describe(self)}", seam.last_load_log() or ask_log(self))
    if not self._h:  # another thread may have loaded it while the GIL was released
        self._h = h
    return 0


cdef bint may_print(ObjectCode self) noexcept:
    """Returns False for code without a call of printf, which names `vprintf`. A fatbin may be compressed."""
    return self._code_type == "fatbin" or b"vprintf" in self._code


cdef int check_length(ObjectCode self) except -1:
    """Refuses a truncated image: cuLibraryLoadData does not know the length, so a driver would read past the end."""
    size = int.from_bytes(self._code[16:24], "little")  # image_loader.h has the format
    if self._code[:8] != b"\x7fCGHOBJ\n" or size != len(self._code):
        raise ValueError(f"{describe(self)} is not a native image, or is truncated; compile it again")
    return 0


cdef str ask_log(ObjectCode self):
    cdef const char* image = self._code
    with nogil:
        log = load_log(image)
    return log.decode(errors="replace")


cdef int raise_for_kernel(ObjectCode self, str name) except -1:
    """Raises the error of a failed get_kernel. The driver may compile code this late, so the code itself may be
    refused."""
    attempt = f"get_kernel({name!r}) of {describe(self)}"
    cdef CUresult status = take_noted_error().status
    cdef vector[string] names
    cdef bint known
    with nogil:
        known = kernel_names(self._h, names)
    if known:
        listed = ", ".join(repr(name.decode(errors="replace")) for name in names)
        attempt += f", which has {listed or 'no kernels'}"
    try:
        check_attempt(status, f"{attempt} (cuLibraryGetKernel)")
    except ImageError as error:
        error.log = seam.last_load_log() or ask_log(self)
        raise
