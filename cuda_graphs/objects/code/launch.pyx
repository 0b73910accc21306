# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Launches a kernel on a stream."""

import sys

from cpython.object cimport PyObject
from libc.stddef cimport size_t
from libcpp.memory cimport unique_ptr
from libcpp.utility cimport move

from cuda_graphs.core.driver.cuda cimport (
    CUDA_SUCCESS,
    CUfunction,
    CUlaunchAttribute,
    CUlaunchConfig,
    CUresult,
    CUstream,
    driver,
)
from cuda_graphs.core.driver.seam cimport raise_explained, raise_noted
from cuda_graphs.core.capture.capture_handles cimport CapturedCall, active_captures, may_be_captured
from cuda_graphs.core.graphs.graph_handles cimport LaunchSize, NodeKind, NodeParameters, NodeRecord, as_owner
from cuda_graphs.core.resources.device_scope cimport device_of_stream, has_several_devices, kNoDevice
from cuda_graphs.core.resources.handles cimport ArgumentPack, Opaque, StreamHandle, function_on, note_launch, raw_of
from .arguments cimport (
    HAS_GRAPH_MEMORY,
    HAS_STAND_INS,
    StandIn,
    memory_of,
    own_arguments,
    pack_arguments,
    reach_arguments,
)
from cuda_graphs.objects.body_rules cimport device_fits_body, refuse_device
from cuda_graphs.objects.capture_ledger cimport note_work_elsewhere
from cuda_graphs.objects.captured_call cimport find_capture, finish_node, keep_owners, raise_call_error
from cuda_graphs.objects.keyword_method cimport (
    Arguments,
    PyMethodDef,
    PySequence_Fast_ITEMS,
    as_tuple,
    keywords,
    make_function,
)
from .kernel cimport Kernel, as_launch
from .launch_config cimport MOST_ATTRIBUTES, LaunchConfig, accept_launch_config, is_config_function, is_plain
from cuda_graphs.objects.device.current cimport current_or
from cuda_graphs.objects.device.context cimport DeviceScope, enter_device
from cuda_graphs.objects.device.stream cimport Stream, accept_stream
from cuda_graphs.objects.memory.buffer cimport Buffer, MemoryKind, check_launched, device_at_work
from cuda_graphs.objects.memory.array_view cimport graph_memory_error
from cuda_graphs.objects.device.device import Device


cdef ReadUses read_uses = NULL
cdef ReadConfig read_config = NULL
cdef NoteNode note_node = NULL
cdef DeviceOfConfig device_of_config = NULL


cdef int register_uses(ReadUses uses, ReadConfig config, NoteNode note, DeviceOfConfig device) except -1:
    global read_uses, read_config, note_node, device_of_config
    read_uses, read_config, note_node, device_of_config = uses, config, note, device
    return 0


cdef str LAUNCH = """launch($module, stream, config, kernel, *args)
--

Launch a kernel on a stream. Returns at once; the kernel runs in the order of the stream.

Args:
    stream: A Stream, a GraphBuilder, or an object with ``__cuda_stream__``. None: the current stream of a `with` block
        (`stream`, `capture`, a GraphBuilder).
    config: A LaunchConfig, a dict of its fields, or a function that returns one of these for the arguments.
    kernel: The Kernel, or an object with ``__cuda_graph_kernel__(config, args) -> (config, Kernel, args)``, such as
        a function made by `kernel`. Such an object takes its own arguments, and chooses the config for None.
    args: One value for each parameter: Buffers and addresses (int) for pointers; Python, NumPy or ctypes numbers; a
        Condition. A number keeps its value, or is refused (docs/guide/kernel-signatures.md). Buffers must live until the
        kernel is done. A captured launch becomes a node, and the graph keeps its kernel and arguments alive.

Raises:
    TypeError: The number or a type of the arguments does not match the parameters, or `stream` is None
        outside of such a block.
    RuntimeError: An argument is memory of an alloc node, which exists only while its graph runs.
    OverflowError: An int does not fit its parameter.
    ValueError: A float parameter cannot hold an int exactly. A cooperative grid cannot run all at once.
    CUDAError: The driver refuses the launch, earlier work of the device failed, or an argument is memory of a captured
        graph that has not been launched.
"""


