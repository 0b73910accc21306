# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Planes that the tests of pictures draw."""

from cuda_graphs.drawing.scene import Box, Frame, Link, Plane


def plane(count, edges, prefix="", **fields):
    boxes = tuple(Box(f"{prefix}{n}", "kernel", fields.get("title", f"k{n}")) for n in range(count))
    return Plane(boxes, tuple(Link(*edge) for edge in edges))


def chain(count, **fields):
    return plane(count, [(n, n + 1) for n in range(count - 1)], **fields)


def nested(depth, prefix=""):
    inner = nested(depth - 1, f"{prefix}1.0.") if depth else plane(0, [])
    other = chain(2, prefix=f"{prefix}1.1.")
    loop = Box(f"{prefix}1", "while", "loop", frames=(Frame("body", inner), Frame("other", other)))
    return Plane((Box(f"{prefix}0", "kernel", "k"), loop), (Link(0, 1),))


CASES = {
    "empty": plane(0, []),
    "one": plane(1, []),
    "chain": chain(5),
    "fork and join": plane(6, [(0, n) for n in range(1, 5)] + [(n, 5) for n in range(1, 5)]),
    "loose": plane(30, []),
    "long links": plane(60, [(n, n + 1) for n in range(59)] + [(n, 59) for n in range(50)]),
    "circle": plane(3, [(0, 1), (1, 2), (2, 0)]),
    "nested": nested(4),
    "two devices": Plane(
        tuple(Box(str(n), "kernel", "k", lane=n % 2) for n in range(6)),
        tuple(Link(n, n + 1) for n in range(5)),
    ),
}
