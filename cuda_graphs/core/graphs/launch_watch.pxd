# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Cython declarations of launch_watch.hpp, which documents them."""

from libc.stdint cimport uint32_t
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport CUgraphExec
from cuda_graphs.core.graphs.graph_handles cimport NodeHandle

cdef extern from "launch_watch.hpp" namespace "cg" nogil:
    ctypedef int (*Identify)(CUgraphExec exec, uint32_t* number)
    cppclass WatchedLaunch:
        uint32_t number
        NodeHandle definition
    void begin_watching(Identify identify) except +
    vector[WatchedLaunch] end_watching() except +
