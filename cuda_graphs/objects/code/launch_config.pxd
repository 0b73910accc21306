# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.driver.cuda cimport CUlaunchAttribute, CUlaunchConfig


cdef enum:
    MOST_ATTRIBUTES = 3  # maximum number of launch attributes


cdef class LaunchConfig:
    cdef unsigned int _grid[3]     # in blocks; with a cluster: in clusters
    cdef unsigned int _cluster[3]  # 0, 0, 0: no cluster
    cdef unsigned int _block[3]    # in threads
    cdef unsigned int _shmem_size  # bytes of dynamic shared memory
    cdef bint _is_cooperative
    cdef bint _is_programmatic     # may overlap with the kernel before it on its stream
    cdef object __weakref__

    # Sets all fields except the stream, with the grid in blocks. `attributes` has MOST_ATTRIBUTES elements and must
    # live as long as `native` is used.
    cdef void _fill(self, CUlaunchConfig* native, CUlaunchAttribute* attributes) noexcept nogil


# Returns True for a function that returns a config: any callable that is no class.
cdef bint is_config_function(object arg) noexcept

# Returns a LaunchConfig, also for a dict of its fields; raises TypeError for any other object.
cdef LaunchConfig accept_launch_config(object arg)
