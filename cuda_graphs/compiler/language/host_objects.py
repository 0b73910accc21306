# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Host objects: parameters of graph kernels whose methods add nodes between the tasks, such as communicators.

A class of such objects has `__cuda_graph_calls__`, the names of these methods, and is the annotation of the parameter.
Each method of an object has

    __cuda_graph_check__(args)       raises an exception if the arguments are wrong, before any node is added
    __cuda_graph_emit__(node, args)  adds nodes after `node`, and returns the last of them
    __call__(*args, stream)          does the same work at once, if the host runs the control flow between tasks
    __cuda_graph_run_if__(args, condition, stream)
                                     the same, but keeps no results if `condition`, a u32 of the device, is 0

The object itself may have `__cuda_graph_share__(definition, owner)`: definitions of one owner never run at the same
time, and may share what the object keeps for a definition. The graph kernel keeps the result as long as the definition.

It may also have `__cuda_graph_settle__(owner, refusal)`, which a graph kernel calls when it has built a graph, or
failed because a body refuses the nodes: `refusal` is the text of the error, else None. If the result is not None, the
kernel runs its control flow on the host. So all processes decide alike. Later calls of `__cuda_graph_share__` raise the
refusal.

An object whose attribute `__cuda_graph_exchanges__` is true may let resident launches do the work of `all_reduce`. Its
method then has `__cuda_graph_exchange__(args)`, which returns None, or why it must be a node. The object has
`__cuda_graph_table__(definition)`, called after `__cuda_graph_share__`: it returns the array that the launch gets
(ir/exchanges.py).

The class may also have `__cuda_graph_numbers__`, the names of attributes that are ints: kernels read them.
"""

from __future__ import annotations

import inspect
from typing import Any

__all__ = ["is_host_object", "method_names", "number_names", "signature_of"]

CALLS, NUMBERS = "__cuda_graph_calls__", "__cuda_graph_numbers__"


def is_host_object(annotation: Any) -> bool:
    """Return whether an annotation is a class of host objects."""
    return isinstance(annotation, type) and hasattr(annotation, CALLS)


def method_names(cls: type) -> tuple[str, ...]:
    """Return the methods that kernels may call."""
    return tuple(getattr(cls, CALLS))


def number_names(cls: type) -> tuple[str, ...]:
    """Return the attributes that kernels may read, as i32."""
    return tuple(getattr(cls, NUMBERS, ()))


def signature_of(cls: type, name: str) -> inspect.Signature:
    """Return the signature of a method, with `self`."""
    method = getattr(cls, name)
    return inspect.signature(getattr(method, "__wrapped__", method))
