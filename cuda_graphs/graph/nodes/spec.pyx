# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
# cython: cdivision=True
"""Converts Python values to a NodeSpec, with one `read_*` function per kind of node."""

from libc.stddef cimport size_t
from libc.stdint cimport uintptr_t
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport CUcontext, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_NOT_SUPPORTED, CUdeviceptr, CUresult
from cuda_graphs.core.driver.cuda_graph cimport (
    CU_GRAPH_COND_TYPE_IF,
    CU_GRAPH_COND_TYPE_SWITCH,
    CU_GRAPH_COND_TYPE_WHILE,
    CU_MEMORYTYPE_DEVICE,
    CU_MEMORYTYPE_HOST,
    CU_MEMORYTYPE_UNIFIED,
    CUDA_CONDITIONAL_NODE_PARAMS,
    CUDA_KERNEL_NODE_PARAMS_v3,
    CUDA_MEM_ALLOC_NODE_PARAMS_v2,
    CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS_v2,
    CUgraphConditionalNodeType,
    CUmemorytype,
    graph_driver,
)
from cuda_graphs.core.driver.seam cimport check_attempt, raise_explained, raise_noted
from cuda_graphs.core.graphs.graph_handles cimport (
    AllocKind,
    GraphBox,
    NodeKind,
    NodeParameters,
    NodeSpec,
    alloc_kind,
    as_owner,
    destination_of,
    hierarchy_number,
    kMaxDepth,
    levels_inside,
    seal_owners,
    set_allocation,
    restore_order,
    has_place_nodes,
    share_owners,
    source_of,
    write_size,
)
from cuda_graphs.core.resources.device_scope cimport device_of_context, find_device, has_several_devices, kNoDevice
from cuda_graphs.core.resources.device_scope cimport current_device as device_now
from cuda_graphs.core.resources.handles cimport EventHandle, KernelBox, box_of, find_likely_function, kernel_of_node
from cuda_graphs.objects.code.arguments cimport (
    HAS_STAND_INS,
    StandIn,
    own_arguments,
    pack_arguments,
    reach_arguments,
)
from cuda_graphs.objects.code.kernel cimport Kernel
from cuda_graphs.objects.body_rules cimport check_device_fits_body, device_fits_body, holder_of_body, refuse_device
from cuda_graphs.objects.code.launch cimport register_uses
from cuda_graphs.objects.code.launch_config cimport LaunchConfig, is_config_function
from cuda_graphs.objects.device.context cimport context_of_device
from cuda_graphs.objects.keyword_method cimport PySequence_Fast_ITEMS, as_tuple
from cuda_graphs.objects.numbers cimport as_address, read_address, read_size
from .callback cimport read_callback
from cuda_graphs.graph.operands.condition cimport Condition
from .sized_config cimport (
    SizedConfig,
    begin_rules,
    device_of_config,
    drop_size,
    finish_rules,
    fix_shapes,
    join_call_of,
    read_config,
)
from cuda_graphs.graph.operands.operands cimport (
    accept_condition,
    accept_context,
    accept_event,
    accept_kernel,
)
from cuda_graphs.graph.operands.parameter cimport prepare_uses, use_argument
from .options import MEMORY_TYPES, device_ordinal, memory_kind, peer_ordinals


cdef int read_kernel(NodeSpec& spec, object config, object kernel, tuple args) except -1:
    return read_launch(spec, config, accept_kernel(kernel), PySequence_Fast_ITEMS(args), <size_t>len(args))


cdef int read_launch(NodeSpec& spec, object config, Kernel kernel, Arguments args, size_t count) except -1:
    spec.owners.first = as_owner(kernel._h)
    if type(config) is LaunchConfig:
        return read_plain_launch(spec, <LaunchConfig>config, kernel, args, count)
    cdef LaunchConfig size = read_config(config, as_tuple(args, count))
    cdef bint has_rules = isinstance(size, SizedConfig)
    spec.begin(NodeKind.kKernel)
    fill_config(spec, size)
    if has_rules:
        begin_rules(spec, size)
    cdef int found = fill_arguments(spec, kernel, args, count)
    if has_several_devices():
        place_kernel(spec, device_of_config(size), found, args, count)
    return finish_rules(spec, size) if has_rules else 0


