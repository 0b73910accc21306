# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Free names of a function: dotted paths from its globals and closure, and their current values."""

from __future__ import annotations

import ast
import builtins
import inspect
import os
import sys
import sysconfig
import types
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from .host_vectors import HostVector

__all__ = [
    "dotted",
    "free_names",
    "free_paths",
    "is_array",
    "is_installed",
    "is_ours",
    "longest_value",
    "path_value",
    "public_name",
]

INSTALLED = tuple({os.path.realpath(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib")})
COMPILER = f"{__name__.rpartition('.language.')[0]}."
OURS, PACKAGE = __name__.partition(".")[0], os.path.dirname(os.path.dirname(__file__)) + os.sep


def dotted(node: ast.AST) -> str | None:
    """Return `a.b.c` for a name or for attributes of a name; None for other expressions."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        root = dotted(node.value)
        return None if root is None else f"{root}.{node.attr}"
    return None


def path_value(function: Callable[..., Any], path: str) -> Any:
    """Return the current value of a dotted path, from a function's globals and closure.

    Raises LookupError or AttributeError.
    """
    root, *rest = path.split(".")
    cells = function.__code__.co_freevars
    if root in cells:
        try:
            found = (function.__closure__ or ())[cells.index(root)].cell_contents
        except ValueError:
            raise LookupError(root) from None  # the cell is empty
    elif root in function.__globals__:
        found = function.__globals__[root]
    elif hasattr(builtins, root):
        found = getattr(builtins, root)
    else:
        raise LookupError(root)
    for name in rest:
        found = getattr(found, name)
    return found


def free_names(function: Callable[..., Any], tree: ast.AST) -> Iterator[tuple[str, Any]]:
    """Yield (dotted path, value) of the free names of a function, in the order of the text.

    The path is the longest one that exists. The rest belongs to a value of the language.
    """
    for path in free_paths(function, tree):
        found, _, value = longest_value(function, path)
        if found:
            yield found, value


def free_paths(function: Callable[..., Any], tree: ast.AST) -> Iterator[str]:
    """Yield the dotted paths of the free names of a function as the text has them, in its order."""
    own = set(function.__code__.co_varnames) | set(function.__code__.co_cellvars)
    done: set[str] = set()
    # Decorators run when the function is defined. Their names do not affect its code.
    skipped = set(tree.decorator_list) if isinstance(tree, ast.FunctionDef) else set()
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        path = dotted(node)
        if path is None:
            left += reversed([each for each in ast.iter_child_nodes(node) if each not in skipped])
        elif path.partition(".")[0] not in own and path not in done:
            done.add(path)
            yield path


def longest_value(function: Callable[..., Any], path: str) -> tuple[str, str, Any]:
    """Return the longest prefix of a path that exists ("" for none), the name after it, and the value of the prefix."""
    rest = ""
    while path:
        try:
            return path, rest, path_value(function, path)
        except (LookupError, AttributeError):
            path, _, rest = path.rpartition(".")
    return "", rest, None


def public_name(function: Callable[..., Any], path: str) -> tuple[str, str] | None:
    """Return (module, attribute) where the compiler defines a public name of this package, if a path is or begins with
    such a name and the program has not replaced it. The value need not be loaded."""
    root, *rest = path.split(".")
    package = sys.modules[OURS]
    if not rest or longest_value(function, root)[2] is not package:
        return None
    module, attribute = package._NAMES.get(rest[0], ("", None))
    if attribute is None or not module.startswith(COMPILER):
        return None
    known = vars(package).get(rest[0], ...)
    is_original = known is ... or known is getattr(sys.modules.get(module), attribute, ...)
    return (module, attribute) if is_original else None


# Attributes of arrays: of other libraries, and of our arrays of structures.
ARRAYS = ("__array_interface__", "__cuda_array_interface__", "__dlpack__", "__cuda_graphs_struct_array__")


def is_array(found: Any) -> bool:
    """Return whether an object is an array with an address, of any library. Fields do not count."""
    if isinstance(found, (type, np.generic, HostVector)) or hasattr(found, "__cuda_graphs_field__"):
        return False
    return any(hasattr(found, each) for each in ARRAYS)


def is_installed(value: Any) -> bool:
    """Return whether the value comes with Python or an installed package, and so changes only with that."""
    code = getattr(value, "__code__", None)
    try:
        file = code.co_filename if code is not None else inspect.getfile(value)
    except (OSError, TypeError):
        return True  # a value of C
    return is_installed_file(file)


@cache
def is_installed_file(file: str) -> bool:
    return os.path.realpath(file).startswith(INSTALLED)


def is_ours(value: Any) -> bool:
    """Return whether the value is defined in this package."""
    code = getattr(value, "__code__", None)
    if isinstance(code, types.CodeType):
        return code.co_filename.startswith(PACKAGE)
    module = getattr(value, "__module__", None) if hasattr(value, "__qualname__") else None
    return isinstance(module, str) and module.partition(".")[0] == OURS
