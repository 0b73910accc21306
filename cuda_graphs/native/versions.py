# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Versions of the parts that determine code: packages (found without importing them), Python, and source files."""

from __future__ import annotations

import hashlib
import os
import sys
from functools import cache

import numpy as np

__all__ = ["FOLDER", "interpreter", "llvm_version", "state_of", "tree_hash", "version"]

# The folder of this package. Its source decides the code of all its users.
FOLDER = os.path.dirname(__file__)


@cache
def llvm_version() -> str:
    """Return the states of llvmlite's library and of the file with its version, which stand for the version.

    Importing the package or its metadata would take much longer.
    """
    for folder in sys.path:
        package = os.path.join(folder, "llvmlite")
        binding = os.path.join(package, "binding")
        if os.path.isdir(binding):
            libraries = sorted(each for each in os.listdir(binding) if each.startswith("libllvmlite."))
            files = [
                os.path.join(package, "_version.py"),
                *(os.path.join(binding, each) for each in libraries),
            ]
            return "\n".join(state_of(each) for each in files)
    return version("llvmlite")


def version(name: str) -> str:
    """Return the version of a package, however it is installed."""
    import importlib.metadata

    return importlib.metadata.version(name)


def interpreter() -> str:
    """Return the versions of Python, which parses kernels, and of NumPy, which computes constants."""
    return f"{sys.implementation.cache_tag} {sys.version} NumPy {np.__version__}"


def state_of(file: str | os.PathLike[str]) -> str:
    """Return path, size and times of a file, which stand for its content.

    Installers set the time of the content (mtime); no program can set the time of the inode (ctime).

    Raises:
        OSError: There is no such file.
    """
    found = os.stat(file)
    return f"{os.fspath(file)} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"


def tree_hash(*roots: str) -> str:
    """Return the hash of the states of all Python files in folders, at any depth.

    Reading the files would take longer than the rest of a warm start.
    """
    found = hashlib.sha256()
    folders = [*roots]
    for each in folders:
        for entry in sorted(os.scandir(each), key=lambda entry: entry.name):
            if entry.name.endswith(".py"):
                found.update(f"{state_of(entry)}\n".encode())
            elif entry.name != "__pycache__" and entry.is_dir():
                folders.append(entry.path)
    return found.hexdigest()
