# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Scopes of a C function in which a device is current."""

from cuda_graphs.core.driver.cuda cimport CUresult
from cuda_graphs.core.driver.seam cimport check_attempt, raise_noted
from cuda_graphs.core.resources.device_scope cimport context_on
from cuda_graphs.objects import constructors


cdef CUcontext context_of_device(int device) except NULL:
    cdef CUcontext context = context_on(device)
    if context == NULL:
        raise_noted(f"find the context of device {device}")
    return context


cdef int enter_other(DeviceScope& scope, int device) except -1:
    cdef CUresult status
    if current_device() == kNoDevice:
        constructors.device(0).set_current()
    with nogil:
        status = scope.enter(device)
    return check_attempt(status, f"make device {device} current")
