# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Memory that captured graphs allocate: GraphMemoryResource, and statistics of such memory on a device."""

from weakref import ref

from libc.stddef cimport size_t
from libcpp.memory cimport shared_ptr

from cuda_graphs.core.driver.cuda cimport (
    CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT,
    CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH,
    CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT,
    CU_GRAPH_MEM_ATTR_USED_MEM_HIGH,
    CU_STREAM_CAPTURE_STATUS_ACTIVE,
    CU_STREAM_CAPTURE_STATUS_NONE,
    CUDA_SUCCESS,
    CUgraphMem_attribute,
    CUgraphNode,
    CUresult,
    CUstreamCaptureStatus,
    cuuint64_t,
    driver,
)
from cuda_graphs.core.driver.cuda_graph cimport CU_MEMORYTYPE_DEVICE, CUmemorytype
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.capture.capture_handles cimport (
    CapturedCall,
    CaptureHandle,
    allocate_before,
    find_outermost_capture,
)
from cuda_graphs.core.graphs.graph_handles cimport (
    GraphMemory,
    NodeKind,
    NodeRecord,
    OwnerSlot,
    add_node,
    as_owner,
    create_graph_memory,
)
from cuda_graphs.core.resources.handles cimport (
    Opaque,
    PointerHandle,
    StreamHandle,
    address_of,
    allocate_in_graph,
    raw_of,
)
from .buffer cimport Buffer, MemoryKind
from cuda_graphs.objects.body_rules cimport check_call_fits_body
from cuda_graphs.objects.capture_ledger cimport raise_capture_error
from cuda_graphs.objects.captured_call cimport find_capture, finish_call, keep_owners, raise_call_error
from cuda_graphs.objects.numbers cimport as_int, read_size
from cuda_graphs.objects.source cimport keep_source
from cuda_graphs.objects.device.current cimport StreamBlock, find_builder_block
from cuda_graphs.objects.device.stream cimport Stream, accept_stream
from cuda_graphs.objects.device.device import Device
from .abstract_resource import SelfFreeingResource

cdef dict resources = {}


class GraphMemoryResource(SelfFreeingResource):
    """Memory that graphs allocate: `allocate` on a stream that is being captured becomes an alloc node, and closing the
    Buffer there becomes a free node. Each device (a Device or its number) has one resource object.

    The address is fixed at capture. It is backed by memory during a launch, from the alloc node to the free node. Without
    a free node the memory stays after the launch until it is freed. The device keeps freed memory for later launches;
    `trim` releases it.
    """

    def __new__(cls, device):
        number = Device(device).device_id
        if number not in resources:
            self = object.__new__(cls)
            self._device_id = number
            self._attributes = GraphMemoryResourceAttributes._of(number)
            resources.setdefault(number, self)
        return resources[number]

    def allocate(self, size, *, stream):
        """Return a Buffer of `size` bytes, usable by later captured work of `stream`.

        Closing it during the capture adds a free node. After the capture, closing it frees the memory in the order of a
        stream, once a launch has allocated it.

        Raises:
            OverflowError: `size` is negative.
            RuntimeError: The stream is not being captured.
        """
        return allocate(self, read_size(size, "size"), accept_stream(stream))

    def close(self):
        """Do nothing: the device owns the memory."""

    def trim(self):
        """Release memory of graphs that is not in use to the system."""
        cdef int device = self._device_id
        cdef CUresult status
        with nogil:
            status = driver().cuDeviceGraphMemTrim(device)
        check_attempt(status, f"trim the graph memory of device {device}")

    @property
    def attributes(self):
        """Statistics of the graph memory on the device, GraphMemoryResourceAttributes."""
        return self._attributes

    @property
    def is_device_accessible(self):
        """True: kernels can use the memory."""
        return True

    @property
    def is_host_accessible(self):
        """False: the host cannot use the memory."""
        return False

    @property
    def device_id(self):
        """The number of the device."""
        return self._device_id

    def __reduce__(self):
        return GraphMemoryResource, (self._device_id,)

    def __repr__(self):
        return f"<GraphMemoryResource device={self._device_id}>"


cdef Buffer allocate_for_array(int device, size_t size, Stream stream):
    cdef CapturedCall call
    cdef Buffer made
    cdef CUgraphNode conditional = NULL
    resource = GraphMemoryResource(device)
    if stream.device.device_id != device or size == 0 or not find_capture(call, stream._h):
        return None
    if call.capture().into_body:
        return allocate_around(resource, size, find_outermost_capture(call.capture(), &conditional), conditional)
    made = allocate(resource, size, stream)
    cdef StreamBlock block = find_builder_block(call.capture().origin)
    if block is not None:
        block.made.append(ref(made))
    return made


