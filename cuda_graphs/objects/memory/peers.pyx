# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Access to the memory of another device, at its first use."""

from cuda_graphs.core.driver.cuda cimport CUresult
from cuda_graphs.core.driver.seam cimport raise_explained
from cuda_graphs.core.resources.device_scope cimport (
    current_device,
    device_of_stream,
    enable_peer_access,
    kNoDevice,
)


cdef int reach_other(int device, int owner, CUdeviceptr address, object what) except -1:
    cdef CUresult status
    with nogil:
        status = enable_peer_access(device, owner, address)
    if status:
        raise_explained(
            status, f"let device {device} use {what}, which is memory of device {owner}",
            (
                f"Device {device} has no access to the memory of device {owner} on this machine: `nvidia-smi topo -p2p r` "
                "shows which GPUs have access to each other.",
                f"Copy the data to device {device} first (copy_from), or run the work on device {owner}.",
            ),
        )
    return 0


cdef int device_at_work(const StreamHandle& stream) except -2:
    cdef int device = device_of_stream(stream)
    return current_device() if device == kNoDevice else device
