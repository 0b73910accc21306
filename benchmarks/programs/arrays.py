# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Programs of array libraries: a step as a function of arrays, repeated. CuPy, JAX and PyTorch share them.

A step is `step(xp, *state, *rest)`, where `xp` is the module of the library, and returns the next state, a tuple of
arrays. `rest` are arrays that do not change.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .kits import Array, Kit, Run

Step = Callable[..., tuple[Any, ...]]


def numpy_result(
    step: Step, state: Sequence[Array], steps: int, rest: Sequence[Array] = ()
) -> tuple[Array, ...]:
    """Return the state after so many steps of NumPy."""
    found = tuple(state)
    for _ in range(steps):
        found = step(np, *found, *rest)
    return found


def cupy_run(kit: Kit, step: Step, state: Sequence[Array], steps: int, rest: Sequence[Array] = ()) -> Run:
    """Return a program of CuPy, step by step; its result is the first array."""
    import cupy

    first, fixed = [kit.put(each) for each in state], [kit.put(each) for each in rest]
    found = [first[0]]

    def call() -> None:
        state = tuple(first)
        for _ in range(steps):
            state = step(cupy, *state, *fixed)
        found[0] = state[0]

    return Run(nothing, call, lambda: kit.get(found[0]))


def jax_run(kit: Kit, step: Step, state: Sequence[Array], steps: int, rest: Sequence[Array] = ()) -> Run:
    """Return a program of JAX, one function with a loop; its result is the first array."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def repeat(state: Any, fixed: Any) -> Any:
        return jax.lax.fori_loop(0, steps, lambda _, now: step(jnp, *now, *fixed), state)

    return jax_call(kit, repeat, tuple(state), tuple(rest))


def jax_call(
    kit: Kit, function: Callable[[Any, Any], Any], state: Sequence[Array], rest: Sequence[Array]
) -> Run:
    """Return the call of a function of JAX, which returns a tuple of arrays; its result is the first one."""
    import jax

    first, fixed = tuple(kit.put(each) for each in state), tuple(kit.put(each) for each in rest)
    found = [first]

    def call() -> None:
        found[0] = jax.block_until_ready(function(first, fixed))

    return Run(nothing, call, lambda: kit.get(found[0][0]))


def torch_run(kit: Kit, step: Step, state: Sequence[Array], steps: int, rest: Sequence[Array] = ()) -> Run:
    """Return a program of PyTorch, whose step is compiled; its result is the first array."""
    import torch

    compiled = torch.compile(lambda *arrays: step(torch, *arrays), dynamic=False)
    first, fixed = [kit.put(each) for each in state], [kit.put(each) for each in rest]
    found = [first[0]]

    def call() -> None:
        now = tuple(first)
        with torch.no_grad():
            for _ in range(steps):
                now = compiled(*now, *fixed)
        found[0] = now[0]

    return Run(nothing, call, lambda: kit.get(found[0]))


def nothing() -> None:
    """Do nothing: a call of these programs begins with the first state, which it does not change."""