cdef Buffer allocate_around(resource, size_t size, CaptureHandle capture, CUgraphNode conditional):
    """Returns memory that is allocated before a conditional node, and freed at the end of the capture around it."""
    cdef CapturedCall call
    cdef shared_ptr[GraphMemory] range_ = create_graph_memory()
    cdef PointerHandle h
    cdef CUgraphNode node = NULL
    cdef NodeRecord* record
    cdef CUresult status
    if capture.get() == NULL or not find_capture(call, capture.get().origin):
        raise RuntimeError(
            "a body of a conditional node takes no allocations, and the capture around it has ended: make the array before "
            "the conditional node"
        )
    cdef StreamBlock block = find_builder_block(capture.get().origin)
    if block is None:
        raise RuntimeError(
            "an array that is made in a body is freed at the end of the `with` block of the builder around it, and this "
            "thread is in no such block: make the array before, or capture with `with` instead of begin_building()"
        )
    keep_owners(call, as_owner(range_), Opaque())  # for no node: stays with the graph
    with nogil:
        status = allocate_before(capture.get()[0], conditional, size, &h, &node)
    if status:
        raise_capture_error(capture.get()[0], status, f"allocation of {size} bytes before the conditional node")
    if capture.get().active:  # another thread may have ended it
        record = &add_node(capture.get().box(), node, NodeKind.kAlloc, OwnerSlot())
        keep_source(record.graph, &record.source)
    range_.get().record(address_of(h), size, <CUmemorytype>CU_MEMORYTYPE_DEVICE)
    block.held.push_back(as_owner(h))  # a branch with the conditional node is joined at the end of the capture
    made = Buffer._from_handle(h, resource)
    block.made.append(ref(made))
    return made


cdef Buffer allocate(resource, size_t size, Stream stream):
    stream._check_open()
    cdef StreamHandle on = stream._h
    cdef CUstreamCaptureStatus now = CU_STREAM_CAPTURE_STATUS_NONE
    cdef CapturedCall call
    cdef shared_ptr[GraphMemory] range_
    cdef PointerHandle h
    cdef CUresult status
    with nogil:
        status = driver().cuStreamIsCapturing(raw_of(on), &now)
    if status:
        check_attempt(status, f"ask whether {stream!r} is captured")
    if now != CU_STREAM_CAPTURE_STATUS_ACTIVE:
        raise RuntimeError(f"GraphMemoryResource allocates only during a capture, and {stream!r} is not being captured")
    if size == 0:
        return Buffer._empty(resource, MemoryKind.DEVICE, resource.device_id)
    if find_capture(call, on):
        check_call_fits_body(call, NodeKind.kAlloc)
        range_ = create_graph_memory()
        keep_owners(call, as_owner(range_), Opaque())
    with nogil:
        call.run(allocate_in_graph, size, on, &h)
    if finish_call(call, NodeKind.kAlloc, "alloc") != CUDA_SUCCESS:
        raise_call_error(call, f"allocation of {size} bytes by a captured graph")
    if call.is_captured():
        range_.get().record(address_of(h), size, <CUmemorytype>CU_MEMORYTYPE_DEVICE)
    return Buffer._from_handle(h, resource)


cdef class GraphMemoryResourceAttributes:
    """Bytes of memory that graphs use and have reserved on a device. A high is the maximum since the process began or
    it was last set to 0.
    """

    cdef int _device

    def __init__(self, *args, **kwargs):
        raise RuntimeError(
            "GraphMemoryResourceAttributes has no public constructor: use GraphMemoryResource.attributes."
        )

    @staticmethod
    def _of(device):
        cdef GraphMemoryResourceAttributes self = GraphMemoryResourceAttributes.__new__(GraphMemoryResourceAttributes)
        self._device = device
        return self

    cdef object _get(self, CUgraphMem_attribute attribute):
        cdef cuuint64_t value = 0
        cdef int device = self._device
        cdef CUresult status
        with nogil:
            status = driver().cuDeviceGetGraphMemAttribute(device, attribute, &value)
        check_attempt(status, f"ask for the graph memory of device {device}")
        return value

    cdef int _reset(self, CUgraphMem_attribute attribute, str name, object value) except -1:
        cdef cuuint64_t zero = 0
        cdef int device = self._device
        cdef CUresult status
        if as_int(value) != 0:
            raise AttributeError(f"{name} can only be reset to 0, got {value!r}")
        with nogil:
            status = driver().cuDeviceSetGraphMemAttribute(device, attribute, &zero)
        return check_attempt(status, f"reset {name} of device {device}")

    @property
    def used_mem_current(self):
        """Bytes that launches have allocated; freed bytes count until trim()."""
        return self._get(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT)

    @property
    def used_mem_high(self):
        """The maximum of `used_mem_current`. Set to 0 to reset it."""
        return self._get(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)

    @used_mem_high.setter
    def used_mem_high(self, value):
        self._reset(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, "used_mem_high", value)

    @property
    def reserved_mem_current(self):
        """Bytes that the device keeps for graphs until trim(), also after the graphs were destroyed."""
        return self._get(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT)

    @property
    def reserved_mem_high(self):
        """The maximum of `reserved_mem_current`. Set to 0 to reset it."""
        return self._get(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)

    @reserved_mem_high.setter
    def reserved_mem_high(self, value):
        self._reset(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, "reserved_mem_high", value)

    def __repr__(self):
        names = ("reserved_mem_current", "reserved_mem_high", "used_mem_current", "used_mem_high")
        return f"GraphMemoryResourceAttributes({', '.join(f'{name}={getattr(self, name)}' for name in names)})"
