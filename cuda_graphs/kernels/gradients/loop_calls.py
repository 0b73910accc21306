# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of graph kernels in a tape: their loops run one iteration at a time, as calls of the kernel's parts.

The tape records each part as a call of its own. So it can go back through any number of iterations, with the states
that it keeps or computes again (recomputation.py). The host reads the condition after each iteration.
"""

from __future__ import annotations

from typing import Any

from cuda_graphs.kernels.debug.faults import AdstackOverflowError
from cuda_graphs.objects.device.stream import Stream

__all__ = ["LoopCall", "has_control_flow"]


def has_control_flow(plan: tuple[Any, ...]) -> bool:
    """Return True if a plan of parts has conditionals."""
    return any(step[0] not in ("part", "set") for step in plan)


class LoopCall:
    """Calls the parts of a graph kernel by its plan, in place of the kernel.

    Args:
        function: The KernelFunction.
        plan: Its `parts` for the arguments of the call.
    """

    def __init__(self, function: Any, plan: tuple[Any, ...]) -> None:
        self.function, self.plan = function, plan
        self.conditions: dict[int, int] = {}

    def __call__(self, *args: Any, stream: Stream) -> None:
        """Call the parts.

        Raises:
            AdstackOverflowError: A loop would have more iterations than its `max_iterations`.
        """
        self.run(self.plan, args, stream)

    def run(self, plan: tuple[Any, ...], args: tuple[Any, ...], stream: Stream) -> None:
        for step in plan:
            match step:
                case ("part", number, condition):
                    found = self.function.part(number)(*args, stream=stream)
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
