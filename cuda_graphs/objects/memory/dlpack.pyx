# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Exports memory of this package as DLPack capsules."""

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_New

cdef extern from "core/resources/dlpack.hpp" namespace "cg" nogil:
    cppclass DLManagedTensor:
        pass
    cppclass DLManagedTensorVersioned:
        pass
    DLManagedTensor* export_array(
        const PointerHandle& memory, const ArrayForm& form, int device_type, int device_id
    ) except +
    DLManagedTensorVersioned* export_array_versioned(
        const PointerHandle& memory, const ArrayForm& form, int device_type, int device_id
    ) except +
    void drop_export(DLManagedTensor* tensor) noexcept
    void drop_export_versioned(DLManagedTensorVersioned* tensor) noexcept


cdef object export_capsule(
    const PointerHandle& memory, const ArrayForm& form, tuple device, object max_version, object dl_device, object copy
):
    if dl_device is not None and tuple(dl_device) != device:
        raise BufferError(f"the memory is on DLPack device {device}, and cannot be exported to {tuple(dl_device)}")
    if copy is True:
        raise BufferError("copy=True is not supported: an export shares the memory")
    if max_version is not None and not (isinstance(max_version, tuple) and len(max_version) == 2):
        raise BufferError(f"max_version must be a tuple of two ints, got {max_version!r}")
    cdef int device_type, device_id
    device_type, device_id = device
    if max_version is None or max_version < (1, 0):
        return PyCapsule_New(export_array(memory, form, device_type, device_id), b"dltensor", delete_capsule)
    return PyCapsule_New(
        export_array_versioned(memory, form, device_type, device_id), b"dltensor_versioned", delete_capsule_versioned
    )


cdef void delete_capsule(object capsule) noexcept:
    # A consumer that took the tensor has renamed the capsule.
    if PyCapsule_IsValid(capsule, b"dltensor"):
        drop_export(<DLManagedTensor*>PyCapsule_GetPointer(capsule, b"dltensor"))


cdef void delete_capsule_versioned(object capsule) noexcept:
    if PyCapsule_IsValid(capsule, b"dltensor_versioned"):
        drop_export_versioned(<DLManagedTensorVersioned*>PyCapsule_GetPointer(capsule, b"dltensor_versioned"))
