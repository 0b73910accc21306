# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""CUDA_GRAPHS_DEBUG=1..5 makes the loader write to stderr: timing from 1 on, LLVM IR from 4 on, assembly at 5."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

TIMING = 1
LLVM = 4
ASSEMBLY = 5


def level() -> int:
    text = os.environ.get("CUDA_GRAPHS_DEBUG", "0")
    return int(text) if text.isdecimal() else 0


def show(at: int, title: str, text: object) -> None:
    if level() >= at:
        print(f"[ptx] {title}\n{text}", file=sys.stderr)


@contextmanager
def timed(what: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    if level() >= TIMING:
        print(f"[ptx] {what}: {(time.perf_counter() - start) * 1e3:.1f} ms", file=sys.stderr)
