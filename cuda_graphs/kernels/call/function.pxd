# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.resources.handles cimport StreamHandle
from cuda_graphs.kernels.arrays.reading cimport Reading
from cuda_graphs.objects.device.stream cimport Stream
from .capture_strategy cimport CaptureStrategy
from .replay_strategy cimport ReplayStrategy
from cuda_graphs.kernels.specialisation.specialisation cimport Specialisation
from cuda_graphs.kernels.specialisation.specialiser cimport Specialiser
from .strategy cimport Strategy


cdef class KernelFunction:
    cdef Specialiser specialiser
    cdef CaptureStrategy capture
    cdef Strategy launch
    cdef ReplayStrategy replay  # None for kernels that are not graph kernels
    cdef ReplayStrategy together  # of such a kernel with many tasks; None until a call needs it
    cdef Specialisation called  # Specialisation of the last call
    cdef dict forwards          # KernelFunctions for forward differentiation, by mode
    cdef int extra_leaf         # ExtraLeaf of the kernel itself
    cdef object make_gradient   # constructor of the GradientFunction; None for derivatives
    cdef object outside         # OutsideArrays; None if no call takes arrays from around the kernel
    cdef object gradient        # GradientFunction; None until the first access to `grad`
    cdef object __weakref__
    cdef dict __dict__

    cdef tuple resolved(self, tuple args)
    cdef object _run(self, Reading* r, Stream stream)
    cdef Strategy _strategy(self, Specialisation code, Reading* r, const StreamHandle& handle)
    cdef Strategy _strategy_of_launches(self, Specialisation code, Reading* r, const StreamHandle& handle)


# Returns the kernel of the class `cls` that computes a derivative of `primal`. `mode` is one of the compiler's MODES;
# `extra_leaf`, an ExtraLeaf, is the extra leaf of each array argument.
cdef KernelFunction derived_from(object cls, KernelFunction primal, int extra_leaf, object mode)
