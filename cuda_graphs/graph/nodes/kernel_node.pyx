# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""KernelNode: a launch of a kernel. The nodes of one call of a compiled kernel are updated together.

Such a call (`NodeCall`) has several nodes, each for one task. It keeps the arguments of the call, and computes the
arguments, the accesses and the config of each task from them.
"""

from cython.operator cimport dereference
from libc.stddef cimport size_t
from libc.stdint cimport uint64_t
from libc.string cimport memcmp
from libcpp.memory cimport shared_ptr
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport CUcontext
from cuda_graphs.core.driver.cuda_graph cimport CUgraphConditionalHandle
from cuda_graphs.core.graphs.graph_handles cimport (
    DeclaredHandle,
    Field,
    NodeAccesses,
    NodeParameters,
    NodeRecord,
    NodeSpec,
    hierarchy_number,
)
from cuda_graphs.core.resources.device_scope cimport kNoDevice
from cuda_graphs.core.resources.handles cimport ContextBox, ContextHandle, Parameter, box_of, create_context_ref
from cuda_graphs.objects.code.conversion cimport value_of
from cuda_graphs.objects.code.kernel cimport Kernel
from cuda_graphs.objects.code.launch_config cimport is_config_function
from cuda_graphs.objects.device.context cimport context_of_device
from cuda_graphs.graph.operands.parameter cimport argument_of, wrap
from .access_ranges cimport (
    change_declaration,
    declaration_of_call,
    declared_spans,
    describe_accesses,
    memory_of_call,
    public_spans,
    read_declaration,
    set_declaration,
)
from .insertion_point cimport check_not_freed, give_launch, wrap_node
from .node cimport GraphNode, named_parameters
from .node_call cimport NodeCall, call_of, leave_call
from .node_call import NO_CALL
from .places cimport enter_places, leave_places
from .places import readable
from .sized_config cimport config_function_of
from .spec cimport accept_arguments, change_kernel, config_of, kernel_of, read_kernel


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
        elif config is None and args is not None:
            config = config_function_of(self._record())
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
        return read_arguments(self) if call is None else call.arguments()

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
        return memory_of_call(self._record()) or declared_spans(self._record())

    cdef int _add_accesses(self, NodeAccesses& accesses) except -1:
        cdef NodeRecord* record = self._record()
        cdef DeclaredHandle by_call = declaration_of_call(record)
        cdef NodeSpec spec
        if by_call.get() == NULL:
            return GraphNode._add_accesses(self, accesses)
        spec.begin(record.kind)
        return describe_accesses(spec, by_call.get(), accesses)

    def _raw_arguments(self):
        """Return (form, bytes, Parameter or None, word) of each parameter of the kernel.

        The form is a number of ValueForm (objects/code/signature.py has the names). The word is that of a ParameterUse: 0 for
        the value or the address, n for the extent n - 1 of an array. None instead of the list if other code packed the
        arguments.
        """
        cdef shared_ptr[NodeSpec] spec = self._parameters()
        cdef NodeRecord* record = self._record()
        cdef Kernel kernel = kernel_of(dereference(spec))  # it may be the only one that keeps the parameters
        cdef const vector[Parameter]* parameters = kernel._parameters()
        cdef NodeParameters* named
        cdef size_t i
        found = []
        if are_packed(dereference(spec), parameters):
            return None
        for i in range(parameters.size()):
            data = <bytes>(<char*>spec.get().params.kernel.kernelParams[i])[: parameters[0][i].size]
            found.append((<int>parameters[0][i].type.form, data, None, 0))
        named = named_parameters(record)
        if named != NULL:
            for use in named.uses:
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
        return NO_CALL if call is None else call.early_task(call.task_of(record))

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
        cdef NodeParameters* named = named_parameters(self._record())
        return named != NULL and <bint>named.rules.size

    def _takes(self, CUgraphConditionalHandle handle):
        """Return True if the arguments contain the 8 bytes of a handle, in any type, or cannot be read."""
        cdef NodeSpec spec
        self._load(spec)
        cdef Kernel kernel = kernel_of(spec)
        cdef const vector[Parameter]* parameters = kernel._parameters()
        cdef size_t i, word
        if are_packed(spec, parameters):
            return True
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


cdef bint are_packed(NodeSpec& spec, const vector[Parameter]* parameters) noexcept:
    """Return True if other code packed the arguments of a launch (`extra` of cuda.h), which only that code can take apart."""
    return spec.params.kernel.kernelParams == NULL and not parameters.empty()


cdef tuple read_arguments(KernelNode self):
    """Return the Parameter, or the value, of each parameter of the kernel."""
    cdef shared_ptr[NodeSpec] spec = self._parameters()
    cdef NodeParameters* named
    cdef Kernel kernel = kernel_of(dereference(spec))
    cdef const vector[Parameter]* parameters = kernel._parameters()
    cdef size_t i
    found = []
    if are_packed(dereference(spec), parameters):
        raise RuntimeError(
            f"the arguments of {self._identify()} were packed by other code (`extra` of cuLaunchKernel), and only that code "
            "can take them apart: give it new ones by `update`"
        )
    for i in range(parameters.size()):
        value = value_of(<char*>spec.get().params.kernel.kernelParams[i], parameters[0][i])
        found.append(readable(value) if isinstance(value, int) else value)
    named = named_parameters(self._record())  # `readable` may have changed them
    if named != NULL:
        for use in named.uses:
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
    (<GraphNode>wrap_node(self._ref.any(), record))._set(spec)
    return set_declaration(record, declared)


give_launch(KernelNode)
