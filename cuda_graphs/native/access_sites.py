# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Sites of instrumented code: constants that describe an access (cgh_site of hostdriver/image_loader.h).

Instrumented code calls cgh_services.access at each access, with the address of its site.
"""

from __future__ import annotations

__all__ = [
    "AFTER",
    "FENCE",
    "JOIN",
    "READ",
    "RELEASE",
    "SHARED",
    "STRONG",
    "UNORDERED",
    "WRITE",
    "site_constant",
]

# Bits of the flags.
READ, WRITE, STRONG, RELEASE, SHARED, FENCE, AFTER, JOIN, UNORDERED = (1 << bit for bit in range(9))


def site_constant(file: str, description: str, line: int, ptx_line: int, flags: int, axes: int) -> str:
    """Return the definition of a site. `file` and `description` are pointers to strings, or "null"."""
    numbers = ", ".join(f"i32 {each}" for each in (line, ptx_line, flags, axes))
    fields = f"ptr {file}, ptr {description}, {numbers}"
    return f"private constant {{ ptr, ptr, i32, i32, i32, i32 }} {{ {fields} }}"
