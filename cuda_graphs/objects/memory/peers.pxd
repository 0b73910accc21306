# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.driver.cuda cimport CUdeviceptr
from cuda_graphs.core.resources.handles cimport StreamHandle

# Lets the work of `device` use the device memory of `owner` at an address; does nothing if one of them is kNoDevice. The
# first use of a pair of devices enables the access. Raises CUDAError, which names the two devices, if the machine offers
# none. `what` is the memory in words.
cdef inline int reach(int device, int owner, CUdeviceptr address, object what) except -1:
    return 0 if device == owner or device < 0 or owner < 0 else reach_other(device, owner, address, what)

cdef int reach_other(int device, int owner, CUdeviceptr address, object what) except -1

# Returns the device that does the work of a stream.
cdef int device_at_work(const StreamHandle& stream) except -2
