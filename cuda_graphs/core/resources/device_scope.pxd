# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Cython declarations of device_scope.hpp, peer_access.hpp and core/driver/driver_facts.hpp."""

from libc.stddef cimport size_t
from libcpp cimport bool as cpp_bool

from cuda_graphs.core.driver.cuda cimport CUcontext, CUdevice, CUdeviceptr, CUresult, CUstream
from .handles cimport StreamHandle

cdef extern from "<cuda.h>" nogil:
    CUresult CUDA_ERROR_PEER_ACCESS_UNSUPPORTED

cdef extern from "core/driver/driver_facts.hpp" namespace "cg" nogil:
    cpp_bool has_several_devices() noexcept

cdef extern from "core/resources/device_scope.hpp" namespace "cg" nogil:
    const CUdevice kNoDevice
    cppclass DeviceScope:
        DeviceScope()
        CUresult enter(CUdevice device) except +
    CUdevice current_device() except +
    cpp_bool has_current_context() noexcept
    CUcontext context_on(CUdevice device) except +
    CUdevice device_of_context "cg::device_of"(CUcontext context) except +
    CUdevice device_of_stream "cg::device_of"(const StreamHandle& stream) noexcept
    CUresult find_device(CUdeviceptr address, CUdevice* device) noexcept

cdef extern from "core/resources/peer_access.hpp" namespace "cg" nogil:
    CUresult enable_peer_access(CUdevice device, CUdevice owner, CUdeviceptr address) except +
    CUresult copy_between_devices(
        CUdeviceptr to, CUdevice to_device, CUdeviceptr source, CUdevice source_device, size_t size, CUstream stream
    ) except +
