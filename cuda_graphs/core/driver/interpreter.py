# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Refuses subinterpreters. The driver, its callbacks and the classes of the extension modules exist once a
process, and would be destroyed with a subinterpreter."""

from __future__ import annotations

__all__ = ["require_main_interpreter"]


def require_main_interpreter() -> None:
    """Raise an error in a subinterpreter.

    Raises:
        ImportError: The current interpreter is a subinterpreter.
    """
    if not _is_main():
        raise ImportError(
            "cuda_graphs cannot be imported in a subinterpreter, since a process has one driver: import it in the main "
            "interpreter, or start another process (multiprocessing)"
        )


def _is_main() -> bool:
    try:
        import ctypes
    except ImportError:  # Python 3.12 refuses ctypes in a subinterpreter with its own GIL
        return False
    python = ctypes.PyDLL(None)
    found, main = python.PyInterpreterState_Get, python.PyInterpreterState_Main
    found.restype = main.restype = ctypes.c_void_p
    return bool(found() == main())
