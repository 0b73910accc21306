# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Debug output on stderr, of the compiler and of the PTX translator: CUDA_GRAPHS_DEBUG=1..5.

1 timing, 2 passes, 3 the IR after each pass, 4 LLVM before and after optimisation, 5 assembly or PTX. A level includes
all lower ones.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

TIMING, PASSES, IR, LLVM, ASSEMBLY = 1, 2, 3, 4, 5


def level() -> int:
    """Return the level from the environment; 0 is no output."""
    text = os.environ.get("CUDA_GRAPHS_DEBUG", "0")
    return int(text) if text.isdecimal() else 0


def show(at: int, title: str, text: object = "") -> None:
    """Print `text` if the level is `at` or higher."""
    if level() >= at:
        print(f"[cuda_graphs] {title}\n{text}".rstrip(), file=sys.stderr)


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Print the time that a `with` block took."""
    start = time.perf_counter()
    yield
    if level() >= TIMING:
        print(f"[cuda_graphs] {what}: {(time.perf_counter() - start) * 1e3:.2f} ms", file=sys.stderr)
