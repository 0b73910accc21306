# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels: their names, parameters, resources, and occupancy."""

import warnings
from collections import namedtuple

from cpython.object cimport PyObject
from libc.stddef cimport size_t
from libc.stdint cimport uintptr_t
from libcpp.string cimport string
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport (
    CUfunction,
    CUfunction_attribute,
    CUkernel,
    CUlaunchAttribute,
    CUlaunchConfig,
    CUoccupancyB2DSize,
    CUresult,
    driver,
)
from cuda_graphs.core.driver.seam cimport check_attempt, ensure_driver, raise_noted
from cuda_graphs.core.resources.handles cimport (
    KernelBox,
    KernelHandle,
    LibraryHandle,
    Opaque,
    Parameter,
    box_of,
    create_function_ref,
    create_kernel_ref,
    hold_python,
    kernel_name,
    kernel_parameters,
    raw_of,
    signature_texts,
)
from .launch_config cimport MOST_ATTRIBUTES, LaunchConfig, accept_launch_config
from cuda_graphs.objects.numbers cimport is_address, read_address, read_int, read_size, read_unsigned
from cuda_graphs.objects.device.stream cimport Stream, accept_stream
from cuda_graphs.objects.device.device import Device

ParamInfo = namedtuple("ParamInfo", "offset size", module=__name__)
"""The offset of a parameter in the parameter block, and its size; both in bytes."""

CodeImage = namedtuple("CodeImage", "code code_type label entry signatures ptx", defaults=(None,), module=__name__)
"""The image that a kernel came from: its bytes, its type and name as in ObjectCode, the name of the kernel in it, and the
types of its kernels, by name, if the code does not tell them; the PTX of machine code, if that is known. It refers to no
other object, so that it closes no circle."""

MaxPotentialBlockSizeOccupancyResult = namedtuple(
    "MaxPotentialBlockSizeOccupancyResult", "min_grid_size max_block_size", module=__name__
)


