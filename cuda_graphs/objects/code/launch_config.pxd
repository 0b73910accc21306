# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.driver.cuda cimport CUlaunchAttribute, CUlaunchConfig
from cuda_graphs.core.graphs.graph_handles cimport KernelShape, LaunchSize


cdef enum:
    MOST_ATTRIBUTES = 3  # maximum number of launch attributes


cdef class LaunchConfig:
    cdef LaunchSize _size        # as the driver takes it: the grid in blocks, with a cluster too
    cdef KernelShape _shape      # cluster 0, 0, 0: no cluster
    cdef bint _is_programmatic   # may overlap with the kernel before it on its stream
    cdef object __weakref__

    # Convert between the blocks of the grid, and clusters.
    cdef void _count_clusters(self, unsigned int* clusters) noexcept
    cdef void _count_blocks(self, const unsigned int* clusters) noexcept

    # Sets all fields except the stream, with the grid in blocks. `attributes` has MOST_ATTRIBUTES elements and must
    # live as long as `native` is used.
    cdef void _fill(self, CUlaunchConfig* native, CUlaunchAttribute* attributes) noexcept nogil


# Returns True for a launch without a cluster, and neither cooperative nor programmatic.
cdef inline bint is_plain(LaunchConfig config) noexcept:
    return config._shape.is_plain() and not config._is_programmatic


# Returns True for a function that returns a config: any callable that is no class.
cdef bint is_config_function(object arg) noexcept

# Returns the config of a launch in one dimension. The caller has checked the numbers.
cdef LaunchConfig linear_config(unsigned int grid, unsigned int block, unsigned int shared, bint is_cooperative)

# Returns a LaunchConfig, also for a dict of its fields; raises TypeError for any other object.
cdef LaunchConfig accept_launch_config(object arg)
