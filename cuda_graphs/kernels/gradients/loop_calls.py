# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of graph kernels in a tape: their loops run one iteration at a time, as calls of the kernel's parts.

The tape records each part as a call of its own. It can go back through any number of iterations, with the states
that it keeps or computes again (recomputation.py). The host reads the condition after each iteration.
"""

from __future__ import annotations

from typing import Any

from cuda_graphs.compiler.ir.types import SCALARS
from cuda_graphs.kernels.arrays.creation import ndarray
from cuda_graphs.kernels.arrays.ndarray import NDArray
from cuda_graphs.kernels.debug.faults import AdstackOverflowError
from cuda_graphs.objects.device.stream import Stream

__all__ = ["LoopCall", "has_control_flow", "variables_of"]


def has_control_flow(plan: tuple[Any, ...]) -> bool:
    """Return True if a plan of parts has conditionals."""
    return any(step[0] not in ("variable", "part", "set") for step in plan)


def variables_of(plan: tuple[Any, ...]) -> tuple[tuple[str, str], ...]:
    """Return the path and the type of each array that the parts take after the arguments of the kernel."""
    return tuple((path, kind) for name, path, kind in (step[:3] for step in plan if step[0] == "variable"))


class LoopCall:
    """Calls the parts of a graph kernel by its plan, in place of the kernel.

    Args:
        function: The KernelFunction.
        plan: Its `parts` for the arguments of the call.
    """

    def __init__(self, function: Any, plan: tuple[Any, ...]) -> None:
        self.function, self.plan, self.variables = function, plan, variables_of(plan)
        self.conditions: dict[int, int] = {}

    def __call__(self, *args: Any, stream: Stream) -> None:
        """Call the parts.

        Raises:
            AdstackOverflowError: A loop would have more iterations than its `max_iterations`.
        """
        variables = tuple(variable(SCALARS[kind]) for _, kind in self.variables)
        self.run(self.plan, (*args, *variables), stream)

    def run(self, plan: tuple[Any, ...], args: tuple[Any, ...], stream: Stream) -> None:
        for step in plan:
            match step:
                case ("variable", *_):
                    pass  # one of `args`
                case ("part", number, condition):
                    found = self.function.part(number, self.variables)(*args, stream=stream)
                    if condition is not None:
                        self.conditions[condition] = found
                case ("set", condition, value):
                    self.conditions[condition] = value
                case ("while" | "do", *_):
                    self.loop(step, args, stream)
                case (kind, condition, plans):
                    state = self.conditions[condition]
                    which = int(not state) if kind == "if" else state
                    if which < len(plans):
                        self.run(plans[which], args, stream)

    def loop(self, step: tuple[Any, ...], args: tuple[Any, ...], stream: Stream) -> None:
        kind, condition, initial, most, line, plan = step
        if initial is not None:
            self.conditions[condition] = initial
        count = 0
        while (kind == "do" and not count) or self.conditions[condition]:
            if count == most:
                raise AdstackOverflowError(
                    f"kernel {self.function.__name__}: the loop in line {line} has more than max_iterations={most} "
                    "iterations in a Tape, so its gradient would be that of fewer iterations: raise the limit"
                )
            self.run(plan, args, stream)
            count += 1


def variable(dtype: Any) -> NDArray:
    """Return an array for a variable that passes between parts."""
    made: NDArray = ndarray(dtype, 1, needs_grad=dtype.kind == "float")
    return made
