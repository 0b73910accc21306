# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from cuda_graphs.objects.device.stream cimport Stream
from cuda_graphs.kernels.arrays.reading cimport Leaf, Reading
from cuda_graphs.kernels.graph.replay cimport Replay
from .specialisation cimport Specialisation


cdef class _Taken:
    cdef vector[Leaf] leaves
    cdef vector[uint64_t] keys
    cdef Reading r


cdef class KernelFunction:
    cdef object function
    cdef object options, annotations  # arguments of `begin`
    cdef readonly object mode  # one of the compiler's MODES; None: the kernel itself
    cdef dict forwards         # KernelFunctions for forward differentiation, by mode
    cdef object gradient       # GradientFunction; None until the first access to `grad`
    cdef str name
    cdef readonly bint debug, fast_math, is_graph, has_checkpoints
    cdef object loop           # lowering of control flow between tasks: a value of options.LOOPS
    cdef object replays        # Replay by (specialisation, context), the most recently used at the end
    cdef Replay replay         # Replay of the last call
    cdef size_t builds
    cdef bint replayed
    cdef list readers
    cdef tuple names
    cdef object index_of       # position of each parameter, by name
    cdef Py_ssize_t leaves, keys
    cdef Py_ssize_t start      # index of the leaf that holds the start checkpoint, after the leaves of the arguments
    cdef dict known            # lists of specialisations, by key
    cdef Specialisation last
    cdef Specialisation called  # Specialisation of the last call
    cdef bytes last_key
    cdef object lock
    cdef object __weakref__
    cdef dict __dict__

    cdef tuple _order(self, tuple args, dict keywords)
    cdef _Taken _taken(self, tuple args, bint in_graph)
    cdef int _read(self, Reading* r, tuple args) except -1
    cdef Specialisation _specialisation(self, tuple args)
    cdef Specialisation _find(self, Reading* r, tuple args)
    cdef tuple _launches(self, tuple args)
    cdef list _temps(self, Specialisation code, const Leaf* leaves, dict owners)
    cdef int _capture(self, tuple args, Stream stream, object label) except -1
    cdef bint _capture_for_others(self, tuple args, Stream stream, object label) except -1
    cdef bint _is_replayed(self) noexcept
    cdef Replay _replay_or_none(self, Specialisation code, Reading* r)
    cdef Specialisation _instead_of(self, Specialisation code, tuple args)
    cdef Replay _replay(self, Specialisation code, Reading* r)
    cdef object _launch(self, Specialisation code, Reading* r, tuple args, Stream stream)
    cdef object _run(self, Reading* r, tuple args, Stream stream, object label=*)


# Returns a new kernel of the class `cls`. `beside`, a Beside, is the extra leaf of each array argument.
cdef KernelFunction begin(object cls, object function, object options, object known, int beside)
