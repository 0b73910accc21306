# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`quadrants.lang.impl`: the state of the program."""

from __future__ import annotations

import cuda_graphs as cg

from ...program import Config, cfg, sync

__all__ = ["PyQuadrants", "current_cfg", "get_max_shared_memory_bytes", "get_runtime"]


class PyQuadrants:
    """The runtime. Fields get their memory at their first use, so there is nothing to materialise or to clear."""

    prog: PyQuadrants

    def materialize(self) -> None:
        """Do nothing."""

    def clear(self) -> None:
        """Do nothing."""

    def synchronize(self) -> None:
        """Wait for all work of the current device."""
        sync()

    @property
    def default_fp(self) -> object:
        """The type of floats of the last `init`."""
        return cfg.default_fp

    @property
    def default_ip(self) -> object:
        """The type of ints of the last `init`."""
        return cfg.default_ip


runtime = PyQuadrants()
runtime.prog = runtime


def current_cfg() -> Config:
    """Return the options that hold now."""
    return cfg


def get_runtime() -> PyQuadrants:
    """Return the runtime of the process."""
    return runtime


def get_max_shared_memory_bytes(is_lowerbound_ok: bool = False) -> int:
    """Return the bytes of shared memory that a block may have."""
    return cg.Device().properties.max_shared_memory_per_block
