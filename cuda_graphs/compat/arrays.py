# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays and fields with the members that the peers' have: objects of the library, which take further attributes."""

from __future__ import annotations

from functools import partial
from typing import Any

import cuda_graphs as cg
from cuda_graphs.kernels.arrays.creation import field_maker, make_elements
from cuda_graphs.kernels.arrays.ndarray import number_array

__all__ = ["PeerField", "PeerNdarray", "make_field", "make_ndarray"]


class PeerMembers:
    """The members of the peers' arrays and fields that those of the library lack, or that have further arguments."""

    def has_grad(self: Any) -> bool:
        return bool(self.needs_grad)

    def has_dual(self: Any) -> bool:
        return bool(self.needs_dual)

    def to_dlpack(self: Any, versioned: bool = False) -> Any:
        """Return a capsule of the memory."""
        return self.__dlpack__(max_version=(1, 0) if versioned else None)

    def to_numpy(self, dtype: Any = None, *, copy: bool | None = True) -> Any:
        """Return the elements as an array of NumPy, converted to `dtype`. Without a copy it shares the memory."""
        found = super().to_numpy(copy=copy)  # type: ignore[misc]
        return found if dtype is None else found.astype(dtype, copy=False)

    def to_torch(self, device: Any = None, *, copy: bool | None = True) -> Any:
        """Return the elements as a tensor of PyTorch on `device`. Without a copy it shares the memory.

        Raises:
            ValueError: `copy` is False, and the memory is on another device.
        """
        shared = super().to_torch(copy=False)  # type: ignore[misc]
        found = shared if device is None else shared.to(device)
        if copy is False and found.device != shared.device:
            raise ValueError(
                f"to_torch(copy=False): the elements are on {shared.device}, not on {found.device}"
            )
        return found.clone() if copy and found is shared else found


class PeerNdarray(PeerMembers, cg.NDArray):  # type: ignore[misc]
    """An array with the peers' members."""


class PeerField(PeerMembers, cg.Field):  # type: ignore[misc]
    """A field with the peers' members."""

    _partner_class = PeerNdarray


PeerNdarray._partner_class = PeerNdarray  # type: ignore[attr-defined]


def make_ndarray(dtype: Any, shape: Any, needs_grad: bool = False) -> Any:
    """Return an array. The arguments are those of `cg.ndarray`."""
    make = partial(number_array, cls=PeerNdarray)
    return make_elements(make, dtype, shape, needs_grad, False, None, None)


def make_field(
    dtype: Any, shape: Any, *, needs_grad: bool = False, needs_dual: bool = False, offset: Any = None
) -> Any:
    """Return a field. The arguments are those of `cg.field`."""
    make = field_maker(dtype, offset, PeerField)
    return make_elements(make, dtype, shape, needs_grad, needs_dual, None, None)