cdef int read_plain_launch(NodeSpec& spec, LaunchConfig config, Kernel kernel, Arguments args, size_t count) except -1:
    spec.begin(NodeKind.kKernel)
    fill_config(spec, config)
    cdef int found = fill_arguments(spec, kernel, args, count)
    return place_kernel(spec, kNoDevice, found, args, count) if has_several_devices() else 0


cdef int place_kernel(NodeSpec& spec, int device, int found, Arguments args, size_t count) except -1:
    """Give a kernel node a device, or the current one for kNoDevice, and let it use memory of other devices.

    `found` is the result of `fill_arguments`."""
    if device != kNoDevice:
        spec.params.kernel.ctx = context_of_device(device)
    if not found:  # plain numbers
        return 0
    return reach_arguments(args, count, device_now() if device == kNoDevice else device)


cdef int read_uses(
    GraphBox* graph, LaunchConfig config, Arguments args, size_t count, unique_ptr[NodeParameters]& uses
) except -1:
    cdef NodeSpec spec
    spec.begin(NodeKind.kKernel)
    begin_rules(spec, config)
    use_stand_ins(spec, args, count)
    finish_rules(spec, config)
    if not spec.uses.empty():
        prepare_uses(graph, spec).swap(uses)
    return 0


register_uses(read_uses, read_config, join_call_of, device_of_config)


cdef int device_of_spec(NodeSpec& spec) except -2:
    cdef CUcontext context = NULL
    if spec.kind == NodeKind.kKernel:
        context = spec.params.kernel.ctx
    elif spec.kind == NodeKind.kMemset:
        context = spec.params.memset.ctx
    elif spec.kind == NodeKind.kMemcpy:
        context = spec.params.memcpy.copyCtx
    elif NodeKind.kIf <= spec.kind <= NodeKind.kSwitch:
        context = spec.params.conditional.ctx
    else:
        return kNoDevice
    return device_now() if context == NULL else device_of_context(context)


cdef int device_to_note(NodeSpec& spec) except -2:
    return kNoDevice if spec.kind == NodeKind.kKernel else device_of_spec(spec)


cdef int check_devices_fit_body(GraphBox* graph, NodeSpec& spec, object name) except -1:
    cdef int device = kNoDevice
    cdef CUdeviceptr address
    cdef CUresult status
    if holder_of_body(graph) == NULL:
        return 0
    device = device_of_spec(spec)
    if not device_fits_body(graph, device):
        if name is None and spec.kind == NodeKind.kKernel:
            name = kernel_of(spec)._name()
        refuse_device(graph, device, spec.kind, name)
    if spec.kind != NodeKind.kMemcpy:
        return 0
    address = destination_of(spec.params.memcpy.copyParams)
    with nogil:
        status = find_device(address, &device)
    check_attempt(status, "find the device of the destination of a copy")
    return check_device_fits_body(graph, device, spec.kind, name)


cdef int change_kernel(NodeSpec& spec, object config, object kernel, object args) except -1:
    if kernel is not None and args is None:
        raise ValueError("a new kernel needs args: pass a tuple, () for a kernel without arguments")
    if is_config_function(config) and args is None:
        raise ValueError("config is a function of the arguments, which needs args: pass them all again")
    cdef tuple given = () if args is None else accept_arguments(args)
    cdef LaunchConfig size = None if config is None else read_config(config, given)
    cdef Kernel code
    if size is not None or args is not None:
        drop_size(spec)
    if size is not None:
        fill_config(spec, size)
        begin_rules(spec, size)
    if args is not None:
        spec.uses.clear()
        spec.params.kernel.extra = NULL  # arguments that other code packed; cuda.h allows one of the two
        code = kernel_of(spec) if kernel is None else accept_kernel(kernel)
        spec.owners.first = as_owner(code._h)
        spec.owners.second.reset()
        fill_arguments(spec, code, PySequence_Fast_ITEMS(given), <size_t>len(given))
    elif size is not None:
        fix_shapes(spec)
    return 0 if size is None else finish_rules(spec, size)


