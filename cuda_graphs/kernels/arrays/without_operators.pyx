# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""WithoutOperators: arrays that refuse arithmetic and comparisons of order on the host."""

from cuda_graphs.objects.memory.typed_memory cimport TypedMemory


cdef class WithoutOperators(TypedMemory):
    """Base class of NDArray. Its operators raise TypeError; ``==`` compares identities."""

    def __hash__(self):
        return object.__hash__(self)

    def __lt__(self, other):
        return refuse(self)

    def __le__(self, other):
        return refuse(self)

    def __gt__(self, other):
        return refuse(self)

    def __ge__(self, other):
        return refuse(self)

    def __add__(self, other):
        return refuse(self)

    def __radd__(self, other):
        return refuse(self)

    def __sub__(self, other):
        return refuse(self)

    def __rsub__(self, other):
        return refuse(self)

    def __mul__(self, other):
        return refuse(self)

    def __rmul__(self, other):
        return refuse(self)

    def __matmul__(self, other):
        return refuse(self)

    def __rmatmul__(self, other):
        return refuse(self)

    def __truediv__(self, other):
        return refuse(self)

    def __rtruediv__(self, other):
        return refuse(self)

    def __floordiv__(self, other):
        return refuse(self)

    def __rfloordiv__(self, other):
        return refuse(self)

    def __mod__(self, other):
        return refuse(self)

    def __rmod__(self, other):
        return refuse(self)

    def __divmod__(self, other):
        return refuse(self)

    def __rdivmod__(self, other):
        return refuse(self)

    def __lshift__(self, other):
        return refuse(self)

    def __rlshift__(self, other):
        return refuse(self)

    def __rshift__(self, other):
        return refuse(self)

    def __rrshift__(self, other):
        return refuse(self)

    def __and__(self, other):
        return refuse(self)

    def __rand__(self, other):
        return refuse(self)

    def __or__(self, other):
        return refuse(self)

    def __ror__(self, other):
        return refuse(self)

    def __xor__(self, other):
        return refuse(self)

    def __rxor__(self, other):
        return refuse(self)

    def __pow__(self, other, modulus):
        return refuse(self)

    def __rpow__(self, other, modulus):
        return refuse(self)

    def __neg__(self):
        return refuse(self)

    def __pos__(self):
        return refuse(self)

    def __abs__(self):
        return refuse(self)

    def __invert__(self):
        return refuse(self)


cdef object refuse(WithoutOperators self):
    raise TypeError(
        f"{self._identify()} has no arithmetic or comparisons on the host: write a kernel, or use NumPy (to_numpy), CuPy or "
        "PyTorch (from_dlpack), which do that"
    )
