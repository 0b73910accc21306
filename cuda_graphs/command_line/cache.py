# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Show or clear the compiled kernels of this user on disk.

`show` prints the folder, the state and the entries; `clear` removes all entries. The folder and the limit come from the
environment: CUDA_GRAPHS_CACHE, CUDA_GRAPHS_CACHE_DIR, CUDA_GRAPHS_CACHE_MIB."""

from __future__ import annotations

import argparse
from typing import Any

from cuda_graphs.drawing.text import size_in_words
from cuda_graphs.native import disk_cache

from .outcome import Outcome

HELP = "show or clear the compiled kernels on disk"
# Kind of an entry -> its meaning.
KINDS = {"kernel": "compiled kernels", "unit": "tasks of kernels", "image": "PTX translated for the CPU"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=["show", "clear"], help="what to do")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def run(arguments: argparse.Namespace) -> Outcome:
    return clear() if arguments.what == "clear" else show()


def clear() -> Outcome:
    removed = disk_cache.remove()
    folder = folder_name()
    return Outcome(f"removed {removed} entries from {folder}", {"directory": folder, "removed": removed})


def show() -> Outcome:
    data = described()
    state = "on" if data["is_enabled"] else "off (CUDA_GRAPHS_CACHE)"
    rows = [("folder", data["directory"]), ("state", state)]
    for kind, meaning in KINDS.items():
        found = data["entries"][kind]
        rows.append((kind, f"{found['count']} entries, {size_in_words(found['bytes'])}: {meaning}"))
    rows.append(("total", f"{size_in_words(data['bytes'])} of at most {size_in_words(data['limit_bytes'])}"))
    return Outcome("\n".join(f"{name:8}{text}" for name, text in rows), data)


def described() -> dict[str, Any]:
    """Return the folder, the state, the limit, and number and bytes of the entries of each kind."""
    entries = {kind: {"count": 0, "bytes": 0} for kind in disk_cache.KINDS}
    for _, size, path in disk_cache.entries():
        found = entries[path.suffix[1:]]
        found["count"] += 1
        found["bytes"] += size
    return {
        "directory": folder_name(),
        "is_enabled": disk_cache.is_enabled(),
        "bytes": sum(each["bytes"] for each in entries.values()),
        "limit_bytes": disk_cache.limit_bytes(),
        "entries": entries,
    }


def folder_name() -> str:
    return str(disk_cache.directory() or "(none: this user has no home)")