cdef class Kernel:
    """A function that runs on a device. `ObjectCode.get_kernel` returns it. It keeps its code loaded."""

    def __init__(self, *args, **kwargs):
        raise RuntimeError("Kernel has no public constructor: use ObjectCode.get_kernel().")

    @staticmethod
    cdef Kernel _from_handle(KernelHandle h):
        cdef Kernel self = Kernel.__new__(Kernel)
        self._h = h
        return self

    @staticmethod
    def from_handle(handle, mod=None, *, owner=None):
        """Return the kernel of a raw CUkernel (an int).

        Args:
            handle: A CUkernel. A kernel that this package knows keeps its code loaded.
            mod: For a foreign kernel: its ObjectCode, which the Kernel keeps loaded.
            owner: For a foreign kernel: any object that keeps its code loaded. The Kernel, and all nodes that launch it,
                keep the object alive.

        Raises:
            TypeError: `handle` is not an int, or `mod` not an ObjectCode.
            ValueError: `handle` is 0.

        Warns:
            UserWarning: The kernel comes from other code than `mod`.
        """
        if not isinstance(handle, int) or isinstance(handle, bool):
            raise TypeError(f"handle must be an int, got {type(handle).__name__}")
        cdef CUkernel raw = <CUkernel><uintptr_t>read_unsigned(handle, "handle", 64)
        if raw == NULL:
            raise ValueError("handle is 0, which is not a kernel")
        ensure_driver()
        cdef LibraryHandle library
        if mod is not None:
            library = load_library_of(mod)
        cdef KernelHandle h = create_kernel_ref(raw, library, owner_of(owner))
        if mod is not None and raw_of((<KernelBox*>box_of[KernelBox](h)).library) != raw_of(library):
            warnings.warn(
                f"the code of kernel {<uintptr_t>raw:#x} does not match the given mod {mod!r}, which is ignored",
                UserWarning,
                stacklevel=2,
            )
        return Kernel._from_handle(h)

    @staticmethod
    def from_function(handle, *, owner=None):
        """Return the kernel of a raw CUfunction (an int), as libraries that load modules have it. It belongs to one
        context.

        Args:
            handle: A CUfunction.
            owner: Any object that keeps its module loaded. The Kernel, and all nodes that launch it, keep the object alive.

        Raises:
            TypeError: `handle` is not an int.
            ValueError: `handle` is 0.
            CUDAError: The handle is not a function.
        """
        if not isinstance(handle, int) or isinstance(handle, bool):
            raise TypeError(f"handle must be an int, got {type(handle).__name__}")
        cdef CUfunction function = <CUfunction><uintptr_t>read_unsigned(handle, "handle", 64)
        if function == NULL:
            raise ValueError("handle is 0, which is not a function")
        ensure_driver()
        cdef KernelHandle h = create_function_ref(function, owner_of(owner))
        cdef const vector[Parameter]* parameters
        with nogil:
            parameters = kernel_parameters(h)
        if parameters == NULL:
            raise_noted(f"asking for the parameters of function {<uintptr_t>function:#x}")
        return Kernel._from_handle(h)

    cdef const vector[Parameter]* _parameters(self) except NULL:
        if self._known_parameters == NULL:
            if not self._h:
                raise RuntimeError("this Kernel was not made by cuda_graphs")
            with nogil:
                self._known_parameters = kernel_parameters(self._h)
            if self._known_parameters == NULL:
                raise_noted(f"asking for the parameters of kernel {self._name()!r}")
        return self._known_parameters

    cdef str _name(self):
        cdef string name
        with nogil:
            name = kernel_name(self._h)
        return name.decode(errors="replace") or hex(self.handle)

    @property
    def handle(self):
        """The CUkernel as an int; for a kernel of `from_function` the CUfunction."""
        return <uintptr_t>raw_of(self._h)

    @property
    def name(self):
        """The name of the kernel in its code (mangled, if the code mangles names); its handle if the driver keeps no
        names."""
        ensure_driver()
        return self._name()

    def _image(self):
        """Return the CodeImage that the kernel came from; None for a kernel of other code."""
        if not self._h:
            return None
        cdef KernelBox* box = box_of[KernelBox](self._h)
        found = <object><PyObject*>box.owner.get() if box.owner else None
        return found if isinstance(found, CodeImage) else None

    @property
    def num_arguments(self):
        """The number of arguments of a launch."""
        return self._parameters().size()

    @property
    def arguments_info(self):
        """A list with a ParamInfo(offset, size) in bytes for each parameter."""
        cdef const vector[Parameter]* parameters = self._parameters()
        return [ParamInfo(parameters[0][i].offset, parameters[0][i].size) for i in range(parameters.size())]

    @property
    def signature(self):
        """The types of the parameters: a tuple of str, ("const float*", "int").

        CUDA C++ source and mangled names tell C++ types, PTX tells "float of 4 bytes", "integer of 4 bytes" or "pointer to an
        unknown type". Other code tells sizes only, "4 bytes of unknown type".
        """
        cdef const vector[Parameter]* parameters = self._parameters()
        return tuple([type_text(parameters[0][i]) for i in range(parameters.size())])

    @property
    def attributes(self):
        """KernelAttributes on the current device; ``kernel.attributes[device]`` on another device."""
        return make_attributes(self, None)

    @property
    def occupancy(self):
        """KernelOccupancy: the number of blocks that fit on the current device."""
        return make_occupancy(self)

    def __eq__(self, other):
        if not isinstance(other, Kernel):
            return NotImplemented
        return raw_of(self._h) == raw_of((<Kernel>other)._h)

    def __hash__(self):
        return hash((Kernel, self.handle))

    def __repr__(self):
        cdef vector[string] types
        if not self._h:
            return "<Kernel of nothing>"
        types = signature_texts(self._h)
        signature = ", ".join([text.decode() for text in types]) if types.size() else "signature unknown"
        return f"<Kernel {self._name()}({signature}) handle={self.handle:#x}>"


cdef str type_text(const Parameter& parameter):
    """Return the type of a parameter in words."""
    if parameter.type.text.empty():
        return f"{parameter.size} byte{'s' * (parameter.size != 1)} of unknown type"
    return parameter.type.text.decode()


cdef class LibraryHolder:
    """Base of ObjectCode."""

    cdef LibraryHandle _load(self):
        raise TypeError(f"{type(self).__name__} objects cannot be made from Python")


cdef LibraryHandle load_library_of(object code) except *:
    if not isinstance(code, LibraryHolder):
        raise TypeError(f"mod must be an ObjectCode, got {type(code).__name__}")
    return (<LibraryHolder>code)._load()


cdef Opaque owner_of(object owner) except *:
    cdef Opaque none
    return none if owner is None else hold_python(<PyObject*>owner)


cdef tuple as_launch(object config, object kernel, tuple args):
    if config is not None:
        accept_launch_config(config)  # raises an error that names the misplaced argument
    make = getattr(type(kernel), "__cuda_graph_kernel__", None)
    if make is None:
        raise TypeError(f"kernel must be a Kernel, got {type(kernel).__name__}")
    config, made, args, *accesses = make(kernel, config, args)
    if not isinstance(made, Kernel):
        raise TypeError(f"{type(kernel).__name__}.__cuda_graph_kernel__ must return a Kernel, got {type(made).__name__}")
    reads, writes = accesses or (None, None)
    return config, made, tuple(args), reads, writes


