# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Cython declarations of device_scope.hpp, peer_access.hpp and core/driver/device_count.hpp."""

from libcpp cimport bool as cpp_bool

from cuda_graphs.core.driver.cuda cimport CUdevice, CUdeviceptr, CUresult
from .handles cimport StreamHandle

cdef extern from "core/driver/device_count.hpp" namespace "cg" nogil:
    cpp_bool has_several_devices() noexcept

cdef extern from "core/resources/device_scope.hpp" namespace "cg" nogil:
    const CUdevice kNoDevice
    cppclass DeviceScope:
        DeviceScope()
        CUresult enter(CUdevice device) except +
    CUdevice current_device() except +
    CUdevice device_of(const StreamHandle& stream) noexcept
