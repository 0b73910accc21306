# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Object files as code in this process. linker.py loads objects for x86-64, and LLVM objects for other CPUs."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cache
from itertools import count
from typing import Any

from . import linker, llvm, trace

__all__ = ["LoadedCode"]

_numbers = count()


class LoadedCode:
    """Linked code that exports `symbols`; `imports` are addresses by name. It is unloaded with this object.

    Raises RuntimeError if the object uses an undefined name or lacks one of `symbols`.
    """

    def __init__(self, object_code: bytes, symbols: list[str], imports: Mapping[str, int] | None = None):
        imports = imports or {}
        with trace.timed("link"):
            if linker.is_linkable(object_code):
                self._linked: Any = linker.LinkedObject(object_code, imports)
            elif os.uname().machine == "x86_64":  # LLVM would end the process on a damaged object
                raise RuntimeError("this is not an object for x86-64")
            else:
                self._linked = _linked_by_llvm(object_code, symbols, imports)
        missing = [symbol for symbol in symbols if symbol not in self]
        if missing:
            self.close()
            raise RuntimeError(f"the object does not define {', '.join(missing)}")

    def __contains__(self, symbol: str) -> bool:
        try:
            return bool(self._linked[symbol])
        except KeyError:
            return False

    def __getitem__(self, symbol: str) -> int:
        """Return the address of a symbol."""
        return self._linked[symbol]

    def close(self) -> None:
        """Unload the code."""
        with llvm.LOCK:
            self._linked.close()

    def __del__(self) -> None:
        # At exit the process frees the code, and LLVM may already be unloaded. Without the attribute, linking failed.
        if hasattr(self, "_linked") and not sys.is_finalizing():
            self.close()


@cache
def _jit() -> Any:
    # JITLink lays an image out in one piece. The older linker maps sections one by one. About once in 20 000 loads
    # beside the host driver's arenas, the sections lie more than 2 GiB apart, and LLVM aborts the process.
    return llvm.binding().create_lljit_compiler(use_jit_link=True)


def _linked_by_llvm(object_code: bytes, symbols: list[str], imports: Mapping[str, int]) -> Any:
    """Link an object by LLVM, and return LLVM's resource tracker."""
    builder = llvm.binding().JITLibraryBuilder().add_object_img(object_code).add_current_process()
    for name, address in imports.items():
        builder.import_symbol(name, address)
    for symbol in symbols:
        builder.export_symbol(symbol)
    with llvm.LOCK:
        return builder.link(_jit(), f"object{next(_numbers)}")
