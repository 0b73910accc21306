# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Cython declarations of launch_watch.hpp, which documents them."""

from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport CUgraphExec
from cuda_graphs.core.graphs.graph_handles cimport NodeHandle

cdef extern from "launch_watch.hpp" namespace "cg" nogil:
    cppclass WatchedLaunch:
        CUgraphExec exec
        NodeHandle definition
    void begin_watching() except +
    vector[WatchedLaunch] end_watching() except +
