# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint64_t
from libcpp.utility cimport pair as cpp_pair
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport CUDA_ERROR_UNKNOWN, CUdeviceptr, CUfunction, CUresult, CUstream
from cuda_graphs.core.resources.handles cimport StreamHandle
from cuda_graphs.kernels.arrays.reading cimport Leaf


# The source of a value of a launch.
cdef enum Origin:
    kLeaf      # the number or address of leaf `number`
    kExtent    # the extent of leaf `number` along `axis`
    kConstant  # constant `number`
    kTemp      # the address of temporary array `number`
    kSeed      # the seed of random numbers
    kCondition  # a condition of a graph, known when the nodes are made
    kAdd       # the sum of the two previous values
    kSubtract
    kMultiply
    kFloorDivide
    kMinimum
    kMaximum

cdef struct Source:
    Origin origin
    int number
    int axis
    int width  # bytes of a number in a count, negative if the number is signed


cdef enum:
    UNKNOWN = -2     # values of TripCount.iterations
    COUNTED = -1
    MOST_STEPS = 32  # values and operations of a count


# Why a call has nodes where its kernel has resident launches otherwise. Options.why has the words.
cdef enum NodesReason:
    kNoReason
    kFewThreads  # a loop has many iterations, and a resident launch few threads
    kManyTasks   # a loop has many tasks, whose iterations need several blocks but not the whole device


# The iterations of a loop, which determine the number of blocks.
cdef struct TripCount:
    int64_t share              # iterations for each block
    int64_t lone               # iterations up to which one block of a resident launch is faster than several
    int64_t iterations         # number of iterations, COUNTED if `count` computes it, or UNKNOWN
    vector[Source] count       # bounds of the loop in postfix order: values, then operations


cdef struct Task:
    CUfunction function
    unsigned int block         # threads of a block
    unsigned int max_blocks        # largest number of blocks
    unsigned int shared        # bytes of dynamic shared memory
    bint cooperative           # True if the blocks wait for each other
    bint has_sums              # True if blocks of such a launch add to one element
    vector[TripCount] loops        # loops of the task: several for resident tasks, else at most one
    vector[Source] parameters


# The memory of an array argument or of a field.
cdef struct Span:
    Origin origin  # kLeaf or kConstant
    int number
    int axes       # number of axes whose extents come with the call
    int64_t size   # bytes of the part behind one index in each of these axes

# The addresses of an array: that of its first byte, and the one behind it.
ctypedef cpp_pair[uint64_t, uint64_t] MemoryRange

# Two arrays that must not share memory, as concurrent sections or fused tasks use both.
cdef struct DisjointPair:
    Span first
    Span second


# A step of a plan that the host executes: a task, a call of a host object, a conditional, or a block of the conditional
# before it.
cdef enum StepKind:
    kRunTask
    kWhile
    kRepeated  # a while loop whose tasks do nothing once the condition is 0
    kIf
    kSwitch
    kBlock
    kCall

cdef struct Step:
    StepKind kind
    size_t number     # number of the task or of the call of a host object, or of the temporary array with the condition
    int64_t initial   # initial state of the condition; -1 without an initial state
    size_t end        # index of the step after the conditional or block


# The data that all tasks of a launch share.
cdef struct LaunchData:
    const Leaf* leaves
    const StreamHandle* stream
    const uint64_t* temps  # addresses of the temporary arrays, then words of the stacks
    const uint64_t* seed
    size_t failed          # last task whose launch was tried
    uint64_t condition     # address of the condition of a loop whose present iteration may not be needed; 0: it is needed