cdef CUfunction as_function(Kernel kernel) noexcept:
    # cuda.h: a CUkernel may be cast to a CUfunction parameter; it then means the current context.
    return <CUfunction><void*>raw_of(kernel._h)


def function_attribute(int number, str text, bint writable=False, kind=int):
    """Return a property for one CUfunction_attribute; `kind` is the type of its value, int or bool."""

    def get(self):
        return kind(get_attribute(self._kernel, number, self._device_id()))

    def set(self, value):
        set_attribute(self._kernel, number, read_int(value, "a kernel attribute"), self._device_id())

    return property(get, set if writable else None, None, text)


class KernelAttributes:
    """The resources of a kernel on one device. `Kernel.attributes` returns it."""

    __slots__ = ("_device", "_kernel")

    def __init__(self, *args, **kwargs):
        raise RuntimeError("KernelAttributes has no public constructor: use Kernel.attributes.")

    def __getitem__(self, device):
        return make_attributes(self._kernel, Device(device))

    def _device_id(self):
        return (self._device or Device()).device_id

    max_threads_per_block = function_attribute(0, "The maximum number of threads of a block of this kernel.")
    shared_size_bytes = function_attribute(1, "Bytes of static shared memory of a block.")
    const_size_bytes = function_attribute(2, "Bytes of constant memory.")
    local_size_bytes = function_attribute(3, "Bytes of local memory of a thread.")
    num_regs = function_attribute(4, "Registers of a thread.")
    ptx_version = function_attribute(5, "The PTX architecture the kernel was compiled for, 10 * major + minor.")
    binary_version = function_attribute(6, "The machine architecture the kernel was compiled for, 10 * major + minor.")
    cache_mode_ca = function_attribute(7, "True when the kernel was compiled with -Xptxas --dlcm=ca.", kind=bool)
    max_dynamic_shared_size_bytes = function_attribute(
        8, "The maximum bytes of dynamic shared memory of a launch. Raise it for more than 48 KiB.", True
    )
    preferred_shared_memory_carveout = function_attribute(
        9, "The preferred percentage of on-chip memory for shared memory; -1 leaves it to the driver.", True
    )
    cluster_size_must_be_set = function_attribute(10, "True when a launch must set a cluster size.", kind=bool)
    required_cluster_width = function_attribute(11, "The cluster width the kernel was compiled for, or 0.", True)
    required_cluster_height = function_attribute(12, "The cluster height the kernel was compiled for, or 0.", True)
    required_cluster_depth = function_attribute(13, "The cluster depth the kernel was compiled for, or 0.", True)
    non_portable_cluster_size_allowed = function_attribute(
        14, "True when clusters larger than the size that every device supports are allowed.", True, bool
    )
    cluster_scheduling_policy_preference = function_attribute(15, "The CUclusterSchedulingPolicy.", True)


cdef object make_attributes(Kernel kernel, device):
    self = object.__new__(KernelAttributes)
    self._kernel = kernel
    self._device = device
    return self


cdef int get_attribute(Kernel kernel, int number, int device) except? -2:
    cdef int value = 0
    cdef CUfunction function = box_of[KernelBox](kernel._h).function
    cdef CUresult status
    with nogil:
        if function != NULL:  # belongs to one context, and so to one device
            status = driver().cuFuncGetAttribute(&value, <CUfunction_attribute>number, function)
        else:
            status = driver().cuKernelGetAttribute(&value, <CUfunction_attribute>number, raw_of(kernel._h), device)
    if status:
        check_attempt(status, f"ask for attribute {number} of {kernel!r}")
    return value


cdef int set_attribute(Kernel kernel, int number, int value, int device) except -1:
    cdef CUfunction function = box_of[KernelBox](kernel._h).function
    cdef CUresult status
    with nogil:
        if function != NULL:
            status = driver().cuFuncSetAttribute(function, <CUfunction_attribute>number, value)
        else:
            status = driver().cuKernelSetAttribute(<CUfunction_attribute>number, value, raw_of(kernel._h), device)
    return check_attempt(status, f"setting attribute {number} of kernel {kernel._name()!r} to {value}")


