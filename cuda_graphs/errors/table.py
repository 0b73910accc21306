# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The table of driver statuses: an explanation for users of graphs, and a remedy, for each status.

A row is a line ``code NAME``, then the indented explanation, then the remedy after ``=>``. `errors/__init__.py` makes
exceptions from the table, and `docs/errors.md` is generated from it. Codes and names are those of ``CUresult`` in
cuda.h (CUDA 13). `STICKY` lists the statuses that leave the context unusable according to cuda.h.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

ROWS = """
1 CUDA_ERROR_INVALID_VALUE
    The driver refuses one of the arguments: a size, a pointer, a node, a condition or a launch dimension is not valid
    for this call. If cuda_graphs knows the cause, the message names it instead. Other causes with graphs are: more
    shared memory than the kernel may use. Pageable host memory in a conditional body. A second launch before the memory
    that the first launch allocated is freed.
    => Compare the arguments named above with these rules. Free the memory that a graph allocates, or instantiate with
    GraphCompleteOptions(auto_free_on_launch=True).

2 CUDA_ERROR_OUT_OF_MEMORY
    There is not enough memory (device, pinned or address space) for this request. The device keeps memory of alloc
    nodes between launches, so graphs that have finished may still hold memory.
    => Close unused buffers and graphs, trim the device's graph memory, or process the data in smaller pieces.

3 CUDA_ERROR_NOT_INITIALIZED
    A driver function was called before the driver was initialised, or in a child process that fork() made after the
    initialisation. Such a child process cannot use CUDA.
    => Create a Device() first: it initialises the driver. Start worker processes with the "spawn" method.

4 CUDA_ERROR_DEINITIALIZED
    The driver is shutting down, because the process is about to end.
    => Finish your work (stream.sync()) before the interpreter exits; do not call CUDA from atexit handlers.

5 CUDA_ERROR_PROFILER_DISABLED
    No profiler can be started in this process. An external profiling tool may own it.
    => Use either the external tool or the profiler calls, not both.

6 CUDA_ERROR_PROFILER_NOT_INITIALIZED
    An old status: the profiler was used before it was set up. Current drivers no longer report it.
    => Update the NVIDIA driver.

7 CUDA_ERROR_PROFILER_ALREADY_STARTED
    An old status: the profiler runs already. Current drivers no longer report it.
    => Update the NVIDIA driver.

8 CUDA_ERROR_PROFILER_ALREADY_STOPPED
    An old status: the profiler is stopped already. Current drivers no longer report it.
    => Update the NVIDIA driver.

34 CUDA_ERROR_STUB_LIBRARY
    The loaded libcuda is the stub of the toolkit, which is for linking only and cannot run work.
    => Remove the toolkit's "stubs" folder from LD_LIBRARY_PATH, or run on the CPU with CUDA_GRAPHS_DRIVER=host.

36 CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER
    The installed driver is older than the requested function or feature.
    => Update the NVIDIA driver (cg.driver_info() shows its version), or run with CUDA_GRAPHS_DRIVER=host.

46 CUDA_ERROR_DEVICE_UNAVAILABLE
    The device exists but is not available: another process owns it exclusively, or its compute mode forbids use.
    => Check its processes and its compute mode with `nvidia-smi`. Choose another device with CUDA_VISIBLE_DEVICES.

47 CUDA_ERROR_MULTICAST_RESOURCE_FULL
    The hardware cannot bind more memory to a multicast object.
    => Release multicast objects that are no longer used.

100 CUDA_ERROR_NO_DEVICE
    The driver sees no GPU.
    => Check `nvidia-smi` and CUDA_VISIBLE_DEVICES, or run on the CPU with CUDA_GRAPHS_DRIVER=host.

101 CUDA_ERROR_INVALID_DEVICE
    There is no device with this number, or the device does not support the operation.
    => Use a number below the count of devices. On the host driver CUDA_GRAPHS_HOST_DEVICES sets that count.

102 CUDA_ERROR_DEVICE_NOT_LICENSED
    The virtual GPU of this machine has no valid licence.
    => Ask the administrator of the machine to renew the vGPU licence.

200 CUDA_ERROR_INVALID_IMAGE
    The driver cannot load the given code: it is neither cubin, fatbin nor PTX, or it is damaged.
    => Make the ObjectCode with the constructor that fits the bytes (from_cubin, from_ptx, ...), or compile again.

201 CUDA_ERROR_INVALID_CONTEXT
    No CUDA context is current in this thread, or the object belongs to another context.
    => Call device.set_current() in every thread that uses CUDA, with the device of the object.

202 CUDA_ERROR_CONTEXT_ALREADY_CURRENT
    An old status: the context is current already. Current drivers no longer report it.
    => Update the NVIDIA driver.

205 CUDA_ERROR_MAP_FAILED
    Mapping a resource, or registering memory, failed.
    => Check that the resource exists, is not mapped already, and that the address range is valid.

206 CUDA_ERROR_UNMAP_FAILED
    Unmapping a resource, or unregistering memory, failed.
    => Check that the resource is mapped and that no work still uses it.

207 CUDA_ERROR_ARRAY_IS_MAPPED
    The array cannot be destroyed while it is mapped.
    => Unmap the array first.

208 CUDA_ERROR_ALREADY_MAPPED
    The resource is mapped already.
    => Unmap it before mapping it again.

209 CUDA_ERROR_NO_BINARY_FOR_GPU
    The code holds no version for the architecture of this device.
    => Compile for device.arch (the default of Program unless ProgramOptions(arch=...) is given), or ship PTX with the
    cubins so that the driver can translate it.

210 CUDA_ERROR_ALREADY_ACQUIRED
    The resource has been acquired already.
    => Release it before acquiring it again.

211 CUDA_ERROR_NOT_MAPPED
    The resource is not mapped.
    => Map it before use.

212 CUDA_ERROR_NOT_MAPPED_AS_ARRAY
    The resource is mapped, but not as an array.
    => Use it as a pointer, or map it as an array.

213 CUDA_ERROR_NOT_MAPPED_AS_POINTER
    The resource is mapped, but not as a pointer.
    => Use it as an array, or map it as a pointer.

214 CUDA_ERROR_ECC_UNCORRECTABLE
    The memory of the GPU had an error that its check bits could not repair. Results may be wrong.
    => Restart the process. If the error returns, have the GPU checked (`nvidia-smi -q -d ECC`).

215 CUDA_ERROR_UNSUPPORTED_LIMIT
    The device does not have the limit that was read or set.
    => Leave this limit alone on this device.

216 CUDA_ERROR_CONTEXT_ALREADY_IN_USE
    The context can be current in only one thread at a time, and another thread uses it.
    => Use the device's primary context: device.set_current() makes it current in any number of threads.

217 CUDA_ERROR_PEER_ACCESS_UNSUPPORTED
    These two devices cannot read each other's memory.
    => Check device.can_access_peer() first. Otherwise copy through pinned host memory.

218 CUDA_ERROR_INVALID_PTX
    The PTX could not be translated. On the host driver the cause may be an instruction that it does not support. The
    log names the instruction, the line and the kernel.
    => Read the log. Compile CUDA C++ with Program instead of editing PTX by hand.

219 CUDA_ERROR_INVALID_GRAPHICS_CONTEXT
    The OpenGL or DirectX context is not usable.
    => Make the graphics context current in this thread before sharing resources with it.

220 CUDA_ERROR_NVLINK_UNCORRECTABLE
    A link between GPUs had an error that could not be corrected. Results may be wrong.
    => Restart the process. If the error returns, have the machine checked (`nvidia-smi nvlink -e`).

221 CUDA_ERROR_JIT_COMPILER_NOT_FOUND
    The code is PTX, and the driver has no compiler for it: the PTX compiler library of the NVIDIA driver is missing,
    or no image loader is registered with the host driver.
    => Compile to "cubin" for this device, repair the driver installation, or (host driver) install llvmlite.

222 CUDA_ERROR_UNSUPPORTED_PTX_VERSION
    A toolkit that is newer than this driver wrote the PTX.
    => Compile to "cubin" instead of "ptx", use an older NVRTC, or update the NVIDIA driver.

223 CUDA_ERROR_JIT_COMPILATION_DISABLED
    Translating PTX is switched off (CUDA_DISABLE_PTX_JIT).
    => Unset that variable, or compile to "cubin" for this device.

224 CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY
    The device cannot restrict a context to some of its multiprocessors in this way.
    => Create the context without execution affinity.

225 CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC
    The kernel waits for its child grids with cudaDeviceSynchronize, which devices no longer support.
    => Move the code after the wait into a kernel of its own, and add it as the next node of the graph.

226 CUDA_ERROR_CONTAINED
    The device contained an error, for example an invalid access to another GPU's memory.
    => Restart the process. Look for out-of-range accesses to peer memory.

227 CUDA_ERROR_INSUFFICIENT_LOADER_VERSION
    The fat binary needs a newer loader than the loader of this driver.
    => Update the NVIDIA driver, or build the fat binary with an older toolkit.

300 CUDA_ERROR_INVALID_SOURCE
    The source of a kernel could not be compiled or linked.
    => Read the log. Pass the include paths and macros that the source needs to Program.

301 CUDA_ERROR_FILE_NOT_FOUND
    A file that holds code, or a file to write, does not exist or cannot be opened.
    => Check the path and its permissions.

302 CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND
    A library that the driver loaded lacks a symbol: the versions of the driver's libraries differ.
    => Reinstall the NVIDIA driver, and remove older copies of its libraries from LD_LIBRARY_PATH.

303 CUDA_ERROR_SHARED_OBJECT_INIT_FAILED
    A library of the driver could not be initialised.
    => Check that driver and kernel module have the same version (`nvidia-smi`), and that containers see both.

304 CUDA_ERROR_OPERATING_SYSTEM
    The operating system refused a resource that the driver needs, such as memory, threads, files or permissions.
    => Check limits (`ulimit -a`) and free space of disk and shared memory. Do not use CUDA in a forked child process.

400 CUDA_ERROR_INVALID_HANDLE
    A handle does not stand for a living object of this kind: the object was destroyed or never created, or the handle
    belongs to another process or driver.
    => Keep the Python object that owns the handle alive, and do not use objects after close().

401 CUDA_ERROR_ILLEGAL_STATE
    The state of the object does not allow the operation, for example beginning a second capture on a stream.
    => Finish the work or the capture on this object, then try again.

402 CUDA_ERROR_LOSSY_QUERY
    The result of the query would omit relevant data, such as programmatic edges of a graph.
    => Use the query that also returns edge data.

500 CUDA_ERROR_NOT_FOUND
    The code has no kernel or variable of this name, or the object has no such element.
    => Declare kernels extern "C", or pass name_expressions to compile(): C++ names are mangled.

600 CUDA_ERROR_NOT_READY
    The work has not finished yet. This status is a result, not a failure.
    => Wait with stream.sync() or event.sync(), or query again later.

700 CUDA_ERROR_ILLEGAL_ADDRESS
    A kernel or a copy used an invalid address: out of range, freed, or host memory that the device cannot access. In a
    graph, a node may have run before the alloc node or after the free node of its memory.
    => Check indices against sizes. Make every user of allocated memory depend on the alloc node, and make the free node
    depend on every user. Use pinned memory in copies. `compute-sanitizer` finds the access on a GPU, and
    CUDA_GRAPHS_HOST_CHECK=memory on the host driver.

701 CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
    The kernel cannot run with this number of threads in a block, amount of shared memory, or size of arguments.
    => Use a smaller block: kernel.attributes.max_threads_per_block is the limit, and kernel.occupancy proposes a size.

702 CUDA_ERROR_LAUNCH_TIMEOUT
    The kernel ran longer than the time limit of a device that also drives a display.
    => Split the kernel, or use a device without a display. A WhileNode runs a long loop on the device as short kernels.

703 CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING
    The kernel and the launch use different kinds of textures.
    => Use texture objects throughout.

704 CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
    Access to the memory of this peer device is enabled already.
    => Enable the access only once. The existing access stays valid.

705 CUDA_ERROR_PEER_ACCESS_NOT_ENABLED
    Access to the memory of this peer device is not enabled.
    => Enable the access (peer_access of an allocation) before using or disabling it.

708 CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE
    The device's primary context is in use, so its flags can no longer be changed.
    => Change them before the first Device(...).set_current().

709 CUDA_ERROR_CONTEXT_IS_DESTROYED
    The current context of this thread has been destroyed.
    => Call device.set_current() and create streams, buffers and graphs again.

710 CUDA_ERROR_ASSERT
    An assert() in a kernel failed. Its text, block and thread were printed to standard error.
    => Find the failed condition in that line, and check the kernel for that block and thread.

711 CUDA_ERROR_TOO_MANY_PEERS
    The hardware cannot enable access to so many peer devices at once.
    => Grant peer access only to the devices that need it.

712 CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
    This host memory, or a part of it, is pinned already.
    => Pin a range once, and unpin it before pinning an overlapping range.

713 CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED
    This host memory was not pinned by registration.
    => Unregister exactly the address that was registered. Close memory of a PinnedMemoryResource instead.

714 CUDA_ERROR_HARDWARE_STACK_ERROR
    A kernel damaged its call stack or ran out of it.
    => Avoid deep recursion and large local arrays, or raise the device's stack limit.

715 CUDA_ERROR_ILLEGAL_INSTRUCTION
    A kernel reached an instruction that the device does not have, mostly because code was overwritten or built wrongly.
    => Compile for device.arch. Look for writes through function pointers or beyond arrays.

716 CUDA_ERROR_MISALIGNED_ADDRESS
    A kernel read or wrote a value at an address that is not a multiple of the value's size.
    => Align the offsets of vector and 8-byte accesses. A uint8 buffer cast to wider types is a frequent cause.
    `compute-sanitizer` finds the access on a GPU, and CUDA_GRAPHS_HOST_CHECK=memory on the host driver.

717 CUDA_ERROR_INVALID_ADDRESS_SPACE
    A kernel used an instruction for one memory space (global, shared, local) with an address of another.
    => Check pointer casts and inline PTX in the kernel.

718 CUDA_ERROR_INVALID_PC
    A kernel jumped to an address that holds no code.
    => Check function pointers in the kernel.

719 CUDA_ERROR_LAUNCH_FAILED
    A kernel failed on the device: a trap, an invalid pointer, or an access beyond the bounds of shared memory.
    => Run with CUDA_GRAPHS_DRIVER=host or under `compute-sanitizer` to find the place. CUDA_LAUNCH_BLOCKING=1 shows the
    launch. Driver 580 also fails so if two graphs with loops run at the same time, or one beside other processes that
    use the GPU (docs/concepts/conditions.md).

720 CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
    A cooperative kernel needs all of its blocks on the device at the same time, and they do not fit.
    => Launch at most occupancy x multiprocessors blocks, each of which does more work.

721 CUDA_ERROR_TENSOR_MEMORY_LEAK
    A kernel ended without releasing all tensor memory that it had allocated.
    => Release tensor memory on every path out of the kernel.

800 CUDA_ERROR_NOT_PERMITTED
    The operation is not allowed here. The usual cause is a CUDA call inside a host callback of a stream or graph.
    => Set a flag or fill host memory in the callback, and call CUDA from an ordinary thread.

801 CUDA_ERROR_NOT_SUPPORTED
    The device, its driver or the platform lacks this feature, or the host driver does not implement it. A definition
    that holds alloc, free or conditional nodes cannot be copied or embedded. One that holds conditional nodes or memory
    of a size cannot be instantiated while it has an executable. If it allocates or frees memory of a size, its nodes
    and edges cannot be removed.
    => Close the first executable before instantiating again, or build one definition per executable. Check
    device.properties for a feature before using it.

802 CUDA_ERROR_SYSTEM_NOT_READY
    The machine is not ready for CUDA: a service that the GPUs need is not running.
    => Have the fabric manager (machines with NVSwitch) and the persistence daemon started.

803 CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
    The kernel module and the loaded libcuda have different versions.
    => Reboot after a driver update. In containers, use the libcuda that the container runtime provides.

804 CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE
    The forward-compatible libcuda does not work with this GPU.
    => Remove the cuda-compat package from LD_LIBRARY_PATH, or hide that GPU with CUDA_VISIBLE_DEVICES.

805 CUDA_ERROR_MPS_CONNECTION_FAILED
    The Multi-Process Service could not be reached.
    => Start the MPS control daemon, or unset CUDA_MPS_PIPE_DIRECTORY to run without MPS.

806 CUDA_ERROR_MPS_RPC_FAILURE
    A call to the MPS server failed.
    => Read the log of the MPS server and restart the server.

807 CUDA_ERROR_MPS_SERVER_NOT_READY
    The MPS server is starting or recovering.
    => Try again after some seconds.

808 CUDA_ERROR_MPS_MAX_CLIENTS_REACHED
    The MPS server has reached its limit of client processes.
    => Run fewer processes on this GPU.

809 CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED
    The GPU has reached its limit of connections through MPS.
    => Use fewer processes or fewer hardware queues (CUDA_DEVICE_MAX_CONNECTIONS).

810 CUDA_ERROR_MPS_CLIENT_TERMINATED
    The MPS server ended this process's connection, often because another client crashed.
    => Start the process again.

811 CUDA_ERROR_CDP_NOT_SUPPORTED
    The code launches kernels from kernels, which this configuration (such as MPS) cannot do.
    => Replace the inner launches by nodes. Conditional nodes run graphs depending on a value on the device.

812 CUDA_ERROR_CDP_VERSION_MISMATCH
    Parts of the code were built with different versions of dynamic parallelism.
    => Build all parts with the same toolkit.

900 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
    The call is not possible while a stream captures: it would wait for, or change, work that is only recorded.
    => Make the call before the capture begins or after it ends. If it is independent of the graph and does not wait for
    the whole device, capture in "relaxed" mode.

901 CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
    An earlier error invalidated this capture, which can record no more work.
    => End the capture, fix the call that failed first, and capture again.

902 CUDA_ERROR_STREAM_CAPTURE_MERGE
    An event or a join would merge two captures that were begun separately.
    => Begin one capture and fork it to other streams with split(). Join only builders of the same capture.

903 CUDA_ERROR_STREAM_CAPTURE_UNMATCHED
    The capture was begun on another stream than the stream that ends it.
    => End it with the builder that began it.

904 CUDA_ERROR_STREAM_CAPTURE_UNJOINED
    A forked stream of the capture was not joined before its end.
    => Call GraphBuilder.join() for every builder that split() returned before end_building().

905 CUDA_ERROR_STREAM_CAPTURE_ISOLATION
    Captured work may not wait for work outside of the capture, and work outside may not wait for captured work.
    => Record the event inside the capture, or wait for the outside work before the capture begins.

906 CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
    The legacy default stream waits for all ordinary streams, and an ordinary stream captures.
    => Use a stream of device.create_stream() for all work during the capture.

907 CUDA_ERROR_CAPTURED_EVENT
    The event was last recorded inside a capture, so it has no work to wait for or to query.
    => Launch the graph, and use an event that was recorded on an ordinary stream.

908 CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD
    Another thread began the capture, in a mode that binds the capture to that thread.
    => End the capture in the thread that began it, or begin it with mode="relaxed".

909 CUDA_ERROR_TIMEOUT
    A wait reached its time limit.
    => Wait longer, or find the reason why the signal is missing.

910 CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
    The executable graph cannot take over the changed definition: the nodes, the edges, or some of their parameters
    differ in a way that needs a new instantiation. The executable is unchanged and can still be launched.
    => Instantiate the changed definition, or change only parameters: same nodes, same edges, same devices.

911 CUDA_ERROR_EXTERNAL_DEVICE
    A device other than the GPU, which shares data with it, reported an error.
    => Check that device. The data that it should have delivered is not valid.

912 CUDA_ERROR_INVALID_CLUSTER_SIZE
    The blocks cannot be grouped in clusters of this size: it is too large, or the grid is not a multiple of it.
    => Use a cluster of at most 8 blocks that divides the grid, or no cluster.

913 CUDA_ERROR_FUNCTION_NOT_LOADED
    The kernel has not been loaded on this device yet, and this call needs a loaded kernel.
    => Launch the kernel once or query its attributes first, or set CUDA_MODULE_LOADING=EAGER.

914 CUDA_ERROR_INVALID_RESOURCE_TYPE
    This operation does not accept a resource of this kind.
    => Pass a resource of the kind that the call names (multiprocessors, work queues).

915 CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION
    The resources do not suffice, or cannot be divided in this way.
    => Request a split that the device reports as possible.

916 CUDA_ERROR_KEY_ROTATION
    Changing the encryption keys of a confidential-computing session failed.
    => Restart the process. If the error returns, check the confidential-computing setup of the machine.

917 CUDA_ERROR_STREAM_DETACHED
    The stream's green context has been destroyed, so the stream can no longer take work.
    => Keep that context alive as long as its streams, or create a new stream.

918 CUDA_ERROR_GRAPH_RECAPTURE_FAILURE
    Capturing again into an existing graph did not give the same structure and was stopped.
    => Capture into a new graph and instantiate that one.

919 CUDA_ERROR_FABRIC_NOT_READY
    The initialisation of the links between the GPUs has not finished.
    => Try again after some seconds.

999 CUDA_ERROR_UNKNOWN
    The driver failed for an unknown reason. After a driver update without a reboot, or after a suspend of the machine,
    the cause may be the kernel module.
    => Try `nvidia-smi`. If it fails too, reload the driver or reboot. Otherwise reduce the program and report it.
"""

# cuda.h: these leave "the process in an inconsistent state", or the context unusable.
STICKY = frozenset({214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911})

LOST = "The context is lost: every further CUDA call of this process fails. Restart the process."


class Row(NamedTuple):
    """One CUresult."""

    name: str
    explanation: str
    remedy: str


def parse(rows: str) -> Iterator[tuple[int, Row]]:
    """Yield code and row of each block of `ROWS`."""
    for block in rows.strip().split("\n\n"):
        head, _, body = block.partition("\n")
        code, name = head.split()
        explanation, remedy = (" ".join(part.split()) for part in body.split("=>"))
        yield int(code), Row(name, explanation, remedy)


TABLE: Mapping[int, Row] = MappingProxyType(dict(parse(ROWS)))
