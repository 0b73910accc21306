# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Versions of installed packages, found without importing them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["llvm_version", "version"]


def llvm_version() -> str:
    """Of llvmlite: by the name of the folder that an installer leaves beside it. Metadata take long to read, and the
    package is not to be looked for by those who need no compiler."""
    for folder in map(Path, sys.path):
        if (folder / "llvmlite").is_dir():
            names = [
                each
                for each in os.listdir(folder)
                if each.startswith("llvmlite-") and each.endswith(".dist-info")
            ]
            return names[0] if len(names) == 1 else version("llvmlite")
    return version("llvmlite")


def version(name: str) -> str:
    """Of a package, in any way that it may be installed."""
    import importlib.metadata

    return importlib.metadata.version(name)