cdef tuple accept_arguments(object args):
    if type(args) is tuple:
        return <tuple>args
    if not isinstance(args, (tuple, list)):
        raise TypeError(f"args must be a tuple of the kernel's arguments, got {type(args).__name__}")
    return tuple(args)


cdef inline int fill_arguments(NodeSpec& spec, Kernel kernel, Arguments args, size_t count) except -1:
    """Return what `pack_arguments` finds."""
    cdef int found = pack_arguments(spec.arguments, kernel, args, count)
    if found & HAS_STAND_INS:
        use_stand_ins(spec, args, count)
    fill_code(spec, kernel)
    spec.params.kernel.kernelParams = spec.arguments.pointers()
    if found:
        own_arguments(args, count, spec.owners.second)
    return found


cdef int use_stand_ins(NodeSpec& spec, Arguments args, size_t count) except -1:
    cdef size_t i
    for i in range(count):
        if isinstance(<object>args[i], StandIn):
            use_argument(spec, <StandIn>args[i], <unsigned int>i)
    return 0


cdef int fill_code(NodeSpec& spec, Kernel kernel) except -1:
    cdef KernelBox* code = box_of[KernelBox](kernel._h)
    spec.params.kernel.func = code.function  # overrides `kern` unless it is NULL
    spec.params.kernel.kern = code.raw
    if code.function != NULL:
        spec.params.kernel.kern = NULL
    if not find_likely_function(kernel._h, &spec.likely):
        raise_noted(f"find the function of kernel {kernel._name()!r} in the current context")
    return 0


cdef inline int fill_config(NodeSpec& spec, LaunchConfig config) except -1:
    if config._is_programmatic:
        raise ValueError(
            "config.programmatic_stream_serialization is for launches on a stream: pass edge=EdgeData.programmatic() to "
            "the launch of a node"
        )
    spec.shape = config._shape
    write_size(spec.params.kernel, config._size)
    return 0


cdef LaunchConfig config_of(NodeSpec& spec):
    cdef CUDA_KERNEL_NODE_PARAMS_v3* p = &spec.params.kernel
    cdef unsigned int* cluster = spec.shape.cluster
    return LaunchConfig(
        grid=(
            p.gridDimX // (cluster[0] or 1),
            p.gridDimY // (cluster[1] or 1),
            p.gridDimZ // (cluster[2] or 1),
        ),
        cluster=(cluster[0], cluster[1], cluster[2]) if cluster[0] else None,
        block=(p.blockDimX, p.blockDimY, p.blockDimZ),
        shmem_size=p.sharedMemBytes,
        is_cooperative=spec.shape.cooperative != 0,
    )


cdef Kernel kernel_of(NodeSpec& spec):
    return Kernel._from_handle(kernel_of_node(spec.params.kernel.func, spec.params.kernel.kern))


cdef int read_alloc(NodeSpec& spec, object size, object options) except -1:
    cdef AllocKind kind = <AllocKind><int>memory_kind(options.memory_type)
    cdef vector[int] peers
    for peer in peer_ordinals(options.peer_access):
        peers.push_back(peer)
    spec.begin(NodeKind.kAlloc)
    cdef int device = current_device() if options.device is None else device_ordinal(options.device, "device")
    set_allocation(spec, kind, device, read_size(size, "size"), peers)
    return device


cdef int current_device() except -1:
    cdef int device = 0
    cdef CUresult status
    with nogil:
        status = graph_driver().cuCtxGetDevice(&device)
    if status:
        check_attempt(status, "find the device of an alloc node: give `device`, or call Device().set_current() first")
    return device


