# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`ad` of the peers: tapes and gradients of one's own."""

from __future__ import annotations

from typing import Any

import cuda_graphs as cg

from .data import UnplacedField

__all__ = ["FwdMode", "Tape", "clear_all_gradients", "grad_for", "grad_replaced", "no_grad"]


def unwrapped(value: Any) -> Any:
    """Return the field of the library in place of a field that was placed."""
    if isinstance(value, (list, tuple)):
        return [unwrapped(each) for each in value]
    return value.placed() if isinstance(value, UnplacedField) else value


def Tape(loss: Any, clear_gradients: bool = True, validation: bool = False, grad_check: Any = None) -> Any:  # noqa: N802
    """Return a `cg.ad.Tape`. With `clear_gradients` the gradients of all fields are 0 first, as in the peers."""
    if clear_gradients:
        clear_all_gradients()
    return cg.ad.Tape(unwrapped(loss), clear_gradients, validation, unwrapped(grad_check))


def FwdMode(loss: Any, param: Any, seed: Any = None, clear_gradients: bool = True) -> Any:  # noqa: N802
    """Return a `cg.ad.FwdMode`."""
    return cg.ad.FwdMode(unwrapped(loss), unwrapped(param), seed, clear_gradients)


grad_replaced, grad_for, no_grad = cg.ad.grad_replaced, cg.ad.grad_for, cg.ad.no_grad
clear_all_gradients = cg.ad.clear_all_gradients
