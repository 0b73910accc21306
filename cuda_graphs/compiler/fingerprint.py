# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What the code of a kernel depends on, as a hash, without translating the kernel.

That is the source of the function and of all functions that it names, at any depth, the values of all other names from
outside, what its parameters are, the target, and the compiler itself. A name that the kernel has but would not use is
part of it too: that costs a compilation at most. What has no lasting identity (an object of a class that is not known
here) has no fingerprint.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import os
import types
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from .annotations import StructSpec
from .frontend.source import Source
from .outside import is_installed, is_ours, outside
from .sha256 import sha256
from .versions import llvm_version

__all__ = ["Fingerprint", "NoFingerprint", "compiler_hash"]

PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), np.dtype)


class NoFingerprint(Exception):
    """Something has no identity that lasts; the text says what."""


@cache
def compiler_hash() -> str:
    """Of the compiler's own source, and of the version of LLVM: the same input gives the same code only with these.

    Sizes and times of files stand for what is in them, as for Python's bytecode: reading them all takes longer than
    what else a warm start does.
    """
    found = sha256(llvm_version().encode())
    folders = [os.path.dirname(__file__)]
    for folder in folders:
        for entry in sorted(os.scandir(folder), key=lambda each: each.name):
            if entry.name.endswith(".py"):
                now = entry.stat()
                found.update(f"{entry.path} {now.st_size} {now.st_mtime_ns}\n".encode())
            elif entry.name != "__pycache__" and entry.is_dir():
                folders.append(entry.path)
    return found.hexdigest()


class Fingerprint:
    """A hash that grows by what it is told of. `functions`: those that it met, by qualified name."""

    def __init__(self) -> None:
        self.hash = sha256()
        self.functions: dict[str, list[Callable[..., Any]]] = {}
        # By id: (number, what is being described or was, which is kept alive so that ids stay).
        self.seen: dict[int, tuple[int, Any]] = {}

    def digest(self) -> str:
        return self.hash.hexdigest()

    def add(self, *values: Any) -> None:
        """Values, one after the other."""
        for value in values:
            self.value(value)

    def text(self, *parts: str) -> None:
        for part in parts:
            data = part.encode()
            self.hash.update(len(data).to_bytes(8, "little") + data)

    def value(self, value: Any) -> None:
        """One value of any kind. Raises NoFingerprint."""
        if isinstance(value, PLAIN) and not isinstance(value, enum.Enum):
            self.text(type(value).__name__, repr(value))
            return
        if id(value) in self.seen:
            self.text("seen", str(self.seen[id(value)][0]))
            return
        self.seen[id(value)] = len(self.seen), value
        for fits, describe in DESCRIBED:
            if fits(value):
                describe(self, value)
                return
        raise NoFingerprint(f"an object of {type(value).__module__}.{type(value).__qualname__}")

    def members(self, value: Any) -> None:
        """An object that is the class and the values of some attributes."""
        self.value(type(value))
        for each in dataclasses.fields(value):
            self.text(each.name)
            self.value(getattr(value, each.name))

    def named(self, value: Any) -> None:
        """What is the same wherever its name is."""
        self.text("name", str(getattr(value, "__module__", "")), value.__qualname__)

    def sequence(self, value: Any) -> None:
        self.text(type(value).__name__, str(len(value)))
        self.add(*value)

    def mapping(self, value: Any) -> None:
        self.text("dict", str(len(value)))
        for key, each in value.items():
            self.add(key, each)

    def unordered(self, value: Any) -> None:
        self.text(type(value).__name__, *sorted(repr(each) for each in value))

    def array(self, value: Any) -> None:
        if value.dtype.hasobject:
            raise NoFingerprint("an array of objects")
        self.text("array", value.dtype.str, str(value.shape))
        self.hash.update(np.ascontiguousarray(value).tobytes())

    def cls(self, value: type) -> None:
        """A class; of one that is not installed its source too, and what is in it and in those that it is made of."""
        self.named(value)
        if is_installed(value):
            return
        try:
            self.text(inspect.getsource(value))
        except (OSError, TypeError):
            raise NoFingerprint(f"the class {value.__qualname__}, whose source cannot be found") from None
        self.add(*value.__bases__)
        for name, member in vars(value).items():
            if not name.startswith(("__", "_abc_")) and not isinstance(member, types.MemberDescriptorType):
                self.text(name)
                self.value(getattr(member, "fget", None) or getattr(member, "__func__", member))

    def struct(self, value: StructSpec) -> None:
        """A dataclass as a parameter: of its class nothing but the members is seen, and functions of the language."""
        self.named(value.cls)
        for each in value.cls.__mro__:
            for name, member in vars(each).items():
                if hasattr(member, "__cuda_graphs_func__"):
                    self.text(name)
                    self.value(member)
        for name, member in value.members:
            self.text(name)
            self.value(member)

    def member(self, value: enum.Enum) -> None:
        self.named(type(value))
        self.text(value.name)
        self.value(value.value)

    def function(self, value: Callable[..., Any]) -> None:
        """By its source; of an installed function, which one of what file."""
        code = value.__code__
        self.named(value)
        if is_installed(value):
            self.file(code.co_filename)
        else:
            self.source(value)

    def method(self, value: Any) -> None:
        """A method of C, which may give anything of its object."""
        self.text("method", value.__name__)
        self.value(value.__self__)

    def source(self, value: Callable[..., Any]) -> None:
        """The source of a function, where it stands, and what its names mean."""
        code = value.__code__
        self.functions.setdefault(value.__qualname__, []).append(value)
        self.text("function", code.co_filename, str(code.co_firstlineno))
        source = Source(value)
        try:
            self.text(source.text)
            tree = source.tree
        except Exception as error:
            raise NoFingerprint(f"the function {value.__qualname__}: {error}") from None
        self.add(value.__defaults__, value.__kwdefaults__)
        for path, found in outside(value, tree):
            self.text(path)
            self.value(found)

    def file(self, path: str | None) -> None:
        """A file as it is now, by its size and time."""
        if path is not None:
            try:
                found = os.stat(path)
            except OSError:
                return
            self.text(path, str(found.st_size), str(found.st_mtime_ns))


