# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""NVTX ranges for NVIDIA's profilers, such as Nsight Systems, through the package nvtx (the extra `profile`).

Without a profiler a range does nothing. Without the package there are no ranges.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from .definitions import Known
from .recording import Recording

__all__ = ["RangesOnly", "is_attached", "marked"]

# A profiler that injects itself into the process sets one of these.
INJECTIONS = ("NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH")
HAS_THE_TIMES = (
    "A profiler of NVIDIA is attached, and it has the times: this profile marked ranges for it only."
)
NEEDS_NVTX = "For ranges in the attached profiler, install nvtx: pip install 'cuda-graphs[profile]'"


def is_attached() -> bool:
    """Return True if a profiler of NVIDIA is attached to the process."""
    return any(os.environ.get(name) for name in INJECTIONS)


def load_nvtx() -> Any:
    try:
        import nvtx
    except ImportError:
        return None
    return nvtx


def marked(name: str) -> AbstractContextManager[Any]:
    """Return a context manager that marks a range in the domain "cuda_graphs"."""
    nvtx = load_nvtx()
    return nullcontext() if nvtx is None else nvtx.annotate(name, domain="cuda_graphs")


class RangesOnly:
    """The recorder of a process whose CUPTI belongs to an attached profiler. It records nothing."""

    identify = 0

    def start(self) -> None:
        pass

    def stop(self) -> None:
        pass

    def recording(self, launched: Sequence[tuple[int, Known | None]]) -> Recording:
        missing = (HAS_THE_TIMES,) if load_nvtx() is not None else (HAS_THE_TIMES, NEEDS_NVTX)
        return Recording([], [], "the attached profiler", missing)