class KernelOccupancy:
    """Occupancy of a kernel on the current device. `Kernel.occupancy` returns it."""

    __slots__ = ("_kernel",)

    def __init__(self, *args, **kwargs):
        raise RuntimeError("KernelOccupancy has no public constructor: use Kernel.occupancy.")

    def max_active_blocks_per_multiprocessor(self, block_size, dynamic_shared_memory_size):
        """Return the number of blocks that fit on a multiprocessor. Each has `block_size` threads and
        `dynamic_shared_memory_size` bytes of dynamic shared memory."""
        cdef int blocks = 0, threads = read_int(block_size, "block_size")
        cdef size_t bytes = read_size(dynamic_shared_memory_size, "dynamic_shared_memory_size")
        cdef CUfunction function = as_function(self._kernel)
        cdef CUresult status
        with nogil:
            status = driver().cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads, bytes)
        if status:
            check_attempt(status, f"ask how many blocks of {block_size} threads of {self._kernel!r} fit on a multiprocessor")
        return blocks

    def max_potential_block_size(self, dynamic_shared_memory_needed, block_size_limit):
        """Return the block size of best occupancy, and the smallest grid that fills the device with it.

        Args:
            dynamic_shared_memory_needed: Bytes of dynamic shared memory of a block, an int; or a
                cuda.bindings.driver.CUoccupancyB2DSize, a C function that returns them for a number of threads.
            block_size_limit: The largest block size to consider; 0 for no limit.

        Raises:
            TypeError: An argument has another type.
        """
        cdef int grid = 0, block = 0, limit = read_int(block_size_limit, "block_size_limit")
        cdef CUoccupancyB2DSize size_of = NULL
        cdef size_t bytes = 0
        if is_callback(dynamic_shared_memory_needed):
            size_of = <CUoccupancyB2DSize><uintptr_t>read_address(dynamic_shared_memory_needed, "dynamic_shared_memory_needed")
        else:
            bytes = read_size(dynamic_shared_memory_needed, "dynamic_shared_memory_needed")
        cdef CUfunction function = as_function(self._kernel)
        cdef CUresult status
        with nogil:
            status = driver().cuOccupancyMaxPotentialBlockSize(&grid, &block, function, size_of, bytes, limit)
        if status:
            check_attempt(status, f"ask for the best block size of {self._kernel!r}")
        return MaxPotentialBlockSizeOccupancyResult(grid, block)

    def available_dynamic_shared_memory_per_block(self, num_blocks_per_multiprocessor, block_size):
        """Return the bytes of dynamic shared memory for each block when `num_blocks_per_multiprocessor` blocks share a
        multiprocessor."""
        cdef size_t bytes = 0
        cdef int blocks = read_int(num_blocks_per_multiprocessor, "num_blocks_per_multiprocessor")
        cdef int threads = read_int(block_size, "block_size")
        cdef CUfunction function = as_function(self._kernel)
        cdef CUresult status
        with nogil:
            status = driver().cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function, blocks, threads)
        if status:
            check_attempt(status, f"ask how much shared memory is left for {self._kernel!r}")
        return bytes

    def max_potential_cluster_size(self, config, *, stream=None):
        """Return the largest cluster size (blocks) of a launch with this LaunchConfig."""
        return query_clusters(self._kernel, config, stream, False)

    def max_active_clusters(self, config, *, stream=None):
        """Return the number of clusters of a launch with this LaunchConfig that run at the same time on the device."""
        return query_clusters(self._kernel, config, stream, True)


cdef bint is_callback(object value):
    """Returns True for a CUoccupancyB2DSize of cuda.bindings."""
    return is_address(value) and type(value).__name__ == "CUoccupancyB2DSize"


cdef object make_occupancy(Kernel kernel):
    self = object.__new__(KernelOccupancy)
    self._kernel = kernel
    return self


cdef int query_clusters(Kernel kernel, config, stream, bint active) except? -1:
    cdef LaunchConfig accepted = accept_launch_config(config)
    cdef Stream on = accept_stream(stream) if stream is not None else None
    cdef CUlaunchConfig native
    cdef CUlaunchAttribute attributes[MOST_ATTRIBUTES]
    cdef int answer = 0
    cdef CUfunction function = as_function(kernel)
    cdef CUresult status
    accepted._fill(&native, attributes)
    native.hStream = raw_of(on._h) if on is not None else NULL
    with nogil:
        if active:
            status = driver().cuOccupancyMaxActiveClusters(&answer, function, &native)
        else:
            status = driver().cuOccupancyMaxPotentialClusterSize(&answer, function, &native)
    if status:
        check_attempt(status, f"ask about clusters of {kernel!r}")
    return answer


cdef int keep_image(const KernelHandle& h, object image) except -1:
    cdef KernelBox* box = box_of[KernelBox](h)
    if not box.owner:
        box.owner = hold_python(<PyObject*>image)
    return 0
