# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Memory of a device that several processes of one host use: one allocates and shares it, the others open it.

A process that closes shared memory must wait until the others have closed it, too (cuda.h, cuIpcCloseMemHandle).
"""

from libc.string cimport memcpy

from cuda_graphs.core.driver.cuda cimport CUipcMemHandle, CUresult
from cuda_graphs.core.driver.seam cimport check_attempt, raise_noted
from cuda_graphs.core.resources.handles cimport PointerHandle, open_shared, share_device
from cuda_graphs.objects.device.context cimport Context
from .buffer cimport Buffer


def share_memory(Buffer buffer not None):
    """Return the 64 bytes by which another process of this host opens memory of a SynchronousMemoryResource.

    Raises:
        CUDAError: The driver cannot share memory between processes.
    """
    cdef CUipcMemHandle shared
    cdef CUresult status
    buffer._check_open()
    with nogil:
        status = share_device(buffer._h, &shared)
    check_attempt(status, f"share {buffer!r} with other processes")
    return (<char*>&shared)[: sizeof(shared)]


def open_memory(bytes shared not None, size_t size, device):
    """Return a Buffer of memory that another process of this host has shared. Closing it unmaps the memory.

    Args:
        shared: The result of `share_memory` in the other process.
        size: Bytes.
        device: The Device that uses the memory.

    Raises:
        ValueError: `shared` has another length.
        CUDAError: The device has no access to the memory, or the other process has ended.
    """
    cdef CUipcMemHandle handle
    cdef Context context = device.context
    cdef PointerHandle h
    if len(shared) != sizeof(handle):
        raise ValueError(f"the handle of shared memory has {sizeof(handle)} bytes, got {len(shared)}")
    memcpy(&handle, <const char*>shared, sizeof(handle))
    with nogil:
        h = open_shared(context._h, handle, size)
    if not h:
        raise_noted("open memory of another process")
    return Buffer._from_handle(h, None)