cdef object launch_function(PyObject* module, Arguments args, Py_ssize_t count, PyObject* names):
    cdef tuple given
    if names == NULL and count >= 3:
        return launch_kernel(<object>args[0], <object>args[1], <object>args[2], args + 3, <size_t>count - 3)
    named = {} if names == NULL else keywords(<tuple>names, args + count)
    stream, config, kernel, given = _Accepted.launch(*as_tuple(args, <size_t>count), **named)
    return launch_kernel(stream, config, kernel, PySequence_Fast_ITEMS(given), <size_t>len(given))


class _Accepted:
    """The arguments that the function accepts. Python raises its own TypeError for others."""

    @staticmethod
    def launch(stream, config, kernel, *args):
        return stream, config, kernel, args


cdef PyMethodDef launch_definition
cdef bytes launch_doc = LAUNCH.encode()
launch = make_function(&launch_definition, b"launch", <void*>launch_function, launch_doc, sys.modules[__name__])


cdef object launch_kernel(object stream, object config, object kernel, Arguments args, size_t count):
    cdef Stream on = <Stream>stream if type(stream) is Stream and (<Stream>stream)._h else find_stream(stream)
    if not isinstance(kernel, Kernel):
        return launch_foreign(on, config, kernel, as_tuple(args, count))
    cdef LaunchConfig shape = <LaunchConfig>config if type(config) is LaunchConfig else find_shape(config, args, count)
    cdef Kernel code = <Kernel>kernel
    cdef ArgumentPack pack
    cdef int found = pack_arguments(pack, code, args, count)
    if shape._shape.cooperative:  # before the graph keeps any owner for the launch
        check_cooperative(shape, code)
    cdef StreamHandle h = on._h  # a copy: another thread may close the stream meanwhile
    if not h:  # arguments may run code that closes the stream
        on._check_open()
    cdef CUstream raw_stream = raw_of(h)
    cdef DeviceScope scope
    cdef int device = kNoDevice
    if has_several_devices():
        device = enter_device_of_launch(scope, h, shape, code)
        if found:
            reach_arguments(args, count, device)
    cdef CUfunction function = function_on(code._h, h)
    cdef CUresult status
    if function == NULL:
        raise_noted(f"launch of kernel {code._name()!r}")
    if may_be_captured(h):
        return launch_captured(on, h, device, function, shape, code, pack, found, args, count)
    if found & (HAS_GRAPH_MEMORY | HAS_STAND_INS):
        refuse_arguments(args, count, code, h)
    cdef LaunchSize* size = &shape._size
    if not is_plain(shape):
        status = launch_shaped(shape, raw_stream, function, pack.pointers())
    else:
        with nogil:
            status = driver().cuLaunchKernel(
                function, size.grid[0], size.grid[1], size.grid[2], size.block[0], size.block[1], size.block[2],
                size.shared, raw_stream, pack.pointers(), NULL,
            )
    note_launch(h, code._h)
    if active_captures.load() != 0:
        note_work_elsewhere("launch")
    if status:
        raise_explained(status, attempt(code, shape, on), None)


cdef CUresult launch_shaped(LaunchConfig shape, CUstream stream, CUfunction function, void** arguments) noexcept:
    """Make the call of the driver for a cluster, and for a cooperative or programmatic launch."""
    cdef CUlaunchConfig native
    cdef CUlaunchAttribute attributes[MOST_ATTRIBUTES]
    cdef CUresult status
    shape._fill(&native, attributes)
    native.hStream = stream
    with nogil:
        status = submit(&native, function, arguments)
    return status


cdef object launch_foreign(Stream on, object config, object kernel, tuple args):
    """Launch the Kernel that an object makes."""
    config, kernel, args, _, _ = as_launch(config, kernel, args)
    return launch_kernel(on, config, kernel, PySequence_Fast_ITEMS(args), <size_t>len(args))


cdef Stream find_stream(object stream):
    cdef Stream current = current_or(None) if stream is None else None
    return accept_stream(stream) if current is None else current


cdef LaunchConfig find_shape(object config, Arguments args, size_t count):
    return call_config(config, as_tuple(args, count)) if is_config_function(config) else accept_launch_config(config)


cdef str attempt(Kernel kernel, LaunchConfig shape, Stream on):
    return f"launch of kernel {kernel._name()!r} with {shape!r} on {on!r}"


cdef CUresult submit(const CUlaunchConfig* native, CUfunction function, void** arguments) noexcept nogil:
    if native.numAttrs:
        return driver().cuLaunchKernelEx(native, function, arguments, NULL)
    return driver().cuLaunchKernel(
        function, native.gridDimX, native.gridDimY, native.gridDimZ, native.blockDimX, native.blockDimY, native.blockDimZ,
        native.sharedMemBytes, native.hStream, arguments, NULL,
    )


