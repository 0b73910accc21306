# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The classes of nodes, one per kind. A class has the properties of its kind; GraphNode does the rest.

`_parameters` returns the driver's parameters of a node. `_describe` returns the details of the repr. The table at the end
assigns the classes to the kinds of the handle layer.
"""

from cpython.object cimport PyObject
from cython.operator cimport dereference
from libc.stddef cimport size_t
from libc.stdint cimport uint64_t, uintptr_t
from libc.string cimport memcmp
from libcpp.memory cimport shared_ptr
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport CUDA_ERROR_INVALID_VALUE, CUcontext, CUdeviceptr, CUresult
from cuda_graphs.core.driver.cuda_graph cimport (
    CU_MEMORYTYPE_HOST,
    CUgraphConditionalHandle,
    CUmemorytype,
)
from cuda_graphs.core.driver.seam cimport check_attempt, ensure_driver, raise_explained, raise_noted
from cuda_graphs.core.graphs.graph_handles cimport (
    AllocKind,
    Field,
    DeclaredAccesses,
    DeclaredHandle,
    GraphBox,
    GraphLabels,
    NodeAccesses,
    NodeKind,
    NodeRecord,
    NodeSpec,
    alloc_kind,
    child_box,
    hierarchy_number,
    mark_inner_destroyed,
    owners_of,
    is_handed_out,
)
from cuda_graphs.core.resources.device_scope cimport find_device, has_several_devices, kNoDevice
from cuda_graphs.core.resources.handles cimport (
    ContextBox,
    ContextHandle,
    Parameter,
    box_of,
    create_context_ref,
    create_event_ref,
)
from cuda_graphs.objects.code.conversion cimport value_of
from cuda_graphs.objects.code.kernel cimport Kernel
from cuda_graphs.objects.code.launch_config cimport is_config_function
from cuda_graphs.objects.body_rules cimport check_copy_fits_body
from cuda_graphs.objects.device.context cimport context_of_device
from cuda_graphs.objects.device.event cimport Event
from cuda_graphs.objects.launch_errors cimport LaunchQueue
from cuda_graphs.objects.memory.array_view cimport graph_memory_error
from .access_ranges cimport (
    as_spans,
    change_declaration,
    declaration_of,
    describe_accesses,
    read_declaration,
    set_declaration,
)
from .access_ranges import span_of_memory
from .callback cimport Callback, callback_of
from cuda_graphs.graph.operands.graph_array cimport ElementType, GraphArray, element_of_bytes, graph_array
from cuda_graphs.graph.operands.condition cimport Condition
from .labels cimport labels_of
from .node cimport GraphNode
from cuda_graphs.graph.operands.parameter cimport argument_of, check_clash, adopt_uses, wrap
from .insertion_point cimport accept_graph, check_not_freed, give_launch, wrap_graph, wrap_node
from .node_call cimport NodeCall, call_of, leave_call
from .labels cimport kind_of_value, note_kind_of_value
from .node_classes cimport register_class
from .places cimport address_of_place, enter_places, is_shared, leave_places, public_address
from .places import readable
from .spec cimport accept_arguments, change_kernel, config_of, kernel_of, read_kernel, read_child, read_event, read_host
from cuda_graphs.graph.operands.transfer cimport (
    change_memcpy,
    change_memset,
    first_destination_byte,
    first_source_byte,
    shape_of_copy,
)
from cuda_graphs.graph.operands.fill import number_of
from .options import MEMORY_TYPES, GraphAllocOptions
from cuda_graphs.errors import CUDAError


cdef ElementType BYTES = element_of_bytes()


cdef class EmptyNode(GraphNode):
    """Does nothing; orders the nodes before it and after it. Made by `join`."""


cdef class KernelNode(GraphNode):
    """Launches a kernel. Made by `launch`."""

    def update(self, *, config=None, kernel=None, args=None, reads=None, writes=None):
        """Change the definition. Executables that are made or updated later have the new values; others do not change.

        Arguments that are None keep their values. A new `kernel` needs `args`, a tuple, `()` for a kernel without
        arguments. `config` includes cluster and cooperative settings. `reads` and `writes` are those of `launch`.

        A node of a kernel made by `cuda_graphs.kernel` takes the arguments of a call as `args`, and all nodes of that call
        get them. Arguments of other types may change the code, but not the number of nodes. With a `kernel`, the node
        leaves the call.

        Raises RuntimeError for a destroyed node, TypeError and ValueError for the arguments, and CUDAError from the
        driver. After an error nothing has changed.
        """
        cdef NodeSpec spec
        cdef bint changes = config is not None or kernel is not None or args is not None
        self._open()
        cdef NodeCall call = call_of(self._record()) if kernel is None else None
        if call is not None and changes:
            change_declaration(self._record(), reads, writes, None)  # raises before anything has changed
            update_call_in_places(self, call, config, args)
            changes, args = False, None
        cdef DeclaredHandle declared
        # A config function gets addresses, and may keep them.
        cdef uint64_t before = enter_places(0 if is_config_function(config) else hierarchy_number(self._open()[0]))
        try:
            if changes:
                self._load_with_owners(spec)
                change_kernel(spec, config, kernel, args)
                check_not_freed(self, () if args is None else tuple(args))
            declared = change_declaration(self._record(), reads, writes, args)
        finally:
            leave_places(before)
        if changes:
            self._set(spec)
            leave_call(self._record())
        set_declaration(self._record(), declared)

    @property
    def args(self):
        """The arguments: of the call that made the node, for a kernel made by `cuda_graphs.kernel`.

        Other nodes, and copies of nodes in embedded graphs, have one value for each parameter of the kernel: the Parameter
        (or its extent) that provides it, or a number of its type. A value of unknown type is its bytes as an unsigned int.

        Memory of an alloc node is its address if no array of it is alive. A dataclass instance is a copy.

        Raises:
            RuntimeError: Other code packed the arguments of a captured launch.
        """
        self._open()
        cdef NodeCall call = call_of(self._record())
        return raw_arguments(self) if call is None else call.arguments()

    @property
    def grid(self):
        """Blocks in x, y, z. In a launch with clusters: clusters in x, y, z."""
        return self.config.grid

    @property
    def block(self):
        """Threads of a block in x, y, z."""
        return self.config.block

    @property
    def shmem_size(self):
        """Bytes of dynamic shared memory per block."""
        return self._parameters().get().params.kernel.sharedMemBytes

    @property
    def config(self):
        """The LaunchConfig, equal to the one given."""
        return config_of(dereference(self._parameters()))

    @property
    def kernel(self):
        """The Kernel, equal to the one given."""
        self._open()
        return kernel_of(dereference(self._parameters()))

    @property
    def reads(self):
        """The memory that the kernel reads: a tuple of Spans, as given to `launch` or known to the compiler.

        None if neither reads nor writes are known.
        """
        return public_spans(self._declared()[0])

    @property
    def writes(self):
        """The memory that the kernel writes, as `reads`."""
        return public_spans(self._declared()[1])

    def _declared(self):
        """Return what the kernel reads and writes, with the addresses of stand-ins."""
        return self._memory_of_call() or (declared_reads(self._record()), declared_writes(self._record()))

    def _memory_of_call(self):
        """Return what a task of compiled code reads and writes, if the node does not declare it: in a capture. Else None."""
        cdef NodeRecord* record = self._record()
        cdef const DeclaredAccesses* declared = declaration_of(record)
        cdef NodeCall call = call_of(record)
        if call is None or declared != NULL and declared.is_known:
            return None
        launch = call.launches[call.task_of(record)]
        found = tuple([tuple(map(span_of_memory, values)) for values in (launch.reads, launch.writes)])
        return None if None in found[0] + found[1] else found

    cdef int _add_accesses(self, NodeAccesses& accesses) except -1:
        cdef NodeRecord* record = self._record()
        cdef NodeCall call = call_of(record)
        cdef DeclaredHandle by_call
        cdef NodeSpec spec
        known = self._memory_of_call()
        if known is None:
            return GraphNode._add_accesses(self, accesses)
        by_call = read_declaration(known[0], known[1], call.arguments_of_task(call.task_of(record)))
        spec.begin(record.kind)
        return describe_accesses(spec, by_call.get(), accesses)

    def _raw_arguments(self):
        """Return (form, bytes, Parameter or None, word) of each parameter of the kernel.

        The form is a number of ValueForm (objects/code/signature.py has the names). The word is that of a ParameterUse: 0 for
        the value or the address, n for the extent n - 1 of an array.
        """
        cdef shared_ptr[NodeSpec] spec = self._parameters()
        cdef NodeRecord* record = self._record()
        cdef Kernel kernel = kernel_of(dereference(spec))  # it may be the only one that keeps the parameters
        cdef const vector[Parameter]* parameters = kernel._parameters()
        cdef size_t i
        found = []
        if spec.get().params.kernel.kernelParams == NULL and not parameters.empty():
            return None  # other code packed the arguments (`extra` of cuda.h)
        for i in range(parameters.size()):
            data = <bytes>(<char*>spec.get().params.kernel.kernelParams[i])[: parameters[0][i].size]
            found.append((<int>parameters[0][i].type.form, data, None, 0))
        if record.metadata and record.metadata.get().parameters:
            for use in record.metadata.get().parameters.get().uses:
                if use.field == Field.kArgument and not use.is_place():
                    found[use.argument] = (*found[use.argument][:2], wrap(use.parameter), use.word)
        return found

    def _call(self):
        """Return the NodeCall that made the node, or None."""
        return call_of(self._record())

    def _early_task(self):
        """Return the EarlyTask of the node, or the reason (a str) why it cannot begin early."""
        cdef NodeRecord* record = self._record()
        cdef NodeCall call = call_of(record)
        return "is not a call of a kernel of cuda_graphs" if call is None else call.early_task(call.task_of(record))

    def _written(self):
        """Return a list of the Spans that the node may write, with None for unknown memory, or None."""
        cdef NodeRecord* record = self._record()
        cdef NodeCall call = call_of(record)
        if call is not None:
            return call.task_memory(call.task_of(record))[1]
        found, is_unknown = self._accesses()
        writes = [span for span, mode, what in found if what == "memory" and mode == "writes"]
        known = not is_unknown and all([mode in ("reads", "writes") for _, mode, _ in found])
        return [None if isinstance(span.start, str) else span for span in writes] if known else None

    def _has_size_rule(self):
        """Return whether a rule computes the size of the launch from parameters."""
        cdef NodeRecord* record = self._record()
        if not record.metadata or not record.metadata.get().parameters:
            return False
        return <bint>record.metadata.get().parameters.get().rules.size

    def _takes(self, CUgraphConditionalHandle handle):
        """Return True if the arguments contain the 8 bytes of a handle, in any type, or cannot be read."""
        cdef NodeSpec spec
        self._load(spec)
        cdef Kernel kernel = kernel_of(spec)
        cdef const vector[Parameter]* parameters = kernel._parameters()
        cdef size_t i, word
        if spec.params.kernel.kernelParams == NULL:  # other code packed the arguments (`extra` of cuda.h)
            return not parameters.empty()
        for i in range(parameters.size()):
            for word in range(parameters[0][i].size // 8):
                if memcmp(<char*>spec.params.kernel.kernelParams[i] + 8 * word, &handle, 8) == 0:
                    return True
        return False

    def _function_name(self):
        return self.kernel.name

    def _device(self):
        cdef CUcontext raw = self._parameters().get().params.kernel.ctx
        cdef ContextHandle context
        if raw == NULL:  # a kernel that other code took from a module
            return None
        context = create_context_ref(raw)
        return None if not context else box_of[ContextBox](context).device

    def _describe(self):
        return f" kernel={self.kernel.handle:#x}"


cdef object public_spans(object spans):
    """Return spans with addresses that other code may use."""
    if spans is None:
        return None
    return tuple([
        span._replace(start=public_address(span.start)) if isinstance(span.start, int) else span for span in spans
    ])


cdef object declared_reads(NodeRecord* record):
    cdef const DeclaredAccesses* declared = declaration_of(record)
    return as_spans(declared.reads) if declared != NULL and declared.is_known else None


cdef object declared_writes(NodeRecord* record):
    cdef const DeclaredAccesses* declared = declaration_of(record)
    return as_spans(declared.writes) if declared != NULL and declared.is_known else None


cdef tuple raw_arguments(KernelNode self):
    """Return the Parameter, or the value, of each parameter of the kernel."""
    cdef shared_ptr[NodeSpec] spec = self._parameters()
    cdef NodeRecord* record = self._record()
    cdef Kernel kernel = kernel_of(dereference(spec))
    cdef const vector[Parameter]* parameters = kernel._parameters()
    cdef size_t i
    found = []
    if spec.get().params.kernel.kernelParams == NULL and not parameters.empty():
        raise RuntimeError(
            f"the arguments of {self._identify()} were packed by other code (`extra` of cuLaunchKernel), and only that code "
            "can take them apart: give it new ones by `update`"
        )
    for i in range(parameters.size()):
        value = value_of(<char*>spec.get().params.kernel.kernelParams[i], parameters[0][i])
        found.append(readable(value) if isinstance(value, int) else value)
    if record.metadata and record.metadata.get().parameters:
        for use in record.metadata.get().parameters.get().uses:
            if use.field == Field.kArgument and not use.is_place():
                found[use.argument] = argument_of(use)
    return tuple(found)


cdef int update_call_in_places(KernelNode self, NodeCall call, object config, object args) except -1:
    cdef uint64_t before = enter_places(0 if is_config_function(config) else hierarchy_number(self._open()[0]))
    try:
        return update_call(self, call, config, args)
    finally:
        leave_places(before)


cdef int update_call(KernelNode self, NodeCall call, object config, object args) except -1:
    """Give all nodes of a call the arguments, and this node the config. After an error no node has changed."""
    cdef size_t task = call.task_of(self._record()), number
    cdef NodeCall changed = call
    if args is not None:
        check_not_freed(self, accept_arguments(args))
        changed = call.with_arguments(accept_arguments(args))
        if changed.device == kNoDevice:  # no array decides
            changed.device = call.device
        if changed.device != call.device and call.device != kNoDevice:
            raise ValueError(
                f"{self._identify()} is on device {call.device}, and the arrays of the new arguments are on device "
                f"{changed.device}: the device of a node does not change. Make another call"
            )
    if config is not None:
        changed = changed.with_config(task, config)
    cdef list done = []
    try:
        for number in range(call.nodes.size()):
            set_task(self, call, changed, number)
            done.append(number)
    except BaseException:
        for number in done:
            set_task(self, call, call, number)
        raise
    return call.take(changed)


cdef int set_task(KernelNode self, NodeCall call, NodeCall values, size_t task) except -1:
    """Set the node of one task of `call` to the launch of that task in `values`. A node that has left the call stays."""
    cdef NodeSpec spec
    cdef NodeRecord* record = call.nodes[task]
    if record == NULL or call_of(record) is not call:
        return 0
    launch = values.launches[task]
    cdef tuple arguments = values.arguments_of_task(task)
    cdef DeclaredHandle declared = read_declaration(launch.reads, launch.writes, arguments)
    read_kernel(spec, launch.config, launch.kernel, arguments)
    if values.device != kNoDevice:
        spec.params.kernel.ctx = context_of_device(values.device)
    (<GraphNode>wrap_node(self._h, record))._set(spec)
    return set_declaration(record, declared)


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
        cdef NodeRecord* record = self._record()
        if not record.metadata or not record.metadata.get().place:
            return None
        return "own" if record.metadata.get().place.get().is_settled() else "shared"

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
        """The extents of the array, as given to `alloc`; None without a shape. So are all properties of the array."""
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


cdef class FreeNode(GraphNode):
    """Frees memory of an alloc node. Made by `free`."""

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
        """Change the definition; arguments that are None keep their values. See `memset` and KernelNode.update."""
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
            kind = change_memset(spec, dst, value, width, height, pitch, dst_owner)
        finally:
            leave_places(before)
        check_not_freed(self, (dst,))
        self._set(spec)
        if kind != 0:
            note_kind_of_value(self._record(), kind)

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
    cdef NodeRecord* record = node._record()
    if not record.metadata or not record.metadata.get().parameters:
        return {}
    return {
        FIELDS[<int>use.field]: wrap(use.parameter)
        for use in record.metadata.get().parameters.get().uses
        if not use.is_place()
    }


cdef str side(CUmemorytype type):
    """Return "H" for memory of the host, "D" for other memory."""
    return "H" if type == CU_MEMORYTYPE_HOST else "D"


cdef class ChildGraphNode(GraphNode):
    """Runs a copy of another definition. Made by `embed`."""

    def _inner_graphs(self):
        return (self.child_graph,)

    def update(self, child):
        """Change the definition to run a copy of the current `child`. See KernelNode.update.

        The update replaces `child_graph`. The old graph and all its nodes are no longer valid. Raises CUDAError for a
        graph around or inside this node, and for graphs that `embed` refuses.
        """
        cdef NodeSpec spec
        self._open()
        cdef GraphBox* source = accept_graph(child)._open()
        if source.hierarchy == self._record().graph.hierarchy:  # libcuda would accept some of these graphs
            raise_explained(
                CUDA_ERROR_INVALID_VALUE, f"embed {child._identify(True)} in {self._identify(True)} inside it",
                ("A graph cannot hold a copy of itself or of a graph of its own definition.", "Pass another definition."),
            )
        cdef shared_ptr[const GraphLabels] labels = labels_of(source, child)
        check_clash(source, self._record().graph)
        read_child(spec, child, source, self._record().graph)
        check_copy_fits_body(self._record().graph, child)
        self._set(spec)
        mark_inner_destroyed(self._record()[0])
        self._record().make_metadata().inner_labels = labels
        try:
            adopt_uses(source, self._record())
        except CUDAError:  # tried again, because the change of the node cannot be undone
            adopt_uses(source, self._record())

    @property
    def child_graph(self):
        """The embedded copy, a GraphDef. Instantiation uses its current state."""
        self._open()
        return wrap_graph(self._h, child_of(self))

    def _describe(self):
        return f" child={<uintptr_t>child_of(self).raw:#x}"


cdef GraphBox* child_of(ChildGraphNode self) except NULL:
    cdef NodeRecord* record = self._record()
    if is_handed_out(record.graph[0]):
        forget_replaced(self)
    cdef GraphBox* child = child_box(record[0])
    if child == NULL:
        raise_noted(f"look into {self._identify(True)}")
    return child


cdef int forget_replaced(ChildGraphNode self) except -1:
    """Forget the embedded graph if other code has replaced it."""
    cdef NodeSpec spec
    cdef NodeRecord* record = self._load(spec)
    if record.metadata and not record.metadata.get().inner.empty():
        if record.metadata.get().inner.front().raw != spec.params.graph.graph:
            mark_inner_destroyed(record[0])
    return 0


cdef class HostCallbackNode(GraphNode):
    """Calls a function on the host. Made by `callback`."""

    def update(self, fn, *, user_data=None, reads=None, writes=None):
        """Change the definition to call `fn`. See `callback` for the arguments, and KernelNode.update."""
        cdef NodeSpec spec
        self._open()
        read_host(spec, fn, user_data, self.name)
        cdef DeclaredHandle declared = change_declaration(self._record(), reads, writes, None)
        self._set(spec)
        set_declaration(self._record(), declared)

    @property
    def reads(self):
        """The memory that the callback reads, as given to `callback`: a tuple of Spans. None if it is not known."""
        return public_spans(self._declared()[0])

    @property
    def writes(self):
        """The memory that the callback writes, as `reads`."""
        return public_spans(self._declared()[1])

    def _declared(self):
        """Return what the callback reads and writes, with the addresses of stand-ins."""
        return declared_reads(self._record()), declared_writes(self._record())

    @property
    def callback_fn(self):
        """The Python callable; None for a C function."""
        cdef Callback callback = host_callback(self)
        return None if callback is None else callback.fn

    @property
    def _function(self):
        """The address of the C function, or of the function that calls Python callables."""
        return <uintptr_t><void*>self._parameters().get().params.host.fn

    def _function_name(self):
        return getattr(self.callback_fn, "__name__", None)

    def _describe(self):
        fn = self.callback_fn
        if fn is None:
            return f" cfunc={self._function:#x}"
        return f" callback={getattr(fn, '__name__', '?')}"


cdef Callback host_callback(HostCallbackNode self):
    self._open()
    return callback_of(self._parameters().get().params.host)


def give_callback(HostCallbackNode node not None, LaunchQueue launches not None):
    """Give the Callback of a node to an executable. Return 1, or 0 for a C function.

    If another executable has the Callback, the node gets a new one of the same callable.
    """
    cdef Callback callback = host_callback(node)
    cdef NodeSpec spec
    if callback is None:
        return 0
    if callback.launches is not None and callback.launches is not launches:
        read_host(spec, callback.fn, None, node.name)
        node._set(spec)
        callback = host_callback(node)
    callback.launches = launches
    return 1


cdef class EventRecordNode(GraphNode):
    """Records an event. Made by `record_event`."""

    def update(self, event):
        """Change the definition to use another Event. See KernelNode.update."""
        cdef NodeSpec spec
        self._open()
        read_event(spec, NodeKind.kEventRecord, event)
        self._set(spec)

    @property
    def event(self):
        """The Event, equal to the one given."""
        self._open()
        return Event._from_handle(create_event_ref(self._parameters().get().params.eventRecord.event))

    def _describe(self):
        return f" event={self.event.handle:#x}"


cdef class EventWaitNode(GraphNode):
    """Waits for an event. Made by `wait_event`."""

    def update(self, event):
        """Change the definition to use another Event. See KernelNode.update."""
        cdef NodeSpec spec
        self._open()
        read_event(spec, NodeKind.kEventWait, event)
        self._set(spec)

    @property
    def event(self):
        """The Event, equal to the one given."""
        self._open()
        return Event._from_handle(create_event_ref(self._parameters().get().params.eventWait.event))

    def _describe(self):
        return f" event={self.event.handle:#x}"


cdef class ConditionalNode(GraphNode):
    """Runs graphs inside it, depending on a condition.

    Drivers before CUDA 13.2 do not report the parameters of a conditional node. For a node that cuda_graphs did not make,
    `condition` and `cond_type` are None and `branches` is empty.
    """

    def _inner_graphs(self):
        return self.branches

    def _device(self):
        cdef NodeRecord* record = self._record()
        if not record.metadata or record.metadata.get().device == kNoDevice:
            return None
        return record.metadata.get().device

    @property
    def condition(self):
        """The Condition that decides."""
        cdef NodeRecord* record = self._record()
        self._check_known()
        if record.kind == NodeKind.kConditional:
            return None
        return Condition._from_handle(record.metadata.get().condition, hierarchy_number(record.graph[0]))

    @property
    def cond_type(self):
        """"if", "while" or "switch"."""
        self._check_known()
        return COND_TYPES.get(<int>self._record().kind)

    @property
    def branches(self):
        """The bodies, as a tuple of GraphDefs."""
        cdef NodeRecord* record = self._record()
        cdef GraphBox* body
        self._open()
        if record.kind == NodeKind.kConditional:
            return ()
        return tuple([wrap_graph(self._h, body) for body in record.metadata.get().inner])

    def _describe(self):
        condition = self.condition
        return "" if condition is None else f" condition={condition.handle:#x}"


cdef class IfNode(ConditionalNode):
    """Runs `then` if the condition is not 0. Made by `if_then`."""

    @property
    def then(self):
        """The body."""
        return self.branches[0]


cdef class IfElseNode(ConditionalNode):
    """Runs `then` if the condition is not 0, `else_` if it is 0. Made by `if_else`."""

    @property
    def then(self):
        """The body for a condition other than 0."""
        return self.branches[0]

    @property
    def else_(self):
        """The body for 0."""
        return self.branches[1]


cdef class WhileNode(ConditionalNode):
    """Runs `body` repeatedly, as long as the condition is not 0 before an iteration. Made by `while_loop`."""

    @property
    def body(self):
        """The body."""
        return self.branches[0]


cdef class SwitchNode(ConditionalNode):
    """Runs `branches[n]` if the condition is n. Made by `switch`."""


COND_TYPES = {
    <int>NodeKind.kIf: "if",
    <int>NodeKind.kIfElse: "if",
    <int>NodeKind.kWhile: "while",
    <int>NodeKind.kSwitch: "switch",
}

register_class(NodeKind.kEmpty, EmptyNode)
register_class(NodeKind.kKernel, KernelNode)
give_launch(KernelNode)
register_class(NodeKind.kAlloc, AllocNode)
register_class(NodeKind.kFree, FreeNode)
register_class(NodeKind.kMemset, MemsetNode)
register_class(NodeKind.kMemcpy, MemcpyNode)
register_class(NodeKind.kChild, ChildGraphNode)
register_class(NodeKind.kHost, HostCallbackNode)
register_class(NodeKind.kEventRecord, EventRecordNode)
register_class(NodeKind.kEventWait, EventWaitNode)
register_class(NodeKind.kIf, IfNode)
register_class(NodeKind.kIfElse, IfElseNode)
register_class(NodeKind.kWhile, WhileNode)
register_class(NodeKind.kSwitch, SwitchNode)
register_class(NodeKind.kConditional, ConditionalNode)
