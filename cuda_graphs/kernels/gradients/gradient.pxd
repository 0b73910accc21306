# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.kernels.call.function cimport KernelFunction
from .stack_memory cimport StackMemory


cdef class GradientFunction(KernelFunction):
    cdef StackMemory stacks
