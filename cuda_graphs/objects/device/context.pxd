# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.driver.cuda cimport CUcontext
from cuda_graphs.core.resources.device_scope cimport (
    DeviceScope,
    current_device,
    has_current_context,
    has_several_devices,
    kNoDevice,
)
from cuda_graphs.core.resources.handles cimport ContextBox, ContextHandle

# Returns the context that is current on this thread; empty without a current context.
cdef ContextHandle find_current() except *

# Makes a device current until the scope ends (device_scope.hpp). A thread without a current device first gets device 0, as
# everywhere in this package. Does nothing for kNoDevice.
cdef inline int enter_device(DeviceScope& scope, int device) except -1:
    if device == kNoDevice or (current_device() == device if has_several_devices() else has_current_context()):
        return 0
    return enter_other(scope, device)

cdef int enter_other(DeviceScope& scope, int device) except -1

# Returns the current context if it is of the device, else the primary context of the device.
cdef CUcontext context_of_device(int device) except NULL


cdef class Context:
    cdef ContextHandle _h
    cdef object __weakref__

    @staticmethod
    cdef Context _from_handle(ContextHandle h)

    # Raises RuntimeError for an object without a handle.
    cdef const ContextBox* _box(self) except NULL
