# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of compile.py: source text, the same for each library but for its name and the types of parameters.

`tasks` is a kernel of many loops with different bodies, as in a simulation step. `solver` has the shape of a solver for
rigid bodies: small functions on vectors, which call each other, and loops over bodies and contacts that call them.
"""

from __future__ import annotations

from collections.abc import Callable

TASKS, FUNCTIONS = 100, 200
BODIES = 8  # elements of each array


def tasks(count: int = TASKS, changed: int | None = None) -> str:
    """Return a kernel `run(x, y)` of `count` loops. The loop `changed` has another constant."""
    lines = ["@{lib}.kernel", "def run(x: {array}, y: {array}):"]
    for number in range(count):
        factor = 1.0 + (number + 1) / (count * 8) + (0.5 if number == changed else 0.0)
        source, target = "xy" if number % 2 else "yx"
        lines += [
            "    for i in range(x.shape[0]):",
            f"        {target}[i] = {source}[i] * {factor} + {target}[i] * 0.25",
        ]
    return "\n".join(lines) + "\n"


def function(number: int, first: bool) -> list[str]:
    """Return the lines of one function of three floats and an index. All but the first of a group call the previous."""
    scale = 0.001 * (number % 17 + 1)
    before = (
        ["    a, b, c = x, y, z"]
        if first
        else [f"    p, q, r = f{number - 1}(y, z, x)", "    a, b, c = x + p, y + q, z + r"]
    )
    return [
        "@{lib}.func",
        f"def f{number}(x, y, z):",
        *before,
        f"    d = a * a + b * b + c * c + {scale}",
        "    s = 1.0 / {lib}.sqrt(d)",
        f"    if d > {1.0 + scale}:",
        f"        s = s * {0.5 + scale}",
        "    else:",
        f"        b = b * s + {scale}",
        f"    u = b * {scale} - c * s",
        f"    v = c * {scale} - a * s",
        f"    return u, v, a * {scale} - b * s",
    ]


GROUP = 4  # functions that call each other


def solver(functions: int = FUNCTIONS) -> str:
    """Return a kernel `run(x, y)` of one loop for each group of functions, with statements of its own."""
    lines: list[str] = []
    for number in range(functions):
        lines += function(number, number % GROUP == 0)
    lines += ["@{lib}.kernel", "def run(x: {array}, y: {array}):"]
    for last in range(GROUP - 1, functions, GROUP):
        lines += [
            "    for i in range(x.shape[0] // 3):",
            "        a, b, c = x[3 * i], x[3 * i + 1], x[3 * i + 2]",
            f"        u, v, w = f{last}(a, b, c)",
            "        n = u * u + v * v + w * w",
            "        for _ in range(2):",
            f"            p, q, r = f{last - 1}(u, v, w)",
            "            if p * p + q * q + r * r < n:",
            "                u = u + 0.125 * p",
            "                v = v + 0.125 * q",
            "                w = w + 0.125 * r",
            "        y[3 * i] = y[3 * i] * 0.5 + u",
            "        y[3 * i + 1] = y[3 * i + 1] * 0.5 + v",
            "        y[3 * i + 2] = y[3 * i + 2] * 0.5 + w",
        ]
    return "\n".join(lines) + "\n"


PROGRAMS: dict[str, Callable[[], str]] = {
    "100 tasks": tasks,
    "100 tasks, one changed": lambda: tasks(changed=TASKS // 2),
    "solver": solver,
}
