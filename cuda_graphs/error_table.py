# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What every status of the CUDA driver means to somebody who works with graphs, and what to do about it.

One table, written as text because it is text: a row is a line ``code NAME``, then indented the explanation, then the
remedy from ``=>`` on. `errors.py` makes exceptions of it and `docs/errors.md` is generated from it. Codes and names
are those of ``CUresult`` in cuda.h (CUDA 13); `STICKY` is what cuda.h says about the state of the context afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

ROWS = """
1 CUDA_ERROR_INVALID_VALUE
    The driver refuses one of the arguments: a size, a pointer, a node, a condition or a launch dimension is outside
    of what this call takes. Usual causes with graphs: alloc() of 0 bytes; free() of an address that is not allocated
    or already freed in this definition; a memset or memcpy of memory that a free node of the definition frees, added
    after that node; the same dependency twice; a condition of an unrelated graph, or one that two nodes use; a node in
    a conditional body that may not be there (allocation, free, host callback, event, pageable host memory); a second
    launch while memory that the first one allocated was never freed.
    => Compare the arguments named above with those rules; move such nodes before or behind the conditional node; free
    what a graph allocates, or instantiate with GraphCompleteOptions(auto_free_on_launch=True).

2 CUDA_ERROR_OUT_OF_MEMORY
    There is not enough memory (device, pinned or address space) for this request. Memory of alloc nodes is kept by
    the device between launches, so graphs that no longer run may still hold it.
    => Close buffers and graphs that you no longer need, trim the device's graph memory, or work in smaller pieces.

3 CUDA_ERROR_NOT_INITIALIZED
    A driver function was called before the driver was initialised, or in a child process made by fork() after it was:
    such a child cannot use CUDA.
    => Make a Device() first: it initialises the driver. Start worker processes with the "spawn" method.

4 CUDA_ERROR_DEINITIALIZED
    The driver is shutting down, because the process is about to end.
    => Finish your work (stream.sync()) before the interpreter exits; do not call CUDA from atexit handlers.

5 CUDA_ERROR_PROFILER_DISABLED
    No profiler can be started in this run; an external profiling tool may own it.
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
    The libcuda that was loaded is the toolkit's stub, made for linking only; it cannot run anything.
    => Take the toolkit's "stubs" folder out of LD_LIBRARY_PATH, or run on the CPU with CUDA_GRAPHS_DRIVER=host.

36 CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER
    The installed driver is older than the function or the feature that was asked for.
    => Update the NVIDIA driver (cg.driver_info() says which one runs), or run with CUDA_GRAPHS_DRIVER=host.

46 CUDA_ERROR_DEVICE_UNAVAILABLE
    The device is there but cannot be had now: another process owns it exclusively, or its compute mode forbids use.
    => See `nvidia-smi` for who uses it and for the compute mode; choose another device with CUDA_VISIBLE_DEVICES.

47 CUDA_ERROR_MULTICAST_RESOURCE_FULL
    The hardware has no room left to bind more memory to a multicast object.
    => Release multicast objects that are no longer used.

100 CUDA_ERROR_NO_DEVICE
    The driver sees no GPU.
    => Check `nvidia-smi` and CUDA_VISIBLE_DEVICES, or run on the CPU with CUDA_GRAPHS_DRIVER=host.

101 CUDA_ERROR_INVALID_DEVICE
    There is no device with this number, or the device cannot do what was asked.
    => Use a number below the count of devices; on the host driver CUDA_GRAPHS_HOST_DEVICES sets that count.

102 CUDA_ERROR_DEVICE_NOT_LICENSED
    The virtual GPU of this machine has no valid licence.
    => Ask the administrator of the machine to renew the vGPU licence.

200 CUDA_ERROR_INVALID_IMAGE
    The bytes given as code are not something that the driver can load: neither cubin, fatbin nor PTX, or damaged.
    => Make the ObjectCode with the constructor that fits the bytes (from_cubin, from_ptx, ...), or compile again.

201 CUDA_ERROR_INVALID_CONTEXT
    No CUDA context is current in this thread, or it is not the context that the object belongs to.
    => Call device.set_current() in every thread that uses CUDA, with the device on which the object was made.

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
    The array is mapped and so cannot be destroyed.
    => Unmap it first.

208 CUDA_ERROR_ALREADY_MAPPED
    The resource is mapped already.
    => Unmap it before mapping it again.

209 CUDA_ERROR_NO_BINARY_FOR_GPU
    The code holds no version for the architecture of this device.
    => Compile for device.arch (Program does so unless ProgramOptions(arch=...) says otherwise), or keep PTX beside
    the cubins so that the driver can translate it.

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
    The memory of the GPU had an error that its check bits could not repair; results are not to be trusted.
    => Start the process again; if it comes back, have the GPU checked (`nvidia-smi -q -d ECC`).

215 CUDA_ERROR_UNSUPPORTED_LIMIT
    The device does not have the limit that was read or set.
    => Leave this limit alone on this device.

216 CUDA_ERROR_CONTEXT_ALREADY_IN_USE
    The context can belong to one thread at a time, and another thread has it.
    => Use the device's primary context: device.set_current() gives it to any number of threads.

217 CUDA_ERROR_PEER_ACCESS_UNSUPPORTED
    These two devices cannot read each other's memory.
    => Ask device.can_access_peer() first; copy through pinned host memory otherwise.

218 CUDA_ERROR_INVALID_PTX
    The PTX could not be translated. On the host driver this also means an instruction that it does not support; the
    log names the instruction, the line and the kernel.
    => Read the log; compile CUDA C++ with Program instead of editing PTX by hand.

219 CUDA_ERROR_INVALID_GRAPHICS_CONTEXT
    The OpenGL or DirectX context is not usable.
    => Make the graphics context current in this thread before sharing resources with it.

220 CUDA_ERROR_NVLINK_UNCORRECTABLE
    A link between GPUs failed in a way that could not be repaired; results are not to be trusted.
    => Start the process again; if it comes back, have the machine checked (`nvidia-smi nvlink -e`).

221 CUDA_ERROR_JIT_COMPILER_NOT_FOUND
    The code is PTX and the driver has nothing to translate it with: the PTX compiler library of the NVIDIA driver is
    missing, or no image loader is registered with the host driver.
    => Compile to "cubin" for this device, repair the driver installation, or (host driver) install llvmlite.

222 CUDA_ERROR_UNSUPPORTED_PTX_VERSION
    The PTX was written by a toolkit that is newer than this driver.
    => Compile to "cubin" instead of "ptx", use an older NVRTC, or update the NVIDIA driver.

223 CUDA_ERROR_JIT_COMPILATION_DISABLED
    Translating PTX is switched off (CUDA_DISABLE_PTX_JIT).
    => Unset that variable, or compile to "cubin" for this device.

224 CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY
    The device cannot restrict a context to some of its multiprocessors in this way.
    => Make the context without execution affinity.

225 CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC
    The kernel waits for its child grids with cudaDeviceSynchronize, which is no longer possible on the device.
    => Put what comes after the wait into a kernel of its own: as the next node of the graph it runs in order.

226 CUDA_ERROR_CONTAINED
    The device stopped an error before it could spread, for example a bad access to another GPU's memory.
    => Start the process again; look for out-of-range accesses to peer memory.

227 CUDA_ERROR_INSUFFICIENT_LOADER_VERSION
    The fat binary needs a newer loader than this driver has.
    => Update the NVIDIA driver, or build the fat binary with an older toolkit.

300 CUDA_ERROR_INVALID_SOURCE
    The source of a kernel could not be compiled or linked.
    => Read the log; give Program the include paths and macros that the source needs.

301 CUDA_ERROR_FILE_NOT_FOUND
    A file that holds code, or that should be written, is not there or cannot be opened.
    => Check the path and its permissions.

302 CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND
    A library that the driver loaded lacks a symbol: its parts do not fit together.
    => Install the NVIDIA driver again, and keep older copies of its libraries out of LD_LIBRARY_PATH.

303 CUDA_ERROR_SHARED_OBJECT_INIT_FAILED
    A library of the driver could not be initialised.
    => Check that driver and kernel module have the same version (`nvidia-smi`), and that containers see both.

304 CUDA_ERROR_OPERATING_SYSTEM
    The operating system refused something that the driver needs, such as memory, threads, files or permissions.
    => Check limits (`ulimit -a`), free disk and shared memory, and whether a forked child uses CUDA: it must not.

400 CUDA_ERROR_INVALID_HANDLE
    A handle does not stand for a living object of this kind: it was destroyed, never made, or belongs elsewhere.
    => Keep the Python object that owns the handle alive, and do not use objects after close().

401 CUDA_ERROR_ILLEGAL_STATE
    The object is not in a state in which this can be done, for example a capture is begun twice on one stream.
    => Finish what is under way on this object (end the capture, wait for the work) and try again.

402 CUDA_ERROR_LOSSY_QUERY
    The answer would leave out something that matters, such as programmatic edges of a graph.
    => Use the query that also returns edge data.

500 CUDA_ERROR_NOT_FOUND
    The code has no kernel or variable of this name, or the object has no such part.
    => Declare kernels extern "C", or pass name_expressions to compile(): C++ names are mangled.

600 CUDA_ERROR_NOT_READY
    The work has not finished yet. This is an answer rather than a failure.
    => Wait with stream.sync() or event.sync(), or ask again later.

700 CUDA_ERROR_ILLEGAL_ADDRESS
    A kernel or a copy used an address that is not valid there: out of range, freed, or host memory that the device
    cannot see. In a graph, a node may have run before the alloc node or after the free node of its memory.
    => Check indices against sizes; make every user of allocated memory depend on the alloc node and precede the free
    node; use pinned memory in copies. `compute-sanitizer` finds the access; on the host driver
    CUDA_GRAPHS_HOST_CHECK=memory does.

701 CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
    The kernel cannot run with this many threads in a block, this much shared memory, or these arguments.
    => Use a smaller block: kernel.attributes.max_threads_per_block is the most, and kernel.occupancy proposes one.

702 CUDA_ERROR_LAUNCH_TIMEOUT
    The kernel ran longer than the time limit of a device that also drives a display.
    => Do less in one kernel, or use a device without a display. A WhileNode keeps long loops on the device in short
    kernels.

703 CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING
    The kernel and the launch use different kinds of textures.
    => Use texture objects throughout.

704 CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
    Access to this peer's memory is on already.
    => Nothing to do; switch it on once.

705 CUDA_ERROR_PEER_ACCESS_NOT_ENABLED
    Access to this peer's memory is not on.
    => Switch it on (peer_access of an allocation) before using or switching it off.

708 CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE
    The device's primary context is in use, so its flags can no longer be changed.
    => Change them before the first Device(...).set_current().

709 CUDA_ERROR_CONTEXT_IS_DESTROYED
    The context that is current in this thread is gone.
    => Call device.set_current() and make streams, buffers and graphs anew.

710 CUDA_ERROR_ASSERT
    An assert() in a kernel failed; its text, block and thread were printed to standard error.
    => Read that line; the condition in the source is false there.

711 CUDA_ERROR_TOO_MANY_PEERS
    The hardware cannot open access to so many peers at once.
    => Grant peer access only to the devices that need it.

712 CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
    This host memory, or a part of it, is pinned already.
    => Pin a range once, and unpin it before pinning another one that overlaps.

713 CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED
    This host memory was not pinned by registration.
    => Unregister exactly the address that was registered; memory from PinnedMemoryResource is closed instead.

714 CUDA_ERROR_HARDWARE_STACK_ERROR
    A kernel damaged its call stack or ran out of it.
    => Avoid deep recursion and large local arrays, or raise the device's stack limit.

715 CUDA_ERROR_ILLEGAL_INSTRUCTION
    A kernel met an instruction that the device does not have, usually because code was overwritten or built wrongly.
    => Compile for device.arch; look for writes through function pointers or beyond arrays.

716 CUDA_ERROR_MISALIGNED_ADDRESS
    A kernel read or wrote a value at an address that is no multiple of the value's size.
    => Keep vector and 8-byte accesses on aligned offsets; a uint8 buffer cast to wider types is a frequent cause.

717 CUDA_ERROR_INVALID_ADDRESS_SPACE
    A kernel used an instruction for one memory space (global, shared, local) with an address of another.
    => Check pointer casts and inline PTX in the kernel.

718 CUDA_ERROR_INVALID_PC
    A kernel jumped to an address that holds no code.
    => Check function pointers in the kernel.

719 CUDA_ERROR_LAUNCH_FAILED
    A kernel died on the device: a trap, an invalid pointer, or shared memory used out of its bounds.
    => Run with CUDA_GRAPHS_DRIVER=host or under `compute-sanitizer` to see where; CUDA_LAUNCH_BLOCKING=1 shows which
    launch.

720 CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
    A cooperative kernel needs all of its blocks on the device at the same time, and they do not fit.
    => Launch at most occupancy x multiprocessors blocks and let each block do more.

721 CUDA_ERROR_TENSOR_MEMORY_LEAK
    A kernel ended without giving back all tensor memory that it took.
    => Release tensor memory on every path out of the kernel.

800 CUDA_ERROR_NOT_PERMITTED
    This must not be done here. The usual cause is a CUDA call inside a host callback of a stream or graph.
    => Let the callback only set a flag or fill host memory, and call CUDA from an ordinary thread.

801 CUDA_ERROR_NOT_SUPPORTED
    The device, its driver or the platform lacks this feature. On the host driver: it is not implemented there. With
    graphs: a definition that holds alloc, free or conditional nodes cannot be copied, embedded as a child, or
    instantiated while an exec of it lives, and one that allocates cannot lose nodes or edges.
    => Close the first exec before instantiating again, or build the definition once per exec; ask device.properties
    for a feature before using it.

802 CUDA_ERROR_SYSTEM_NOT_READY
    The machine is not ready for CUDA; a service that the GPUs need is not running.
    => Have the fabric manager (machines with NVSwitch) and the persistence daemon started.

803 CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
    The kernel module and the libcuda that was loaded are of different versions.
    => Reboot after a driver update; in containers, let the container runtime provide libcuda.

804 CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE
    The forward-compatible libcuda does not work with this GPU.
    => Remove the cuda-compat package from LD_LIBRARY_PATH, or hide that GPU with CUDA_VISIBLE_DEVICES.

805 CUDA_ERROR_MPS_CONNECTION_FAILED
    The Multi-Process Service could not be reached.
    => Start the MPS control daemon, or unset CUDA_MPS_PIPE_DIRECTORY to go without it.

806 CUDA_ERROR_MPS_RPC_FAILURE
    A call to the MPS server failed.
    => Look into the log of the MPS server and start it again.

807 CUDA_ERROR_MPS_SERVER_NOT_READY
    The MPS server is starting or recovering.
    => Try again after some seconds.

808 CUDA_ERROR_MPS_MAX_CLIENTS_REACHED
    The MPS server has as many client processes as it can serve.
    => Run fewer processes on this GPU.

809 CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED
    The GPU has no room for further connections through MPS.
    => Use fewer processes or fewer hardware queues (CUDA_DEVICE_MAX_CONNECTIONS).

810 CUDA_ERROR_MPS_CLIENT_TERMINATED
    The MPS server ended this process's connection, often because another client crashed.
    => Start the process again.

811 CUDA_ERROR_CDP_NOT_SUPPORTED
    The code launches kernels from kernels, which this configuration (such as MPS) cannot do.
    => Express the inner launches as nodes: conditional nodes run graphs on a decision of the device.

812 CUDA_ERROR_CDP_VERSION_MISMATCH
    Parts of the code were built with different generations of kernel-launches-kernel support.
    => Build all parts with one toolkit.

900 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
    This cannot be done while a stream captures: it would have to wait for, or change, what is only being recorded.
    => Do it before the capture begins or after it ends, or capture in "relaxed" mode if it is independent of the graph.

901 CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
    An earlier error spoiled this capture; nothing more can be recorded into it.
    => End the capture, fix the call that failed first, and capture again.

902 CUDA_ERROR_STREAM_CAPTURE_MERGE
    An event or a join would tie together two captures that were begun separately.
    => Begin one capture and reach the other streams with split(); join only builders of the same capture.

903 CUDA_ERROR_STREAM_CAPTURE_UNMATCHED
    The capture was begun on another stream than the one on which it is ended.
    => End it with the builder that began it.

904 CUDA_ERROR_STREAM_CAPTURE_UNJOINED
    A stream that the capture forked to was not joined back before the end.
    => GraphBuilder.join() every builder that split() returned before end_building().

905 CUDA_ERROR_STREAM_CAPTURE_ISOLATION
    Captured work may not wait for work outside of the capture, nor the other way round.
    => Record the event inside the capture, or wait for the outside work before the capture begins.

906 CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
    The legacy default stream waits for all ordinary streams, and one of them captures.
    => Use a stream of your own (device.create_stream()) for all work while capturing.

907 CUDA_ERROR_CAPTURED_EVENT
    The event was last recorded inside a capture, so there is nothing that could be waited for or asked.
    => Launch the graph, and use an event that was recorded on an ordinary stream.

908 CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD
    The capture was begun in another thread, in a mode that ties it to that thread.
    => End it in the thread that began it, or begin it with mode="relaxed".

909 CUDA_ERROR_TIMEOUT
    A wait reached its time limit.
    => Wait longer, or find out why the other side does not signal.

910 CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
    The changed definition cannot be poured into this executable graph: its nodes, edges, or some of their parameters
    differ in a way that only a new instantiation can take. The executable is unchanged and can still be launched.
    => Instantiate the changed definition anew, or change only parameters: same nodes, same edges, same devices.

911 CUDA_ERROR_EXTERNAL_DEVICE
    A device other than the GPU, which shares data with it, reported an error.
    => Check that device; the data that it should have delivered is not valid.

912 CUDA_ERROR_INVALID_CLUSTER_SIZE
    The blocks cannot be grouped in clusters of this size: too many, or the grid is no multiple of it.
    => Use a cluster of at most 8 blocks that divides the grid, or none.

913 CUDA_ERROR_FUNCTION_NOT_LOADED
    The kernel has not been loaded on this device yet, and this call needs it to be.
    => Launch it once or query its attributes first, or set CUDA_MODULE_LOADING=EAGER.

914 CUDA_ERROR_INVALID_RESOURCE_TYPE
    This operation does not accept a resource of this kind.
    => Pass a resource of the kind that the call names (multiprocessors, work queues).

915 CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION
    The resources do not suffice or cannot be divided like this.
    => Ask for a split that the device reports as possible.

916 CUDA_ERROR_KEY_ROTATION
    Changing the encryption keys of a confidential-computing session failed.
    => Start the process again; if it comes back, check the machine's confidential-computing set-up.

917 CUDA_ERROR_STREAM_DETACHED
    The stream's green context is gone, so the stream can no longer take work.
    => Keep that context alive as long as its streams, or make a new stream.

918 CUDA_ERROR_GRAPH_RECAPTURE_FAILURE
    Capturing again into an existing graph did not give the same structure and was stopped.
    => Capture into a new graph and instantiate that one.

919 CUDA_ERROR_FABRIC_NOT_READY
    The links between the GPUs are still being set up.
    => Try again after some seconds.

999 CUDA_ERROR_UNKNOWN
    The driver failed and cannot say why. After an update without a reboot, or after the machine slept, it may be the
    kernel module.
    => Try `nvidia-smi`; reload the driver or reboot if that fails too. Otherwise reduce the program and report it.
"""

# cuda.h: these leave "the process in an inconsistent state", or the context unusable.
STICKY = frozenset({214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911})

LOST = "The context is lost: every further CUDA call of this process fails until it is started again."


class Row(NamedTuple):
    """One CUresult."""

    name: str
    explanation: str
    remedy: str


def parse(rows: str) -> Iterator[tuple[int, Row]]:
    """Yields code and row of each block of `ROWS`."""
    for block in rows.strip().split("\n\n"):
        head, _, body = block.partition("\n")
        code, name = head.split()
        explanation, remedy = (" ".join(part.split()) for part in body.split("=>"))
        yield int(code), Row(name, explanation, remedy)


TABLE: Mapping[int, Row] = MappingProxyType(dict(parse(ROWS)))
