# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.resources.handles cimport StreamHandle
from cuda_graphs.kernels.arrays.reading cimport Leaf, Reading
from cuda_graphs.kernels.graph.replay cimport Replay
from cuda_graphs.kernels.specialisation.specialisation cimport Specialisation
from cuda_graphs.objects.device.stream cimport Stream
from cuda_graphs.kernels.specialisation.specialiser cimport Specialiser
from .strategy cimport Strategy


cdef class ReplayStrategy(Strategy):
    cdef Specialiser specialiser
    cdef Strategy capture, launch   # for a stream that other code captures; for a graph that the driver cannot build
    cdef object replays             # Replay by (specialisation, context, inputs of host calls), the most recently used at the end
    cdef Replay last                # Replay of the last call
    cdef size_t builds              # graphs built in total
    cdef object owner               # stands for all graphs, to the host objects that add nodes to them
    cdef object refusal             # why the host ran the control flow of the last call; None if it did not
    cdef tuple refusals             # errors of the driver after which the tasks are launched one by one
    cdef bint replayed              # True if the last call launched the graph of an earlier call

    cdef object run_on_host(self, Specialisation code, Reading* r, Stream stream, const StreamHandle& handle, str refusal)
    # Returns the Replay, or None if there is no graph.
    cdef Replay replay_or_none(self, Specialisation code, const Leaf* leaves)
    # Returns the specialisation whose tasks are launched one by one, in this call and in later ones.
    cdef Specialisation without_graph(self, Specialisation code, tuple args)
    cdef Replay replay_of(self, Specialisation code, const Leaf* leaves)
    cdef int forget(self) except -1


cdef ReplayStrategy replay_strategy(Specialiser specialiser, Strategy capture, Strategy launch)
