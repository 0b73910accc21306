# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport int64_t, uint8_t
from libcpp.vector cimport vector

from cuda_graphs.core.resources.handles cimport PointerHandle

cdef extern from "core/resources/dlpack.hpp" namespace "cg" nogil:
    enum:
        kDLCPU
        kDLCUDA
        kDLCUDAHost
        kDLCUDAManaged
    enum DLDataTypeCode:
        kDLInt
        kDLUInt
        kDLFloat
        kDLBfloat
        kDLBool
    cppclass ArrayForm:
        ArrayForm()
        DLDataTypeCode code
        uint8_t bits
        vector[int64_t] shape

# Returns the capsule of `__dlpack__`. `device` is the result of `__dlpack_device__`, the other arguments are those of
# the protocol. Raises BufferError for an unsupported request: a copy, or another device.
cdef object export_capsule(
    const PointerHandle& memory, const ArrayForm& form, tuple device, object max_version, object dl_device, object copy
)
