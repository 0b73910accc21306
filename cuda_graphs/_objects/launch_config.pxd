# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs._driver.cuda cimport CUlaunchAttribute, CUlaunchConfig


cdef enum:
    MOST_ATTRIBUTES = 3  # of a launch


cdef class LaunchConfig:
    cdef unsigned int _grid[3]     # in blocks; with a cluster: in clusters
    cdef unsigned int _cluster[3]  # 0, 0, 0: no cluster
    cdef unsigned int _block[3]    # in threads
    cdef unsigned int _shmem_size  # bytes of dynamic shared memory
    cdef bint _is_cooperative
    cdef bint _is_programmatic     # may overlap with the kernel before it on its stream
    cdef object __weakref__

    # Everything but the stream. `attributes` has room for MOST_ATTRIBUTES and lives as long as `native` is used; the grid comes out
    # in blocks.
    cdef void _fill(self, CUlaunchConfig* native, CUlaunchAttribute* attributes) noexcept nogil


# A LaunchConfig as it is, a dict of its fields as one; anything else is a TypeError.
cdef LaunchConfig LaunchConfig_accept(object arg)
