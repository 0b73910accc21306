# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The arguments of a kernel or graph as a function of another library: inputs, outputs, arrays and numbers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cuda_graphs.graph.executable.executable import Graph

__all__ = ["Like", "array_parameters", "bind_inputs", "is_array_type", "kernel_parameters", "read_inputs"]

# How to make an output: like an input of this name, or as a function of the inputs says.
Like = str | Callable[..., Any]


def kernel_parameters(kernel: Any) -> dict[str, str]:
    """Return the types of the parameters of a `cg.kernel` by name, as text."""
    return {
        each.name: each.annotation.__name__ if isinstance(each.annotation, type) else str(each.annotation)
        for each in inspect.signature(kernel.__wrapped__).parameters.values()
    }


def array_parameters(graph: Graph) -> dict[str, str]:
    """Return the types of the named parameters of a graph, as text.

    Raises:
        ValueError: A parameter is a plain pointer.
    """
    types = {name: state.type for name, state in graph.params.items()}
    for name, type_ in types.items():
        if type_ == "pointer":
            raise ValueError(
                f"parameter {name!r} of {graph!r} is a pointer, which fits no tensor: declare it as an array, "
                "for example cg.Array1[cg.f32]"
            )
    return types


def is_array_type(text: str) -> bool:
    return text.startswith("ndarray(")


def read_inputs(function: str, names: Sequence[str], out: Any) -> list[str]:
    """Return the parameters that are inputs, and check `out`.

    Raises:
        TypeError: `out` is not a mapping of names to names or functions.
        ValueError: A name is unknown, or there is no output.
    """
    if not isinstance(out, Mapping):
        raise TypeError(
            f'out must map each output to the input that it is like, as in out={{"y": "x"}}, got {out!r}'
        )
    inputs = [name for name in names if name not in out]
    if not out:
        raise ValueError(f"{function}() needs an output; its parameters are {', '.join(names)}")
    for name, like in out.items():
        if name not in names:
            raise ValueError(f"{function}() has no parameter {name!r}: {', '.join(names)}")
        if isinstance(like, str) and like not in inputs:
            raise ValueError(
                f"output {name!r} is like {like!r}, which is not an input; the inputs are {', '.join(inputs)}"
            )
        if not isinstance(like, str) and not callable(like):
            raise TypeError(f"output {name!r} must name an input or give a function, got {like!r}")
    return inputs


def bind_inputs(
    function: str,
    inputs: Sequence[str],
    out: Mapping[str, Any],
    args: tuple[Any, ...],
    keywords: dict[str, Any],
) -> tuple[Any, ...]:
    """Return the arguments of a call in the order of the inputs.

    Raises:
        TypeError: An argument is missing, or unknown.
    """
    if len(args) + len(keywords) != len(inputs) or set(inputs[len(args) :]) != set(keywords):
        raise TypeError(f"{function}() takes {', '.join(inputs)} and returns {', '.join(out)}")
    return (*args, *[keywords[name] for name in inputs[len(args) :]])
