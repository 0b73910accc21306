# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The import shim: `import taichi` and `import quadrants` give the modules of this package, installed or not."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["install"]

OURS = "cuda_graphs.compat."
PEERS = ("taichi", "quadrants")


class PeerFinder:
    """A finder of `sys.meta_path` for the modules of the peers. It is its own loader."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name.partition(".")[0] not in PEERS:
            return None
        if importlib.util.find_spec(OURS + name) is None:
            raise ModuleNotFoundError(
                f"No module named {name!r}: cuda_graphs.compat has no such part (docs/compatibility.md)", name=name
            )
        return ModuleSpec(name, self)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return importlib.import_module(OURS + spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module has run as a part of this package."""


def install() -> None:
    """Let `import taichi` and `import quadrants` give the modules of this package.

    Raises:
        RuntimeError: One of them is imported already.
    """
    if any(isinstance(each, PeerFinder) for each in sys.meta_path):
        return
    for name in PEERS:
        if name in sys.modules:
            raise RuntimeError(f"{name} is imported already: call install() before")
    sys.meta_path.insert(0, PeerFinder())  # type: ignore[arg-type]
