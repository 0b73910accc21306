# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint64_t
from libcpp.vector cimport vector

from cuda_graphs._driver.cuda cimport CUdeviceptr, CUfunction, CUresult, CUstream
from cuda_graphs._objects.stream cimport Stream
from cuda_graphs.kernels.reading cimport Leaf


# Where a value comes from.
cdef enum Origin:
    kLeaf      # the number or address of leaf `number`
    kExtent    # its extent along `axis`
    kConstant  # number `number` of the constants
    kTemp      # the address of temporary array `number`
    kSeed      # of random numbers
    kCondition  # of a graph: known when its nodes are made
    kAdd       # of the two values before it
    kSubtract
    kMultiply

cdef struct Source:
    Origin origin
    int number
    int axis
    int width  # of a number that is counted with: bytes, negative if it is signed


# A loop, by which the number of blocks is found.
cdef struct Trips:
    int64_t share              # iterations that are worth a block of their own
    int64_t iterations         # -1: as many as `count` says; -2: nobody knows
    vector[Source] count       # in the order of a stack: values, then what is done with them


cdef struct Task:
    CUfunction function
    unsigned int block         # threads
    unsigned int most          # blocks, however many iterations there are
    unsigned int shared        # bytes of dynamic shared memory
    bint cooperative           # they wait for each other
    vector[Trips] loops        # of a resident one several, else one
    vector[Source] parameters


# The memory of an array of the call or of a field.
cdef struct Span:
    Origin origin  # kLeaf or kConstant
    int number
    int axes       # whose extents come with the call
    int64_t size   # bytes of what is behind one index in each of them

cdef struct Apart:
    Span first
    Span second


# A plan that the host follows: tasks, and conditionals, whose blocks come behind them.
cdef enum StepKind:
    kRunTask
    kWhile
    kIf
    kSwitch
    kBlock

cdef struct Step:
    StepKind kind
    size_t number     # of the task, or of the temporary array that holds the condition
    int64_t initial   # state of the condition at the beginning; -1: none
    size_t end        # of the conditional or block: the step behind it


# What all tasks of a launch share.
cdef struct Launching:
    const Leaf* leaves
    CUstream stream
    const uint64_t* temps  # addresses
    const uint64_t* seed
    size_t failed          # the task that was not launched


# Code for one signature of a kernel, loaded.
cdef class Specialisation:
    cdef readonly object artifact    # an Artifact
    cdef readonly tuple kernels      # a Kernel for each task
    cdef readonly frozenset writes   # paths of arrays
    cdef readonly object guards      # Guards: what was captured
    cdef readonly tuple fields       # whose addresses are among the constants
    cdef vector[Task] tasks
    cdef vector[Apart] apart         # what sections that run at the same time must not share
    cdef vector[Step] steps          # where conditions are in memory; else all tasks, in order
    cdef vector[uint64_t] constants
    cdef vector[size_t] temps        # where each begins in the memory for all
    cdef size_t temp_bytes
    cdef dict leaf_numbers           # by path
    cdef vector[size_t] changes      # leaves of the arrays that it writes
    cdef list changed_fields         # NDArrays
    cdef object report               # of a gradient with stacks: the Report that its tasks write to
    cdef readonly tuple labels       # of checkpoints
    cdef readonly int state          # the temporary array that says whether one has yielded; -1: there are none
    cdef size_t yielded              # where in it
    cdef bint draws                  # random numbers
    cdef bint leaves_memory          # arrays may go while it runs, and their memory with them
    cdef readonly bint is_replayable  # one graph: the host does not decide between its tasks
    cdef Specialisation instead      # where the driver does not build the graph; None: it does, or nobody has tried
    cdef bint is_refused             # it is instead of such a one
    cdef readonly bint is_straight   # tasks, with no control flow between them
    cdef readonly bint prints        # a call waits for what it writes
    cdef readonly bint answers       # a call waits for what it returns, or for a report of asserts
    cdef bint has_gradients          # an array among the arguments has one
    cdef readonly str name

    cdef unsigned int grid_of(self, const Task& task, const Leaf* leaves) noexcept nogil
    cdef int64_t count(self, const Trips& loop, const Leaf* leaves) noexcept nogil
    # `stacks`: three words for each stack of a gradient: its address, its room, its workers.
    cdef int run(self, const Leaf* leaves, Stream stream, CUdeviceptr temps, const vector[uint64_t]* stacks) except -1
    cdef CUresult submit(
        self, const Leaf* leaves, CUstream stream, CUdeviceptr temps, const vector[uint64_t]* stacks, uint64_t seed,
        size_t* failed,
    ) noexcept nogil
    cdef CUresult launch_task(self, size_t number, Launching* now) noexcept nogil
    cdef CUresult follow(self, size_t begin, size_t end, Launching* now) noexcept nogil
    cdef CUresult follow_conditional(self, size_t at, Launching* now) noexcept nogil
    cdef const void* place_of(
        self, const Source& source, const Leaf* leaves, const uint64_t* temps, const uint64_t* seed
    ) noexcept nogil
    # ValueError for arrays of sections that share memory.
    cdef int check_apart(self, const Leaf* leaves) except -1
    cdef bint overlap(self, const Span& first, const Span& second, const Leaf* leaves) noexcept nogil
    cdef uint64_t begin_of(self, const Span& span, const Leaf* leaves) noexcept nogil

    # What it writes has changed, on a stream; in a graph, it will again without a call that says so.
    cdef int note_changes(self, const Leaf* leaves, CUstream stream, bint in_graph) except -1
    # On a stream that is not captured.
    cdef int launch(self, const Leaf* leaves, Stream stream, const vector[uint64_t]* stacks) except -1
    # (LaunchConfig, Kernel, arguments, reads, writes) of each task, as nodes of graphs take them. `owners`: what leaf of
    # which argument, by number; `temps`: memory of the temporary arrays.
    cdef list launches(self, const Leaf* leaves, dict owners, list temps)
    cdef list new_temps(self)
    cdef bint waits(self, size_t task, dict owners) except -1
    cdef object _value(self, slot, size_t task, size_t k, const Leaf* leaves, dict owners, list temps, seed)
    cdef object launch_for_results(self, const Leaf* leaves, Stream stream, const vector[uint64_t]* stacks)


# The number that is counted with.
cdef int64_t number_of(const Source& source, const Leaf* leaves) noexcept nogil
