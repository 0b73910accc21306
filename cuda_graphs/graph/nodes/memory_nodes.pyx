# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The nodes that allocate, free, fill and copy memory: AllocNode, FreeNode, MemsetNode and MemcpyNode.

An address in a node can be that of a stand-in, for an array that has no address yet (places.pyx). `_address` and its like
return such addresses. Public properties never do: reading one gives the array memory of its own.
"""

from cpython.object cimport PyObject
from libc.stdint cimport uint64_t
from libcpp.memory cimport shared_ptr

from cuda_graphs.core.driver.cuda cimport CUdeviceptr, CUresult
from cuda_graphs.core.driver.cuda_graph cimport CU_MEMORYTYPE_HOST, CUmemorytype
from cuda_graphs.core.driver.seam cimport check_attempt, ensure_driver
from cuda_graphs.core.graphs.graph_handles cimport (
    AllocKind,
    Field,
    NodeParameters,
    NodeRecord,
    NodeSpec,
    alloc_kind,
    hierarchy_number,
    owners_of,
)
from cuda_graphs.core.resources.device_scope cimport find_device, has_several_devices, kNoDevice
from cuda_graphs.objects.memory.array_view cimport graph_memory_error
from cuda_graphs.graph.operands.graph_array cimport ElementType, GraphArray, element_of_bytes, graph_array
from cuda_graphs.graph.operands.parameter cimport wrap
from cuda_graphs.graph.operands.transfer cimport (
    change_memcpy,
    change_memset,
    first_destination_byte,
    first_source_byte,
    shape_of_copy,
)
from cuda_graphs.graph.operands.fill import number_of
from .insertion_point cimport check_not_freed
from .labels cimport kind_of_value, note_kind_of_value, noted_kind
from .node cimport GraphNode, named_parameters
from .places cimport address_of_place, enter_places, is_shared, leave_places, public_address
from .options import MEMORY_TYPES, GraphAllocOptions


cdef ElementType BYTES = element_of_bytes()


cdef class AllocNode(GraphNode):
    """Allocates memory. Made by `alloc`.

    With a shape and a dtype the node is an array in C order: nodes take it as an argument or operand, and an index such as
    ``node[3:4]`` returns a part of it, a GraphArray. Without them it is an operand of bytes. The memory exists only in
    launches, so the host cannot read it.
    """

    @property
    def dptr(self):
        """The address. It is the same in every launch.

        That of an array is fixed when it is read first: before, each executable chooses one, so that arrays can share
        memory. From then on the array has memory of its own, which it does not share.
        """
        return public_address(self._address)

    @property
    def _address(self):
        """The address, or that of a stand-in, which only the package knows."""
        return self._parameters().get().params.alloc.dptr

    def _place(self):
        """Return "shared" for an array without an address, "own" for one whose address was read, and None for other memory."""
        return state_of_place(self._record())

    @property
    def bytesize(self):
        """Size of the memory in bytes."""
        return self._parameters().get().params.alloc.bytesize

    @property
    def device_id(self):
        """Ordinal of the device."""
        cdef shared_ptr[NodeSpec] spec = self._parameters()
        cdef NodeRecord* record = self._record()
        # For host memory the driver does not report the device.
        if alloc_kind(spec.get().params.alloc.poolProps) == AllocKind.kHost and record.metadata.get().device >= 0:
            return record.metadata.get().device
        return spec.get().params.alloc.poolProps.location.id

    @property
    def memory_type(self):
        """"device", "host" or "managed"."""
        return MEMORY_TYPES[<int>alloc_kind(self._parameters().get().params.alloc.poolProps)]

    @property
    def peer_access(self):
        """Ordinals of the other devices with access."""
        cdef shared_ptr[NodeSpec] spec = self._parameters()
        return tuple([peer.location.id for peer in spec.get().access])

    @property
    def options(self):
        """The GraphAllocOptions of the node."""
        return GraphAllocOptions(self.device_id, self.memory_type, list(self.peer_access) or None)

    def _device(self):
        return self.device_id

    cdef tuple _form(self):
        """Return (ElementType, shape) of the array, or None."""
        cdef NodeRecord* record = self._record()
        if not record.metadata or not record.metadata.get().array_form:
            return None
        return <tuple><PyObject*>record.metadata.get().array_form.get()

    cdef GraphArray _array(self):
        """Return the memory as an array: of bytes without a shape and a dtype."""
        form = self._form()
        type, shape = (BYTES, (self.bytesize,)) if form is None else form
        return graph_array(self, type, shape, owners_of(self._record().owners).first)

    def _read_address(self):
        """Return the address with which nodes are read now."""
        cdef NodeRecord* record = self._record()
        if record.metadata and record.metadata.get().place:
            return address_of_place(record.metadata.get().place, hierarchy_number(record.graph[0]))
        return self._address

    cdef object _of_array(self, str name):
        return None if self._form() is None else getattr(self._array(), name)

    @property
    def shape(self):
        """The extents of the array, as given to `alloc`; None without a shape. The other properties of the array are None then, too."""
        return self._of_array("shape")

    @property
    def dtype(self):
        """The type of the elements, or of the components of vector elements, as given to `alloc`."""
        return self._of_array("dtype")

    @property
    def element_shape(self):
        """The shape of an element: () for numbers, (3,) for vectors of 3 components."""
        return self._of_array("element_shape")

    @property
    def ndim(self):
        """The number of dimensions."""
        return self._of_array("ndim")

    @property
    def strides(self):
        """The bytes from an element to the next along each dimension."""
        return self._of_array("strides")

    @property
    def size(self):
        """The number of elements."""
        return self._of_array("size")

    @property
    def itemsize(self):
        """The bytes of an element, with all its components."""
        return self._of_array("itemsize")

    @property
    def nbytes(self):
        """The bytes of all elements."""
        return self._of_array("nbytes")

    def __getitem__(self, index):
        if self._form() is None:
            raise TypeError(f"{self._identify()} is no array: give alloc() a shape and a dtype instead of a size")
        ensure_driver()  # raises in a forked child process, as other uses do
        return self._array()[index]

    def __setitem__(self, index, value):
        raise TypeError(graph_memory_error(self._identify()) + "; a memset node or a kernel writes it")

    def __len__(self):
        if not self.shape:
            raise TypeError(f"{self._identify()} has no length: it has no dimensions")
        return self.shape[0]

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __bool__(self):
        return True  # a node is true, as without a length

    def __cuda_graph_array__(self):
        self._open()
        return self._array().__cuda_graph_array__()

    def __array__(self, dtype=None, copy=None):
        raise TypeError(graph_memory_error(self._identify()))

    @property
    def __cuda_array_interface__(self):
        raise AttributeError(graph_memory_error(self._identify()))

    def __dlpack_device__(self):
        raise BufferError(graph_memory_error(self._identify()))

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        raise BufferError(graph_memory_error(self._identify()))

    def _describe(self):
        form = self._form()
        array = "" if form is None else f" {self.dtype} shape={self.shape}"
        if self.element_shape:
            array += f" element_shape={self.element_shape}"
        address = "" if self._place() == "shared" else f" dptr={self.dptr:#x}"
        return f"{address} size={self.bytesize}{array}"


cdef object state_of_place(NodeRecord* record):
    if not record.metadata or not record.metadata.get().place:
        return None
    return "own" if record.metadata.get().place.get().is_settled() else "shared"


cdef class FreeNode(GraphNode):
    """Frees memory of an alloc node. Made by `free`."""

    def _place(self):
        """Return what AllocNode._place returns for the memory."""
        return state_of_place(self._record())

    @property
    def dptr(self):
        """The address. See AllocNode.dptr."""
        return public_address(self._address)

    @property
    def _address(self):
        """The address, or that of a stand-in."""
        return self._parameters().get().params.free.dptr

    def _describe(self):
        return describe_address("dptr", self._address)


cdef str describe_address(str name, CUdeviceptr address):
    """Return the words for an address in the repr of a node. It does not read the address of a place."""
    return "" if is_shared(address) else f" {name}={public_address(address):#x}"


cdef object device_of_memory_node(NodeRecord* record, CUdeviceptr source, CUdeviceptr target):
    """Return the device of a copy or a fill: that of its source, else that of its destination, else None."""
    cdef int device = kNoDevice
    cdef CUdeviceptr address
    cdef CUresult status
    if not has_several_devices():
        return None
    if record.metadata and record.metadata.get().device != kNoDevice:
        return record.metadata.get().device
    for address in (source, target):
        with nogil:
            status = find_device(address, &device)
        check_attempt(status, f"find the device of the memory at {address:#x}")
        if device != kNoDevice:
            return device
    return None


cdef class MemsetNode(GraphNode):
    """Fills memory. Made by `memset`."""

    def update(self, *, dst=None, value=None, width=None, height=None, pitch=None, dst_owner=None):
        """Change the definition; arguments that are None keep their values. See `memset` and KernelNode.update.

        A number without `dst` is an element of the type of the earlier value. Raises ValueError if that type is not known: for
        elements of several bytes that a capture or other code filled, and for parts of longer elements.
        """
        cdef NodeSpec spec
        self._open()
        if all([given is None for given in (dst, value, width, height, pitch, dst_owner)]):
            return
        self._load_with_owners(spec)
        if dst is not None:
            spec.owners.first.reset()
        cdef int kind
        cdef uint64_t before = enter_places(hierarchy_number(self._open()[0]))
        try:
            kind = change_memset(spec, dst, value, width, height, pitch, dst_owner, noted_kind(self._record()))
        finally:
            leave_places(before)
        check_not_freed(self, (dst,))
        self._set(spec)
        if kind != 0:
            note_kind_of_value(self._record(), kind, spec.params.memset.elementSize == 1)

    @property
    def dptr(self):
        """Address of the first row."""
        return public_address(self._address)

    @property
    def _address(self):
        """The address, or that in a stand-in."""
        return self._parameters().get().params.memset.dst

    @property
    def value(self):
        """The element as an unsigned int."""
        return self._parameters().get().params.memset.value

    @property
    def element_size(self):
        """Bytes of an element: 1, 2 or 4."""
        return self._parameters().get().params.memset.elementSize

    @property
    def width(self):
        """Number of elements in a row."""
        return self._parameters().get().params.memset.width

    @property
    def height(self):
        """Number of rows."""
        return self._parameters().get().params.memset.height

    @property
    def pitch(self):
        """Bytes from row to row."""
        return self._parameters().get().params.memset.pitch

    def _number(self):
        """Return the element as a number of its type; as an unsigned int if the type is unknown."""
        return number_of(self.value, self.element_size, kind_of_value(self._record()))

    def _device(self):
        return device_of_memory_node(self._record(), self._address, self._address)

    def _describe(self):
        return f"{describe_address('dptr', self._address)} value={self.value}"


cdef class MemcpyNode(GraphNode):
    """Copies memory: `depth` planes of `height` rows of `width` bytes. Made by `memcpy`."""

    def update(
        self, *, dst=None, src=None, size=None, width=None, height=None, depth=None, dst_pitch=None, src_pitch=None,
        dst_height=None, src_height=None, dst_owner=None, src_owner=None,
    ):
        """Change the definition; arguments that are None keep their values. See `memcpy` and KernelNode.update."""
        cdef NodeSpec spec
        cdef tuple extents = (width, height, depth, dst_pitch, src_pitch, dst_height, src_height)
        self._open()
        if all([given is None for given in (dst, src, size, dst_owner, src_owner, *extents)]):
            return
        self._load_with_owners(spec)
        if dst is not None:
            spec.owners.first.reset()
        if src is not None:
            spec.owners.second.reset()
        cdef uint64_t before = enter_places(hierarchy_number(self._open()[0]))
        try:
            change_memcpy(spec, dst, src, size, extents, dst_owner, src_owner)
        finally:
            leave_places(before)
        check_not_freed(self, (dst, src))
        self._set(spec)

    @property
    def dst(self):
        """Address of the destination."""
        return public_address(self._destination)

    @property
    def _destination(self):
        """The address of the destination, or that in a stand-in."""
        return first_destination_byte(self._parameters().get().params.memcpy.copyParams)

    @property
    def src(self):
        """Address of the source."""
        return public_address(self._source)

    @property
    def _source(self):
        """The address of the source, or that in a stand-in."""
        return first_source_byte(self._parameters().get().params.memcpy.copyParams)

    @property
    def size(self):
        """Bytes in all rows and planes."""
        return self._shape.size

    @property
    def width(self):
        """Bytes in a row."""
        return self._shape.width

    @property
    def height(self):
        """Number of rows in a plane."""
        return self._shape.height

    @property
    def depth(self):
        """Number of planes."""
        return self._shape.depth

    @property
    def dst_pitch(self):
        """Bytes from row to row of the destination; may be 0 for a single row."""
        return self._shape.dst.pitch

    @property
    def src_pitch(self):
        """Bytes from row to row of the source; may be 0 for a single row."""
        return self._shape.src.pitch

    @property
    def dst_height(self):
        """Rows from plane to plane of the destination; may be 0 for a single plane."""
        return self._shape.dst.rows

    @property
    def src_height(self):
        """Rows from plane to plane of the source; may be 0 for a single plane."""
        return self._shape.src.rows

    @property
    def _shape(self):
        return shape_of_copy(self._parameters().get().params.memcpy.copyParams)

    @property
    def _dst_side(self):
        return side(self._parameters().get().params.memcpy.copyParams.dstMemoryType)

    @property
    def _src_side(self):
        return side(self._parameters().get().params.memcpy.copyParams.srcMemoryType)

    def _device(self):
        return device_of_memory_node(self._record(), self._source, self._destination)

    def _describe(self):
        dst, src = describe_address("dst", self._destination), describe_address("src", self._source)
        return f"{dst or ' dst='}({self._dst_side}){src or ' src='}({self._src_side}) size={self.size}"


cdef dict FIELDS = {
    <int>Field.kDestination: "dst", <int>Field.kSource: "src", <int>Field.kExtent: "extent", <int>Field.kValue: "value",
    <int>Field.kBytes: "bytes",
}


def operand_parameters(GraphNode node not None):
    """Return {field: Parameter} of a memcpy or memset node: "dst", "src", "extent", "value", and "bytes", which is the array
    that determines the size."""
    cdef NodeParameters* named = named_parameters(node._record())
    if named == NULL:
        return {}
    return {FIELDS[<int>use.field]: wrap(use.parameter) for use in named.uses if not use.is_place()}


cdef str side(CUmemorytype type):
    """Return "H" for memory of the host, "D" for other memory."""
    return "H" if type == CU_MEMORYTYPE_HOST else "D"