cdef CUmemorytype memory_type_of(AllocKind kind) noexcept:
    if kind == AllocKind.kHost:
        return CU_MEMORYTYPE_HOST
    return CU_MEMORYTYPE_DEVICE if kind == AllocKind.kDevice else CU_MEMORYTYPE_UNIFIED


cdef int read_free(NodeSpec& spec, object dptr) except -1:
    spec.begin(NodeKind.kFree)
    if as_address(dptr) is None:
        raise TypeError(f"dptr must be an int, the address of an alloc node, or the alloc node itself, got {type(dptr).__name__}")
    spec.params.free.dptr = read_address(dptr, "dptr")
    return 0


cdef int check_depth(GraphBox* around, unsigned int levels_inside_node) except -1:
    cdef unsigned int depth = around.depth + levels_inside_node
    if depth > kMaxDepth:
        raise RecursionError(f"graphs may be nested {kMaxDepth} deep; this node would add a graph at depth {depth}")
    return 0


cdef int read_child(NodeSpec& spec, object child, GraphBox* source, GraphBox* around) except -1:
    check_depth(around, 1 + levels_inside(source[0]))
    if has_place_nodes(source[0]):
        raise_explained(CUDA_ERROR_NOT_SUPPORTED, f"add a copy of {child._identify(True)}", child._explain_embedding())
    spec.begin(NodeKind.kChild)
    spec.child = <void*>child
    spec.params.graph.graph = source.raw
    seal_owners(source[0])  # the embedded graph is a copy that shares the owners
    cdef CUresult status = share_owners(source[0])
    if status:
        check_attempt(status, f"attach the owners of the nodes of {child!r} before it is embedded")
    status = restore_order(source[0])
    if status:
        check_attempt(status, f"put the edges of {child!r} in order before it is embedded")
    return 0


cdef int read_host(NodeSpec& spec, object fn, object user_data, object name) except -1:
    spec.begin(NodeKind.kHost)
    return read_callback(fn, user_data, name, &spec.params.host, &spec.owners)


cdef int read_event(NodeSpec& spec, NodeKind kind, object event) except -1:
    cdef EventHandle h = accept_event(event)
    spec.begin(kind)
    if kind == NodeKind.kEventRecord:
        spec.params.eventRecord.event = h.get()[0]
    else:
        spec.params.eventWait.event = h.get()[0]
    spec.owners.first = as_owner(h)
    return 0


cdef int read_conditional(NodeSpec& spec, object condition, NodeKind kind, unsigned int size, GraphBox* around) except -1:
    cdef Condition c = accept_condition(condition)
    fill_conditional(spec, c, kind, size, accept_context("conditional node"), around)
    if c._context not in (NULL, spec.params.conditional.ctx):
        raise_explained(
            CUDA_ERROR_INVALID_VALUE,
            f"add a conditional node on {c!r}",
            (
                "The condition belongs to another context than the current one.",
                "Call set_current() of the device that was current when the condition was created.",
            ),
        )
    return 0


cdef int fill_conditional(
    NodeSpec& spec, Condition condition, NodeKind kind, unsigned int size, CUcontext context, GraphBox* around
) except -1:
    check_depth(around, 1)
    if condition._hierarchy != hierarchy_number(around[0]):
        raise_explained(
            CUDA_ERROR_INVALID_VALUE,
            f"add a conditional node on {condition!r}",
            (
                f"The condition {condition._handle:#x} was created for another graph.",
                "Create the condition with create_condition() of this graph or of a graph around it.",
            ),
        )
    spec.begin(kind)
    spec.params.conditional.handle = condition._handle
    spec.params.conditional.type = conditional_type_of(kind)
    spec.params.conditional.size = size
    spec.params.conditional.ctx = context
    return 0


cdef CUgraphConditionalNodeType conditional_type_of(NodeKind kind) noexcept:
    if kind == NodeKind.kWhile:
        return CU_GRAPH_COND_TYPE_WHILE
    return CU_GRAPH_COND_TYPE_SWITCH if kind == NodeKind.kSwitch else CU_GRAPH_COND_TYPE_IF


