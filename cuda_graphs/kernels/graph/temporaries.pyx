# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Memory for the temporary arrays of a graph. Each graph has its own memory, for its whole lifetime.

A call allocates the memory when it builds the graph, perhaps on a thread that captures. All calls are capture-safe.
"""

from types import MappingProxyType

from libc.stddef cimport size_t
from libc.stdint cimport uintptr_t

from cuda_graphs.core.driver.cuda cimport CUdeviceptr, CUresult
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.resources.handles cimport write_zeros

from cuda_graphs.objects.memory.memory_resource import SynchronousMemoryResource
from cuda_graphs.compiler.artifact import REPORT, is_zeroed
from cuda_graphs.objects.device.device import current_device


def new_memory(name, artifact, others=MappingProxyType({})):
    """Return memory for each temporary array of an artifact, in order, for one graph of the kernel `name`.

    `others` gives what takes the place of memory, by the path of the array.
    """
    if not artifact.temps:
        return []
    resource = SynchronousMemoryResource(current_device())
    return [others.get(path) or new_temporary(name, artifact, resource, path, size) for path, size in artifact.temps]


cdef object new_temporary(name, artifact, resource, path, size):
    return new_report(name, artifact, size) if path == REPORT else new_array(resource, path, size)


cdef object new_report(name, artifact, size):
    from cuda_graphs.kernels.debug.reports import Report

    return Report(name, artifact.asserts, size)


cdef object new_array(resource, path, size_t size):
    cdef CUresult status
    cdef CUdeviceptr address
    memory = resource.allocate(size)
    if is_zeroed(path):
        address = <CUdeviceptr><uintptr_t>int(memory.handle)
        with nogil:
            status = write_zeros(address, size)
        check_attempt(status, f"fill {memory!r} of a graph kernel with zeros")
    return memory
