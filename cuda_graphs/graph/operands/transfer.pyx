# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Copies and fills: converts operands (addresses, Buffers, arrays) and shapes to the parameters of memcpy and memset nodes.

An address has no known size, and the user may name its owner. A Buffer has a size, an array also a layout; both own their
memory. copy_shape.py and fill.py compute shapes. This module handles contiguous bytes without them, since that takes 15 us less.
"""

from numbers import Real

from libc.math cimport isfinite, isinf
from libc.stddef cimport size_t

from cuda_graphs.core.driver.cuda cimport CUcontext, CUdeviceptr, CUresult
from cuda_graphs.core.driver.cuda_graph cimport (
    CU_MEMORYTYPE_UNIFIED,
    CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS_v2,
    CUmemorytype,
)
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.graphs.graph_handles cimport (
    Field,
    NodeKind,
    NodeSpec,
    ValueType,
    bytes_of,
    destination_of,
    find_memory_range,
    from_bf16,
    set_destination,
    set_source,
    source_of,
    to_bf16,
)
from cuda_graphs.core.resources.device_scope cimport (
    CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
    enable_peer_access,
    find_device,
    has_several_devices,
    kNoDevice,
)
from cuda_graphs.core.resources.handles cimport Opaque
from cuda_graphs.objects.device.context cimport context_of_device
from cuda_graphs.objects.memory.array_view cimport ArrayView
from cuda_graphs.objects.memory.buffer cimport parse_fill_value
from cuda_graphs.objects.numbers cimport read_size
from .operands cimport Memory, accept_context, find_type, kUnbounded, packed_bytes, read_operand
from .parameter cimport (
    ArrayParameter,
    Parameter,
    Temporary,
    drop_use,
    has_use,
    is_temporary,
    use_bytes,
    use_element,
    use_extent,
    use_of,
    use_pointer,
)
from . import fill
from .copy_shape import Extents, Operand, Shape, Side, explicit_shape, shape_of


cdef int check_writable(ArrayView array, object value) except -1:
    if array is not None and array.is_read_only:
        raise ValueError(f"dst is a read-only {type(value).__name__}")
    return 0


cdef size_t contiguous_bytes(Memory* memory, ArrayView array) except? 0xBAD:
    """Return the bytes of an operand whose bytes follow one another; 0 if they do not, or their number is unknown."""
    if array is not None:
        return packed_bytes(array)
    return 0 if memory.size == kUnbounded else memory.size


cdef object operand(str name, Memory* target, ArrayView array):
    return Operand(name, None if target.size == kUnbounded else target.size, array)


cdef ArrayView memory_of(
    NodeSpec& spec, object value, str name, Field field, object owner, Memory* memory, Opaque* keeper
):
    """Read an operand that may be a Parameter. Returns its layout if it is an array."""
    if not isinstance(value, Parameter):
        drop_use(spec, field)
        return read_operand(value, name, owner, memory, keeper)
    if owner is not None:
        raise ValueError(f"{name}_owner is for addresses only: {name} is a Parameter, whose values the graph keeps itself")
    memory.size = kUnbounded
    memory.address = use_pointer(spec, value, name, field, keeper)
    if isinstance(value, ArrayParameter) and ((<Parameter>value)._named().initial.known or is_temporary((<Parameter>value)._p)):
        memory.size = bytes_of((<Parameter>value)._named().type, (<Parameter>value)._named().initial)
    return None


cdef int limit_reach(NodeSpec& spec, Field field, Memory* memory, ArrayView array, str name) except -1:
    """Let the rules of the node refuse sizes that go beyond the end of an operand that is no parameter."""
    cdef size_t most = memory.size
    if spec.uses.empty() or has_use(spec, field):
        return 0
    if array is not None:
        most = operand(name, memory, array).layout().extent
    elif most == kUnbounded:
        most = bytes_from(memory.address, name)
    spec.rules.most = min(spec.rules.most, most)
    return 0


cdef size_t bytes_from(CUdeviceptr address, str name) except? 0xBAD:
    """Return the number of bytes from an address to the end of its memory; kUnbounded if the driver does not know it."""
    cdef CUdeviceptr start = 0, end = 0
    cdef CUresult status
    with nogil:
        status = find_memory_range(address, &start, &end)
    check_attempt(status, f"find the memory of {name} at {address:#x}")
    return end - address if end else kUnbounded


cdef ArrayParameter bytes_source(object dst, object src):
    """Return the parameter whose bytes are the size of a copy without a size, or None."""
    if isinstance(src, ArrayParameter):
        return <ArrayParameter>src
    return <ArrayParameter>dst if isinstance(dst, ArrayParameter) else None


cdef size_t extent_of(NodeSpec& spec, object value, str name) except? 0xBAD:
    if isinstance(value, Parameter):
        return use_extent(spec, value, name)
    drop_use(spec, Field.kExtent)
    return read_size(value, name)


# ---- memcpy

cdef tuple NO_EXTENTS = (None,) * len(Extents._fields)


cdef int read_memcpy(
    NodeSpec& spec, object dst, object src, object size, tuple extents, object dst_owner, object src_owner
) except -1:
    spec.begin(NodeKind.kMemcpy)
    return fill_memcpy(spec, dst, src, size, extents, dst_owner, src_owner, None)


cdef int change_memcpy(
    NodeSpec& spec, object dst, object src, object size, tuple extents, object dst_owner, object src_owner
) except -1:
    cdef CUDA_MEMCPY3D* copy = &spec.params.memcpy.copyParams
    if dst is None and dst_owner is not None:
        raise ValueError("dst_owner requires dst")
    if src is None and src_owner is not None:
        raise ValueError("src_owner requires src")
    if dst is None:
        dst = use_of(spec, Field.kDestination, <size_t>first_destination_byte(copy[0]))
    if src is None:
        src = use_of(spec, Field.kSource, <size_t>first_source_byte(copy[0]))
    if size is None and (extents is None or extents == NO_EXTENTS):
        size = use_of(spec, Field.kExtent, None)
        if size is None and not has_use(spec, Field.kBytes) and bytes_source(dst, src) is not None:
            size = shape_of_copy(copy[0]).size
    return fill_memcpy(spec, dst, src, size, extents, dst_owner, src_owner, shape_of_copy(copy[0]))


cdef int fill_memcpy(
    NodeSpec& spec, object dst, object src, object size, tuple extents, object dst_owner, object src_owner, object before
) except -1:
    cdef CUDA_MEMCPY3D* copy = &spec.params.memcpy.copyParams
    cdef Memory to, source
    cdef ArrayParameter whole = bytes_source(dst, src) if size is None and extents in (None, NO_EXTENTS) else None
    cdef size_t written, read, both, count = 0 if size is None else extent_of(spec, size, "size")
    spec.rules.most = kUnbounded
    drop_use(spec, Field.kBytes)
    cdef ArrayView to_array = memory_of(spec, dst, "dst", Field.kDestination, dst_owner, &to, &spec.owners.first)
    cdef ArrayView source_array = memory_of(spec, src, "src", Field.kSource, src_owner, &source, &spec.owners.second)
    check_writable(to_array, dst)
    written, read = contiguous_bytes(&to, to_array), contiguous_bytes(&source, source_array)
    both = written if written == read else 0
    spec.params.memcpy.copyCtx = accept_context("memcpy node")
    if extents is not None and extents != NO_EXTENTS:
        given = read_extents(extents)
        if size is not None:
            raise TypeError("size is for copies in one dimension: give width, height and depth instead")
        set_shape(copy, explicit_shape(
            operand("dst", &to, to_array), operand("src", &source, source_array), given, before))
    elif whole is not None or isinstance(size, Parameter) or size is not None and to_array is None and source_array is None and before is None:
        check_contiguous("dst", to_array)
        check_contiguous("src", source_array)
        if whole is not None:
            drop_use(spec, Field.kExtent)
            count = use_bytes(spec, whole)
            if is_temporary(whole._p) and written and read and written != read:
                raise ValueError(f"dst has {written} bytes and src {read}: give size, or arrays of one size")
        check_size(count, "dst", to.size)
        check_size(count, "src", source.size)
        copy.WidthInBytes, copy.Height, copy.Depth = count, 1, 1
    elif both and before is None and (size is None or count == both):
        copy.WidthInBytes, copy.Height, copy.Depth = both, 1, 1
    else:
        set_shape(copy, shape_of(
            operand("dst", &to, to_array), operand("src", &source, source_array), None if size is None else count, before))
    limit_reach(spec, Field.kDestination, &to, to_array, "dst")
    limit_reach(spec, Field.kSource, &source, source_array, "src")
    set_destination(copy[0], to.address, memory_type_of(dst, to.address, "dst"))
    set_source(copy[0], source.address, memory_type_of(src, source.address, "src"))
    if has_several_devices():
        spec.params.memcpy.copyCtx = context_of_copy(&to, to_array, &source, source_array)
    if not spec.uses.empty() and (copy.Height > 1 or copy.Depth > 1):
        raise ValueError("a copy of rows cannot use parameters: in an executable only copies of contiguous bytes can change")
    return 0


cdef int device_of_operand(Memory* memory, ArrayView array) except -2:
    """Return the device of the memory of an operand; kNoDevice for memory of the host, and if it is not known."""
    cdef int device = kNoDevice
    cdef CUdeviceptr address = memory.address
    cdef CUresult status
    if array is not None and array.node is not None:
        return kNoDevice if array.node.memory_type == "host" else array.node.device_id
    with nogil:
        status = find_device(address, &device)
    check_attempt(status, f"find the device of the memory at {address:#x}")
    return device


cdef CUcontext context_of_copy(Memory* to, ArrayView to_array, Memory* source, ArrayView source_array) except NULL:
    """Return the context of a copy: of the device of its source, else of its destination, else the current one."""
    cdef int reader = device_of_operand(source, source_array), writer = device_of_operand(to, to_array)
    cdef CUresult status
    if reader != writer and reader != kNoDevice and writer != kNoDevice:
        with nogil:
            status = enable_peer_access(reader, writer, to.address)
        # Without access between the devices, the driver copies through the host.
        if status and status != CUDA_ERROR_PEER_ACCESS_UNSUPPORTED:
            check_attempt(status, f"let device {reader} write the memory of device {writer} at {to.address:#x}")
    cdef int device = writer if reader == kNoDevice else reader
    return accept_context("memcpy node") if device == kNoDevice else context_of_device(device)


cdef CUcontext context_of_fill(Memory* target, ArrayView array) except NULL:
    cdef int device = device_of_operand(target, array) if has_several_devices() else kNoDevice
    return accept_context("memset node") if device == kNoDevice else context_of_device(device)


cdef int check_contiguous(str name, ArrayView array) except -1:
    if array is not None and Operand(name, None, array).layout().in_memory_order().axes:
        raise ValueError(f"{name} has gaps, so it is copied as a whole: leave out size")
    return 0


cdef CUmemorytype memory_type_of(object operand, CUdeviceptr address, str name) except *:
    """Return the memory type of an operand. A Parameter is "unified", which allows memory of any type."""
    if not isinstance(operand, Parameter):
        return find_type(address, name)
    if (<Parameter>operand)._named().initial.known:
        find_type(address, name)  # raises for memory that cannot be copied
    return CU_MEMORYTYPE_UNIFIED


cdef int check_size(size_t size, str name, size_t available) except -1:
    if size > available:
        raise ValueError(f"{name} has {available} bytes, and the node would touch {size}")
    return 0


cdef object read_extents(tuple extents):
    return Extents(*[
        None if value is None else read_size(value, name) for name, value in zip(Extents._fields, extents, strict=True)
    ])


cdef int set_shape(CUDA_MEMCPY3D* copy, object shape) except -1:
    copy.WidthInBytes, copy.Height, copy.Depth = shape.width, shape.height, shape.depth
    copy.dstPitch, copy.dstHeight = shape.dst
    copy.srcPitch, copy.srcHeight = shape.src
    copy.dstXInBytes = copy.dstY = copy.dstZ = 0
    copy.srcXInBytes = copy.srcY = copy.srcZ = 0
    return 0


cdef object shape_of_copy(const CUDA_MEMCPY3D& copy):
    return Shape(
        copy.WidthInBytes, copy.Height, copy.Depth, Side(copy.dstPitch, copy.dstHeight), Side(copy.srcPitch, copy.srcHeight)
    )


cdef size_t first_source_byte(const CUDA_MEMCPY3D& copy) noexcept:
    return source_of(copy) + (copy.srcZ * copy.srcHeight + copy.srcY) * copy.srcPitch + copy.srcXInBytes


cdef size_t first_destination_byte(const CUDA_MEMCPY3D& copy) noexcept:
    return destination_of(copy) + (copy.dstZ * copy.dstHeight + copy.dstY) * copy.dstPitch + copy.dstXInBytes


# ---- memset

cdef int read_memset(
    NodeSpec& spec, object dst, object value, object width, object height, object pitch, object dst_owner
) except -1:
    cdef CUDA_MEMSET_NODE_PARAMS_v2* p = &spec.params.memset
    cdef Memory target
    spec.begin(NodeKind.kMemset)
    cdef size_t whole
    cdef ArrayView array = memory_of(spec, dst, "dst", Field.kDestination, dst_owner, &target, &spec.owners.first)
    check_writable(array, dst)
    p.ctx = context_of_fill(&target, array)
    p.dst = target.address
    cdef int kind = set_element(spec, elements_of(dst, array), value)
    p.height, p.pitch = read_size(height, "height"), read_size(pitch, "pitch")
    if width is not None:
        p.width = extent_of(spec, width, "width")
        if array is not None and p.height > 1 and p.pitch == 0 and len(array.shape) > 1:
            p.pitch = array.strides[-2]
    elif array is not None and p.height == 1 and p.pitch == 0:
        whole = packed_bytes(array)
        if whole and whole % p.elementSize == 0:
            p.width = whole // p.elementSize
        else:
            p.width, p.height, p.pitch = fill.rows_of("dst", array, p.elementSize)
    elif isinstance(dst, ArrayParameter) and p.height == 1:
        p.width = use_bytes(spec, dst) // p.elementSize
    elif target.size != kUnbounded and p.height == 1:
        if target.size % p.elementSize:
            raise ValueError(f"the {target.size} bytes of dst are not a multiple of the {p.elementSize} bytes of the value")
        p.width = target.size // p.elementSize
    else:
        raise TypeError("width is needed: the number of elements in a row of dst is unknown")
    check_fill(spec, &target, array)
    return kind


cdef int change_memset(
    NodeSpec& spec, object dst, object value, object width, object height, object pitch, object dst_owner, object before
) except -1:
    cdef CUDA_MEMSET_NODE_PARAMS_v2* p = &spec.params.memset
    cdef Memory target
    cdef ArrayView array = None
    cdef bint follows
    cdef int kind = 0
    target.address, target.size = p.dst, kUnbounded
    if dst is not None:
        array = memory_of(spec, dst, "dst", Field.kDestination, dst_owner, &target, &spec.owners.first)
        check_writable(array, dst)
        p.dst = target.address
        follows = has_use(spec, Field.kBytes) and width is None
        drop_use(spec, Field.kBytes)
        if follows and not isinstance(dst, ArrayParameter):
            raise TypeError("width is needed: the node fills the whole array of its parameter, however large it is")
        if follows:
            use_bytes(spec, dst)
    elif dst_owner is not None:
        raise ValueError("dst_owner requires dst")
    held = use_of(spec, Field.kDestination, None)
    if isinstance(held, Temporary):
        target.size = held.bytesize
    elif held is None and dst is None:
        target.size = bytes_from(p.dst, "dst")
    p.ctx = context_of_fill(&target, array)
    cdef ArrayView elements
    if value is not None:
        elements = elements_of(use_of(spec, Field.kDestination, dst), array)
        if elements is None and dst is None and isinstance(value, (int, float)) and not hasattr(value, "dtype"):
            elements = elements_of_kind(before, p.elementSize)
        kind = set_element(spec, elements, value)
    if width is not None:
        drop_use(spec, Field.kBytes)
        p.width = extent_of(spec, width, "width")
    elif has_use(spec, Field.kBytes):
        p.width = use_bytes(spec, use_of(spec, Field.kBytes, None)) // p.elementSize
    if height is not None:
        p.height = read_size(height, "height")
    if pitch is not None:
        p.pitch = read_size(pitch, "pitch")
    check_fill(spec, &target, array)
    return kind


cdef ArrayView elements_of(object dst, ArrayView array):
    """Return an array with the elements of the memory that a fill writes; None for memory without a type."""
    if not isinstance(dst, ArrayParameter):  # array interfaces have no name for bfloat16
        return array_of("e", 2) if str(getattr(dst, "dtype", "")).endswith(("bf16", "bfloat16")) else array
    cdef const ValueType* scalar = (<Parameter>dst)._named().type.scalar
    cdef str name = scalar.name.decode()
    return array_of("e" if name == "bf16" else name[0], scalar.size)


cdef ArrayView elements_of_kind(object kind, unsigned int size):
    """Return an array with the elements of a node, by the noted kind of its value; None for bytes."""
    if kind is None and size == 1:
        return None
    if kind is None:
        raise ValueError(
            f"the type of the {size} bytes of an element is not known: pass dst too, or a value with a type, such as "
            "np.float32(1)"
        )
    if kind == PART:
        raise ValueError(f"the node repeats {size} bytes, a part of an element: pass dst too, or these bytes")
    return array_of(kind, size)


cdef ArrayView array_of(str kind, size_t size):
    """Return an array whose elements have this kind, a sign of `KINDS_OF_VALUES`, or "b"(ool)."""
    cdef ArrayView found = ArrayView.__new__(ArrayView)
    found.itemsize = size
    found.is_bfloat16 = kind == "e"
    found.dtype = "" if found.is_bfloat16 else f"{'|' if size == 1 else '<'}{kind}{size}"
    return found


cdef int set_element(NodeSpec& spec, ArrayView array, object value) except -1:
    """Set the value and its size, and return the kind of the value, a sign of `KINDS_OF_VALUES`."""
    cdef CUDA_MEMSET_NODE_PARAMS_v2* p = &spec.params.memset
    if isinstance(value, Parameter):
        p.elementSize = <unsigned int>use_element(spec, value, &p.value)
        if array is not None and array.itemsize != p.elementSize:
            raise TypeError(f"dst has elements of {array.itemsize} bytes, and {value!r} has {p.elementSize}")
        return ord(kind_of_type((<Parameter>value)._named().type.scalar.name.decode()))
    drop_use(spec, Field.kValue)
    kind = kind_of_elements(array) if array is not None else kind_of_type(str(getattr(value, "dtype", "uint")))
    if array is not None:
        is_half = array.is_bfloat16 and isinstance(value, Real)
        value = bfloat16_bytes(value) if is_half else fill.element_bytes(array, value)
    p.elementSize = <unsigned int>parse_fill_value(value, &p.value)
    is_part = array is not None and array.itemsize != p.elementSize  # the bytes of an element, not a number
    return ord(PART if is_part else kind)


cdef bytes bfloat16_bytes(object value):
    cdef double number = value
    cdef unsigned short bits = to_bf16(number)
    if isfinite(number) and isinf(from_bf16(bits)):
        raise OverflowError(f"{value!r} does not fit the type bf16 of the elements of dst")
    return int(bits).to_bytes(2, "little")


# The begin of a type's name -> the kind of its values: f(loat), i(nt) or e (bfloat16). Others are u(nsigned).
cdef dict KINDS_OF_VALUES = {"f": "f", "i": "i", "bf": "e"}
cdef str PART = "p"  # the kind of some bytes of a longer element


cdef str kind_of_type(str name):
    """Return the kind of the values of a type: "f32", "bf16", or a name of NumPy."""
    return KINDS_OF_VALUES.get(name[:2], KINDS_OF_VALUES.get(name[:1], "u"))


cdef str kind_of_elements(ArrayView array):
    return "e" if array.is_bfloat16 else kind_of_type(array.dtype[1:])


cdef int check_fill(NodeSpec& spec, Memory* target, ArrayView array) except -1:
    """Raise ValueError for rows that overlap, and for a fill beyond the end of the operand. The driver checks addresses."""
    cdef CUDA_MEMSET_NODE_PARAMS_v2* p = &spec.params.memset
    if p.height > 1 and p.pitch < p.width * p.elementSize:
        raise ValueError(
            f"pitch={p.pitch} is less than the {p.width * p.elementSize} bytes of a row: pass the bytes from row to row"
        )
    spec.rules.most = kUnbounded
    limit_reach(spec, Field.kDestination, target, array, "dst")
    if p.height > 1 and (has_use(spec, Field.kExtent) or has_use(spec, Field.kBytes)):
        raise ValueError("the width of a fill of rows cannot be a Parameter: it cannot change in an executable")
    if array is None and target.size == kUnbounded or p.width == 0 or p.height == 0:
        return 0
    if p.height == 1 and p.width * p.elementSize <= contiguous_bytes(target, array):
        return 0
    operand("dst", target, array).check_fits(fill.layout_of_fill(p.width, p.height, p.pitch, p.elementSize))
    return 0