cdef object launch_captured(
    Stream on, const StreamHandle& h, int device, CUfunction function, LaunchConfig shape, Kernel code, ArgumentPack& pack,
    int found, Arguments args, size_t count,
):
    """Launch on a stream that may be captured."""
    cdef CapturedCall call
    cdef unique_ptr[NodeParameters] uses
    cdef CUlaunchConfig native
    cdef CUlaunchAttribute attributes[MOST_ATTRIBUTES]
    shape._fill(&native, attributes)
    native.hStream = raw_of(h)
    if find_capture(call, h):
        if not device_fits_body(&call.capture().box(), device):
            refuse_device(&call.capture().box(), device, NodeKind.kKernel, code._name())
        keep_for_node(call, shape, code, args, count, found, uses)
    elif found & (HAS_GRAPH_MEMORY | HAS_STAND_INS):
        refuse_arguments(args, count, code, h)
    with nogil:
        call.run(submit, &native, function, pack.pointers())
    note_launch(h, code._h)
    cdef NodeRecord* node = finish_node(call, NodeKind.kKernel, "launch")
    if call.status() != CUDA_SUCCESS:
        raise_call_error(call, attempt(code, shape, on))
    if uses:
        node.make_metadata().parameters.swap(uses)
    if node != NULL and type(shape) is not LaunchConfig:
        note_node(node, shape)


cdef int keep_for_node(
    CapturedCall& call, LaunchConfig shape, Kernel code, Arguments args, size_t count, int found,
    unique_ptr[NodeParameters]& uses,
) except -1:
    """Give the graph of a capture the owners of a launch, and read the uses of named parameters."""
    cdef Opaque owner
    if found & HAS_STAND_INS or type(shape) is not LaunchConfig:
        read_uses(&call.capture().box(), shape, args, count, uses)
    own_arguments(args, count, owner)
    return keep_owners(call, as_owner(code._h), move(owner))


cdef int enter_device_of_launch(DeviceScope& scope, const StreamHandle& stream, LaunchConfig config, Kernel kernel) except -2:
    """Make the device of a launch current, and return it."""
    cdef int wanted = kNoDevice if device_of_config == NULL else device_of_config(config)
    cdef int of_stream = device_of_stream(stream)
    if wanted != of_stream and wanted != kNoDevice and of_stream != kNoDevice:
        raise ValueError(
            f"launch of {kernel._name()!r}: its arrays are on device {wanted}, and the stream is of device {of_stream}: pass a "
            f"stream of device {wanted}"
        )
    enter_device(scope, wanted)
    return device_at_work(stream)


cdef LaunchConfig call_config(object config, tuple args):
    """Return the config that a function of the arguments gives. Without the graph package there are no parameters."""
    return accept_launch_config(config(*args)) if read_config == NULL else read_config(config, args)


cdef int refuse_arguments(Arguments args, size_t count, Kernel kernel, const StreamHandle& stream) except -1:
    """Refuse values that come later, and memory that a graph allocates later, in a launch outside of graphs."""
    cdef Buffer memory
    cdef size_t i
    for i in range(count):
        arg = <object>args[i]
        if isinstance(arg, StandIn):
            if not (<StandIn>arg)._is_complete:
                raise TypeError(f"{arg!r} has no value here: only nodes of its graph take it")
            continue
        memory = memory_of(arg)
        if memory is not None:
            if memory._kind == MemoryKind.UNLAUNCHED:
                check_launched(memory, stream, f"launch of kernel {kernel._name()!r} with {arg!r} as argument {i}")
            continue
        describe = getattr(type(arg), "__cuda_graph_array__", None)
        if describe is not None and describe(arg).node is not None:
            raise RuntimeError(graph_memory_error(repr(arg)))
    return 0


cdef int check_cooperative(LaunchConfig shape, Kernel kernel) except -1:
    """Refuses a cooperative launch whose blocks do not all fit on the device at the same time."""
    x, y, z = shape.block
    blocks = kernel.occupancy.max_active_blocks_per_multiprocessor(x * y * z, shape.shmem_size)
    limit = blocks * Device().properties.multiprocessor_count
    x, y, z = shape.grid
    if x * y * z > limit:
        raise ValueError(f"The specified grid size ({x} * {y} * {z}) exceeds the limit ({limit})")
    return 0