# Code for one signature of a kernel, loaded.
cdef class Specialisation:
    cdef readonly object artifact    # Artifact of the compiler
    cdef object calls                # HostCalls of the artifact; None without any
    cdef readonly tuple kernels      # Kernel of each task
    cdef readonly frozenset writes   # paths of the arrays that the kernel writes
    cdef readonly object guards      # Guards of the captured values
    cdef readonly tuple fields       # fields whose addresses are constants
    cdef int device                  # device of the code; kNoDevice on machines with one device
    cdef int place                   # device of the fields; kNoDevice without fields, and on machines with one device
    cdef vector[Task] tasks
    cdef vector[DisjointPair] disjoint         # pairs of arrays that must not share memory
    cdef vector[DisjointPair] apart  # pairs of arrays that share no memory in calls of this code, since tasks are fused
    cdef vector[Span] compared       # the arrays in `apart`, once each
    cdef vector[MemoryRange] known_apart  # those of the last call that share no memory; empty without such a call
    cdef vector[Source] equal        # pairs of extents, one after the other, that are equal in calls of this code
    cdef Specialisation separate     # code for other calls; None until there is such a call
    cdef vector[TripCount] large_loops  # loops that must be large for code with fewer tasks; `share` is unused
    cdef int64_t unordered           # iterations from which on a loop is large
    cdef Specialisation large        # code for calls in which all of them are; None until there is such a call
    cdef vector[TripCount] in_resident  # loops of resident launches that are faster as nodes with some sizes
    cdef bint is_sparse              # True if that are large sizes, as such a launch has few threads
    cdef bint has_many_tasks         # True if that are sizes for several blocks, as tasks wait longer than nodes
    cdef Specialisation as_nodes     # code for calls with such sizes; None until there is such a call
    cdef readonly int why_nodes      # the NodesReason of such code
    cdef vector[Step] steps          # plan for the host; all tasks in order, unless the lowering is "host"
    cdef vector[uint64_t] constants
    cdef vector[size_t] temps        # offset of each temporary array in their common memory, in bytes
    cdef size_t temp_bytes           # bytes of that memory
    cdef dict leaf_numbers           # indices of the leaves, by path
    cdef vector[size_t] changes      # leaves of the arrays that the kernel writes
    cdef list changed_fields         # fields that the kernel writes
    cdef object report               # Report for stack overflows in a gradient with stacks
    cdef readonly tuple labels       # labels of the checkpoints
    cdef readonly int state          # number of the temporary array with the checkpoint state; -1 without checkpoints
    cdef size_t yielded              # offset of the yielded checkpoint in that array, in bytes
    cdef bint draws                  # True if the kernel draws random numbers
    cdef bint needs_keep_alive          # True if the memory of an array can be released while the kernel runs
    cdef readonly bint is_replayable  # True if one graph can run all tasks, without decisions by the host
    cdef Specialisation replacement      # code for the host's control flow, if the driver or a host object refuses the graph; else None
    cdef Specialisation with_calls       # code in which calls of host objects are nodes, if a resident launch cannot do them; else None
    cdef dict early                      # code for early edges, by the paths of the arrays that it reads early; or None
    cdef bint is_replaced            # True if all calls use the replacement
    cdef bint is_refused             # True for such a replacement
    cdef readonly bint is_straight   # True without control flow between tasks
    cdef bint may_be_graph           # True if one graph may run the tasks of a call, though the kernel is no graph kernel
    cdef Py_ssize_t calls_before_graph  # calls that still launch the tasks one by one
    cdef readonly bint prints        # True if a call waits for printed output
    cdef readonly bint waits_for_results       # True if a call waits for results or for a report of checks
    cdef bint has_gradients          # True if an array argument has a gradient
    cdef readonly str name
    cdef public object recipe        # Recipe of the code (origins.py); None if nothing recorded it
    cdef object __weakref__

    cdef unsigned int grid_of(self, const Task& task, const Leaf* leaves) noexcept nogil
    cdef int64_t count(self, const TripCount& loop, const Leaf* leaves) noexcept nogil
    cdef int64_t iterations_of(self, const TripCount& loop, const Leaf* leaves) noexcept nogil
    # Returns True if arrays share no memory and extents are equal as the fused tasks need it.
    cdef bint fits(self, const Leaf* leaves) noexcept nogil
    # Returns True if no two arrays in `apart` share memory, whether they are a pair or not. The caller holds the GIL.
    cdef bint are_all_apart(self, const Leaf* leaves) noexcept nogil
    cdef MemoryRange range_of(self, const Span& span, const Leaf* leaves) noexcept nogil
    # Returns True if all loops that must be large for code with fewer tasks are.
    cdef bint has_large_loops(self, const Leaf* leaves) noexcept nogil
    # Returns why nodes are faster than resident launches, if they are.
    cdef NodesReason reason_for_nodes(self, const Leaf* leaves) noexcept nogil
    # Returns True if this is the code, or if it stands for calls of this one with other arrays or sizes.
    cdef bint leads_to(self, Specialisation code)
    # Launches all tasks. `stacks` has three words for each stack of a gradient: its address, its capacity, its workers.
    cdef int run(
        self, const Leaf* leaves, const StreamHandle& stream, CUdeviceptr temps, const vector[uint64_t]* stacks
    ) except -1
    cdef CUresult submit(
        self, const Leaf* leaves, const StreamHandle& stream, CUdeviceptr temps, const vector[uint64_t]* stacks, uint64_t seed,
        size_t* failed,
    ) except? CUDA_ERROR_UNKNOWN nogil
    cdef CUresult launch_task(self, size_t number, LaunchData* now) noexcept nogil
    cdef CUresult follow(self, size_t begin, size_t end, LaunchData* now) except? CUDA_ERROR_UNKNOWN nogil
    cdef CUresult follow_conditional(self, size_t at, LaunchData* now) except? CUDA_ERROR_UNKNOWN nogil
    cdef const void* place_of(
        self, const Source& source, const Leaf* leaves, const uint64_t* temps, const uint64_t* seed
    ) noexcept nogil
    # Raises ValueError if arrays of concurrent sections share memory.
    cdef int check_disjoint(self, const Leaf* leaves) except -1
    # Returns the number of the first pair that shares memory, or -1.
    cdef Py_ssize_t find_overlap(self, const vector[DisjointPair]& pairs, const Leaf* leaves) noexcept nogil
    cdef bint overlap(self, const Span& first, const Span& second, const Leaf* leaves) noexcept nogil
    cdef uint64_t begin_of(self, const Span& span, const Leaf* leaves) noexcept nogil

    # Records that the kernel changes its arrays on a stream. After `in_graph`, the arrays are untracked: launches of
    # the graph change them without a new version.
    cdef int note_changes(self, const Leaf* leaves, CUstream stream, bint in_graph) except -1
    # Returns the memory that the kernel writes, {path: Buffer, or an array of another library}. `owners` as for `launches`.
    cdef dict written(self, dict owners)
    # Launches the tasks on a stream that is not captured.
    cdef int launch(self, const Leaf* leaves, const StreamHandle& stream, const vector[uint64_t]* stacks) except -1
    # Returns the TaskLaunch of each task, for nodes of graphs. `owners` holds the owners of leaves, by index; `temps`
    # holds the memory of the temporary arrays.
    cdef list launches(self, const Leaf* leaves, dict owners, list temps)
    # Returns the value of each input of the calls of host objects; () without such calls. `owners` as for `launches`.
    cdef tuple host_inputs(self, const Leaf* leaves, dict owners)
    cdef int call_host(self, size_t number, LaunchData* now) except -1
    cdef list new_temps(self)
    cdef list graph_temps(self, dict tables)
    cdef bint is_sized_at_launch(self, size_t task, dict owners) except -1
    cdef object _value(self, slot, size_t task, size_t k, const Leaf* leaves, dict owners, list temps, seed)
    cdef object launch_for_results(self, const Leaf* leaves, const StreamHandle& handle, const vector[uint64_t]* stacks)


# Returns the value of a leaf or of an extent as a signed number.
cdef int64_t number_of(const Source& source, const Leaf* leaves) noexcept nogil