# Descriptions of specs, one function per kind.

ctypedef str (*Describe)(NodeSpec& spec)


cdef str describe_launch(NodeSpec& spec):
    return f"a launch of {kernel_of(spec)._name()} with {config_of(spec)!r}"


cdef str describe_alloc(NodeSpec& spec):
    cdef CUDA_MEM_ALLOC_NODE_PARAMS_v2* p = &spec.params.alloc
    cdef size_t i
    peers = [f"{p.accessDescs[i].location.id}" for i in range(p.accessDescCount)]
    where = f" on device {p.poolProps.location.id}" if alloc_kind(p.poolProps) != AllocKind.kHost else ""
    access = f", with access of device {' and '.join(peers)}" if peers else ""
    return f"an allocation of {p.bytesize} bytes of {MEMORY_TYPES[<int>alloc_kind(p.poolProps)]} memory{where}{access}"


cdef object in_words = None


def register_address_words(function):
    """Set the function that returns an address in words."""
    global in_words
    in_words = function


cdef str describe_free(NodeSpec& spec):
    return f"a free of {in_words(spec.params.free.dptr)}"


cdef str describe_memset(NodeSpec& spec):
    cdef CUDA_MEMSET_NODE_PARAMS_v2* p = &spec.params.memset
    return f"a memset of {p.width} x {p.height} elements at {in_words(p.dst)}"


cdef str describe_memcpy(NodeSpec& spec):
    cdef CUDA_MEMCPY3D* copy = &spec.params.memcpy.copyParams
    size = copy.WidthInBytes * copy.Height * copy.Depth
    return f"a memcpy of {size} bytes from {in_words(source_of(copy[0]))} to {in_words(destination_of(copy[0]))}"


cdef str describe_child(NodeSpec& spec):
    return f"a copy of {(<object>spec.child)._identify(True)}"


cdef str describe_host(NodeSpec& spec):
    return f"a call of the function at {<uintptr_t><void*>spec.params.host.fn:#x}"


cdef str describe_record(NodeSpec& spec):
    return f"a record of the event {<uintptr_t>spec.params.eventRecord.event:#x}"


cdef str describe_wait(NodeSpec& spec):
    return f"a wait for the event {<uintptr_t>spec.params.eventWait.event:#x}"


cdef str describe_conditional(NodeSpec& spec):
    cdef CUDA_CONDITIONAL_NODE_PARAMS* p = &spec.params.conditional
    return f"a conditional node with {p.size} bodies on the condition {p.handle:#x}"


cdef Describe[<int>NodeKind.kOther + 1] descriptions

descriptions[<int>NodeKind.kKernel] = describe_launch
descriptions[<int>NodeKind.kAlloc] = describe_alloc
descriptions[<int>NodeKind.kFree] = describe_free
descriptions[<int>NodeKind.kMemset] = describe_memset
descriptions[<int>NodeKind.kMemcpy] = describe_memcpy
descriptions[<int>NodeKind.kChild] = describe_child
descriptions[<int>NodeKind.kHost] = describe_host
descriptions[<int>NodeKind.kEventRecord] = describe_record
descriptions[<int>NodeKind.kEventWait] = describe_wait
for conditional in (NodeKind.kIf, NodeKind.kIfElse, NodeKind.kWhile, NodeKind.kSwitch):
    descriptions[<int>conditional] = describe_conditional


cdef str describe(NodeSpec& spec):
    return descriptions[<int>spec.kind](spec)


cdef tuple facts_of(NodeSpec& spec):
    if spec.kind == NodeKind.kAlloc:
        return "alloc", spec.params.alloc.bytesize
    if spec.kind == NodeKind.kFree:
        return "free", spec.params.free.dptr
    if spec.kind == NodeKind.kMemset:
        return "use", spec.params.memset.dst
    if spec.kind == NodeKind.kMemcpy:
        return "use", destination_of(spec.params.memcpy.copyParams), source_of(spec.params.memcpy.copyParams)
    return None
