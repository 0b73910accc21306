# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The source text of classes. Each file is parsed once, where `inspect` parses it for each class."""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["class_source"]


class Parsed(NamedTuple):
    """The lines of a file, and the texts of its classes by their qualified names."""

    lines: list[str]
    texts: dict[str, list[str]]


files: dict[str, Parsed] = {}


def class_source(cls: type) -> str:
    """Return the text of a class with its decorators. Several definitions of one name are returned together.

    Raises:
        OSError, TypeError: The source cannot be found.
    """
    file = inspect.getsourcefile(cls)
    if file is None:
        raise OSError(f"{cls.__qualname__} has no source file")
    linecache.checkcache(file)
    lines = linecache.getlines(file, vars(sys.modules.get(cls.__module__, object)))
    known = files.get(file)
    if known is None or known.lines is not lines:  # a changed file has another list
        known = files[file] = Parsed(lines, texts_of(lines))
    try:
        return "".join(known.texts[cls.__qualname__])
    except KeyError:
        raise OSError(f"{file} has no class {cls.__qualname__}") from None


def texts_of(lines: list[str]) -> dict[str, list[str]]:
    """Return the texts of all classes of a file."""
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        raise OSError("the file has been changed, and is not Python any more") from None
    found: dict[str, list[str]] = {}
    for name, node in classes_in(tree, ""):
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        found.setdefault(name, []).extend(lines[first - 1 : node.end_lineno])
    return found


def classes_in(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.ClassDef]]:
    """Yield the classes inside of a node with their qualified names."""
    for each in ast.iter_child_nodes(node):
        inner = prefix
        if isinstance(each, ast.ClassDef):
            yield prefix + each.name, each
            inner = f"{prefix}{each.name}."
        elif isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inner = f"{prefix}{each.name}.<locals>."
        yield from classes_in(each, inner)
