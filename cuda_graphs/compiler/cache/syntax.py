# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The text of functions for fingerprints: a hash of it, and its free names.

The kernels of a large program share most of their functions, so each function is parsed once in a process. What many
functions gave is kept on disk, in one entry for each file: the next process only hashes the files. The name of an entry
is the hash of the whole file, so an edit anywhere in a file makes all its functions be parsed again.
"""

from __future__ import annotations

import hashlib
import json
import types
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

from cuda_graphs.compiler.frontend.source import Source
from cuda_graphs.compiler.language.free_names import free_paths
from cuda_graphs.native import disk_cache
from cuda_graphs.native.versions import interpreter

__all__ = ["Syntax", "keep", "syntax_of"]

KIND = "syntax"
MOST = 8192  # functions that a process knows at the same time
MANY = 64  # parsed functions for which a process writes entries


class Syntax(NamedTuple):
    """The facts in the text of a function.

    Attributes:
        digest: The hash of the text, in hexadecimal digits.
        paths: The free names as dotted paths, in the order of the text.
    """

    digest: str
    paths: tuple[str, ...]


class File:
    """The functions of one file whose text is known. `is_new` is True if the entry on disk lacks some of them."""

    def __init__(self, lines: list[str], compiler: str) -> None:
        self.lines, self.is_new = lines, False
        text = "\0".join((KIND, compiler, interpreter(), *lines))
        self.name = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
        self.functions: dict[str, Syntax] = {}
        if disk_cache.is_enabled():
            self.functions.update(decoded(self.name))


class Known(NamedTuple):
    """The syntax of a function while its file has these lines. A changed file has another list of them."""

    code: weakref.ref[types.CodeType]
    lines: list[str]
    syntax: Syntax


# Equal bytecode may come from two files, so the identity of the bytecode is the key.
known: dict[int, Known] = {}
files: dict[str, File] = {}
parsed = 0  # functions that no entry had


def syntax_of(function: Callable[..., Any], compiler: str) -> Syntax:
    """Return the syntax of a function. `compiler` is a hash of the code that reads it.

    Raises:
        CompileError: The source cannot be found.
    """
    source, code = Source(function), function.__code__
    lines = source.lines
    found = known.get(id(code))
    if found is not None and found.code() is code and found.lines is lines:
        return found.syntax
    syntax = parse(source) if source.is_lambda or not lines else in_file(source, compiler)
    if len(known) >= MOST:
        known.clear()
    known[id(code)] = Known(weakref.ref(code), lines, syntax)
    return syntax


def in_file(source: Source, compiler: str) -> Syntax:
    """Return the syntax of a function from what is known of its file, or parse it."""
    global parsed
    file = files.get(source.file)
    if file is None or file.lines is not source.lines:
        file = files[source.file] = File(source.lines, compiler)
    name = name_of(source.function.__code__)
    found = file.functions.get(name)
    if found is None:
        found = file.functions[name] = parse(source)
        file.is_new = True
        parsed += 1
    return found


def name_of(code: types.CodeType) -> str:
    """Return the name of a function in a file: its line, and a hash of the bytecode, which knows its own names."""
    own = repr((code.co_varnames, code.co_cellvars, code.co_freevars))
    return f"{code.co_firstlineno} {hashlib.sha256(code.co_code + own.encode()).hexdigest()}"


def parse(source: Source) -> Syntax:
    digest = hashlib.sha256(source.text.encode(errors="surrogatepass")).hexdigest()
    return Syntax(digest, tuple(free_paths(source.function, source.tree)))


def keep() -> None:
    """Write what is new if this process has parsed many functions. Other processes may write too: the last one wins."""
    global parsed
    if parsed < MANY or not disk_cache.is_enabled():
        return
    parsed = 0
    for file in list(files.values()):
        if file.is_new:
            file.is_new = False
            functions = dict(file.functions)
            disk_cache.write(KIND, file.name, json.dumps(functions).encode(), warns=False)


def decoded(name: str) -> dict[str, Syntax]:
    """Return the functions in the entry of a file; none without an entry."""
    data = disk_cache.read(KIND, name)
    try:
        found = {} if data is None else json.loads(data)
        return {key: Syntax(digest, tuple(paths)) for key, (digest, paths) in found.items()}
    except (ValueError, TypeError, AttributeError):
        disk_cache.refuse(KIND, name)
        return {}