def inlined(f: Fingerprint, value: Any) -> None:
    """A function of the language: its source, ours too, as the names in it are captured."""
    f.source(value.__cuda_graphs_func__)


def is_method(value: Any) -> bool:
    """Whether it is a method of C with its object: functions of C have their module in that place."""
    return isinstance(value, types.BuiltinMethodType) and not isinstance(
        value.__self__, (types.ModuleType, type(None))
    )


def has(name: str) -> Callable[[Any], bool]:
    return lambda value: not isinstance(value, types.ModuleType) and getattr(value, name, None) is not None


def of(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


# What a value is -> how it is described. The first that fits.
BUILT_IN = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, np.ufunc)
DESCRIBED: tuple[tuple[Callable[[Any], bool], Callable[[Fingerprint, Any], None]], ...] = (
    (of(types.MethodType), lambda f, value: f.add("bound", value.__func__, value.__self__)),
    (has("__cuda_graphs_func__"), inlined),
    (has("__cuda_graphs_field__"), lambda f, value: f.value(value.__cuda_graphs_field__)),
    (is_ours, Fingerprint.named),
    (of(enum.Enum), Fingerprint.member),
    (of(StructSpec), Fingerprint.struct),
    (of(types.FunctionType), Fingerprint.function),
    (of(types.ModuleType), lambda f, value: f.text("module", value.__name__)),
    (of(type), Fingerprint.cls),
    (of(types.GenericAlias), lambda f, value: f.text("alias", repr(value))),
    (of(np.ufunc), lambda f, value: f.text("ufunc", value.__name__)),
    (is_method, Fingerprint.method),
    (of(*BUILT_IN), Fingerprint.named),
    (of(tuple, list), Fingerprint.sequence),
    (of(dict, types.MappingProxyType), Fingerprint.mapping),
    (of(set, frozenset), Fingerprint.unordered),
    (of(np.ndarray, np.generic), Fingerprint.array),
    (of(types.SimpleNamespace), lambda f, value: f.mapping(vars(value))),
    (dataclasses.is_dataclass, Fingerprint.members),
)
