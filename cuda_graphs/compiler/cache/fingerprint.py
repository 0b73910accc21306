# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The hash of everything that decides the code of a kernel, without translating the kernel.

The hash covers the source of the function and of all functions that it names, at any depth, with their declared types
and defaults. It covers the values of all other free names, the parameters, the target and the compiler. A name that
the kernel has but does not use counts too: that costs a compilation at most. An object of a class in Python is
described by its class and its attributes. Some values have no lasting identity: objects with a state in C, whole
modules, functions that query the system. A kernel that names such a value has no
fingerprint.

The law: inputs that lead to different code have different fingerprints (tests/compiler/test_cache_key.py).
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import inspect
import struct
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cuda_graphs.compiler.language.annotations import ArraySpec, HostObjectSpec, StructSpec
from cuda_graphs.compiler.language.free_names import (
    is_installed,
    is_ours,
    longest_value,
    public_name,
)
from cuda_graphs.compiler.language.host_objects import method_names, number_names, signature_of
from cuda_graphs.compiler.language.signature import resolve
from cuda_graphs.native.versions import FOLDER, interpreter, llvm_version, state_of, tree_hash

from .class_source import class_source
from .syntax import syntax_of

__all__ = ["Fingerprint", "NoFingerprint", "compiler_hash"]

# Values of exactly these types are described by their `repr`. A derived class may have further members.
PLAIN = (type(None), bool, int, str, bytes, type(Ellipsis))
# The folders whose files decide the code, and their hash as this process loaded them. A later change does not count.
FOLDERS = (str(Path(__file__).parents[1]), FOLDER)
SOURCE = tree_hash(*FOLDERS)
# Packages whose modules programs do not modify.
UNCHANGING = (sys.stdlib_module_names | {"numpy"}) - {"sys", "os"}
# Modules whose functions read files, clocks or other state of the system, and "module.name" of single functions.
SYSTEM = frozenset((
    "os", "posix", "io", "_io", "time", "datetime", "random", "secrets", "uuid", "sys", "platform", "socket",
    "subprocess", "shutil", "glob", "tempfile", "pathlib", "locale", "getpass", "builtins.input", "numpy.load",
    "numpy.fromfile", "numpy.loadtxt", "numpy.genfromtxt", "numpy.memmap",
))  # fmt: skip

HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: set in all classes that Python code defines


class NoFingerprint(Exception):
    """A value has no lasting identity. The text names the value."""


def compiler_hash() -> str:
    """Return the hash of the compiler's own source and of the versions of Python, NumPy and LLVM."""
    return hashlib.sha256("\n".join((SOURCE, interpreter(), llvm_version())).encode()).hexdigest()


class Fingerprint:
    """An incremental hash of values. `functions` holds the functions found so far, by qualified name."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.parts: list[str] = []  # texts that follow in the hash
        self.functions: dict[str, list[Callable[..., Any]]] = {}
        # id -> (number, a value that is or was described). The reference keeps the value alive, so ids stay unique.
        self.seen: dict[int, tuple[int, Any]] = {}

    def digest(self) -> str:
        self.data(b"")
        return self.hash.hexdigest()

    def add(self, *values: Any) -> None:
        """Add values, one after the other."""
        for value in values:
            self.value(value)

    def text(self, *parts: str) -> None:
        self.parts += [f"{len(part)}:{part}" for part in parts]

    def data(self, data: bytes) -> None:
        """Add bytes whose number follows from the texts before them."""
        self.hash.update("".join(self.parts).encode() + data)
        self.parts.clear()

    def value(self, value: Any) -> None:
        """Add one value of any kind. Raises NoFingerprint."""
        if type(value) in PLAIN:
            self.text(type(value).__name__, repr(value))
            return
        if id(value) in self.seen:
            self.text("seen", str(self.seen[id(value)][0]))
            return
        self.seen[id(value)] = len(self.seen), value
        describe_exactly = EXACT.get(type(value))
        if describe_exactly is not None:
            describe_exactly(self, value)
            return
        for fits, describe in DESCRIBED:
            if fits(value):
                describe(self, value)
                return
        raise NoFingerprint(f"an object of {type(value).__module__}.{type(value).__qualname__}")

    def kind(self, value: Any, plain: type) -> None:
        """Add the type of a container. For a derived class, add its attributes too."""
        self.text("of", plain.__name__)
        if type(value) is not plain:
            self.value(type(value))
            self.attributes(value)

    def attributes(self, value: Any) -> None:
        """Add the attributes in an object's `__dict__`."""
        self.mapping(getattr(value, "__dict__", {}))

    def members(self, value: Any) -> None:
        """Add a dataclass instance: its class and the values of its fields and attributes."""
        self.value(type(value))
        for each in dataclasses.fields(value):
            self.text(each.name)
            self.value(getattr(value, each.name, None))
        self.attributes(value)

    def named(self, value: Any) -> None:
        """Add an object by its name and by the file of the installed module that defines it."""
        module = str(getattr(value, "__module__", ""))
        self.text("name", module, value.__qualname__)
        if module.partition(".")[0] in SYSTEM or f"{module.partition('.')[0]}.{value.__qualname__}" in SYSTEM:
            raise NoFingerprint(f"{module}.{value.__qualname__}, whose result may differ each time")
        if not is_ours(value) and is_installed(value):
            self.file(getattr(sys.modules.get(module), "__file__", None))

    def module(self, value: types.ModuleType) -> None:
        """Add a module as a value. The kernel may read any attribute of it."""
        if not is_ours(value) and value.__name__.partition(".")[0] not in UNCHANGING:
            raise NoFingerprint(f"all of the module {value.__name__}")
        self.text("module", value.__name__)

    def number(self, value: float | complex) -> None:
        """Add a number by its bits: zeros and NaNs have a sign."""
        self.text(type(value).__name__)
        self.data(struct.pack("<dd", value.real, value.imag))

    def sequence(self, value: Any) -> None:
        self.kind(value, tuple if isinstance(value, tuple) else list)
        self.text(str(len(value)))
        self.add(*value)

    def mapping(self, value: Any) -> None:
        self.kind(value, dict if isinstance(value, dict) else types.MappingProxyType)
        self.text(str(len(value)))
        for key, each in value.items():
            self.add(key, each)

    def unordered(self, value: Any) -> None:
        """Add the elements of a set, sorted by their own fingerprints, as sets have no order."""
        self.kind(value, set if isinstance(value, set) else frozenset)
        self.text(*sorted(self.alone(each) for each in value))

    def alone(self, value: Any) -> str:
        found = Fingerprint()
        found.functions = self.functions
        found.value(value)
        return found.digest()

    def array(self, value: Any) -> None:
        if value.dtype.hasobject or not (type(value) is np.ndarray or isinstance(value, np.generic)):
            raise NoFingerprint(f"an array of {value.dtype} of {type(value).__qualname__}")
        self.text("array", type(value).__name__, repr(value.dtype), str(value.shape))
        self.data(np.ascontiguousarray(value).tobytes())

    def ufunc(self, value: np.ufunc) -> None:
        """Add a ufunc of NumPy. Ufuncs of other libraries have no fingerprint: two of them may share a name."""
        if getattr(np, value.__name__, None) is not value:
            raise NoFingerprint(f"the ufunc {value.__name__}")
        self.text("ufunc", value.__name__)

    def alias(self, value: types.GenericAlias) -> None:
        self.text("alias")
        self.add(value.__origin__, value.__args__)

    def object(self, value: Any) -> None:
        """Add an object whose state is in its attributes: its class, with its bases, and the attributes."""
        kind = type(value)
        self.text("object")
        self.add(*kind.__mro__[:-1])
        self.attributes(value)
        for each in kind.__mro__:
            for name, member in vars(each).items():
                if isinstance(member, types.MemberDescriptorType):
                    self.text(name)
                    self.value(getattr(value, name, ...))

    def cls(self, value: Any) -> None:
        """Add a class. For one of Python that is not installed, add its source, members, metaclass and bases too."""
        self.named(value)
        if is_installed(value):
            return
        if not value.__flags__ & HEAP_TYPE:  # of C, in a package outside of the folders of packages
            self.file(getattr(sys.modules.get(value.__module__), "__file__", None))
            return
        if is_named_tuple(value):
            self.add(value._fields, [each for _, each in members_of(value) if is_own(each)])
            return
        try:
            self.text(class_source(value))
        except (OSError, TypeError):
            raise NoFingerprint(f"the class {value.__qualname__}, whose source cannot be found") from None
        self.add(type(value), *value.__bases__)
        for name, member in members_of(value):
            self.text(name)
            self.value(member)

    def array_type(self, value: ArraySpec) -> None:
        """Add the type of an array. A large kernel has hundreds of arrays."""
        self.text("array type", value.dtype.name, str(value.ndim), str(value.inner))
        self.text(str(value.needs_grad), str(value.needs_dual))

    def host_object(self, value: HostObjectSpec) -> None:
        """Add the methods of a host object that kernels may call, with their defaults."""
        self.text("host object", value.cls.__module__, value.cls.__qualname__)
        self.text(*number_names(value.cls))
        for name in method_names(value.cls):
            self.text(name, str(signature_of(value.cls, name)))

    def struct(self, value: StructSpec) -> None:
        """Add a dataclass parameter. The kernel sees only its members and the class's functions of the language."""
        self.text("struct", value.cls.__module__, value.cls.__qualname__)
        for name in dir(value.cls):
            member: Any = getattr(value.cls, name, None)
            if hasattr(member, "__cuda_graphs_func__") or (is_own(member) and not is_generated(member)):
                self.text(name)
                self.value(member)
        for name, member in value.members:
            self.text(str(name))
            self.value(member)

    def member(self, value: enum.Enum) -> None:
        self.value(type(value))
        self.text(str(value.name))
        self.value(value.value)
        self.attributes(value)

    def function(self, value: Callable[..., Any]) -> None:
        """Add a function by its source. Add an installed function by its name, file, defaults and closure."""
        self.named(value)
        if is_installed(value):
            self.file(value.__code__.co_filename)
            self.add(
                value.__defaults__, value.__kwdefaults__, *(content(each) for each in value.__closure__ or ())
            )
        else:
            self.source(value)

    def method(self, value: Any) -> None:
        """Add a bound method of C. Its result may depend on any part of its object."""
        self.text("method", value.__name__)
        self.value(value.__self__)

    def source(self, value: Callable[..., Any]) -> None:
        """Add the source of a function, its position, and the values of its names."""
        code = value.__code__
        self.functions.setdefault(value.__qualname__, []).append(value)
        self.text("function", code.co_filename, str(code.co_firstlineno), value.__name__, value.__qualname__)
        self.code(code)
        try:
            syntax = syntax_of(value, SOURCE)
        except Exception as error:
            raise NoFingerprint(f"the function {value.__qualname__}: {error}") from None
        self.text(syntax.digest)
        self.add(value.__defaults__, value.__kwdefaults__)
        self.declared(value)
        for path in syntax.paths:
            place = public_name(value, path)
            if place is not None:  # SOURCE has its code; to load it takes 2 ms
                self.text("public", path, *place)
            else:
                self.name(value, path)

    def name(self, function: Callable[..., Any], path: str) -> None:
        """Add the value of a name of a function. Of a module without the name, the absence counts and nothing else."""
        found, rest, value = longest_value(function, path)
        if rest and isinstance(value, types.ModuleType):
            self.text("absent", path, found)
        elif found:
            self.text(found)
            self.value(value)

    def code(self, code: types.CodeType) -> None:
        """Add the bytecode. It differs from the source if the file was changed after Python loaded it."""
        self.text("code", str(len(code.co_code)))
        self.data(code.co_code)
        for each in code.co_consts:
            if isinstance(each, types.CodeType):
                self.code(each)
            else:
                self.value(each)

    def declared(self, function: Callable[..., Any]) -> None:
        """Add the declared types of the parameters and of the result.

        Python evaluates them where the function is defined, so their names need not be globals or in the closure.
        """
        self.text("signature", str(getattr(function, "__signature__", "")))
        self.value(getattr(function, "__wrapped__", None))
        for name, annotation in function.__annotations__.items():
            self.text(name)
            self.annotation(annotation, function)

    def annotation(self, annotation: Any, function: Callable[..., Any]) -> None:
        """Add an annotation, resolved as the frontend does it. A class counts by its name."""
        if isinstance(annotation, str):
            self.text(annotation)
        try:
            found = resolve(annotation, function)
        except Exception:  # the frontend reports it, if it needs the annotation
            found = None
        parts = found if isinstance(found, tuple) else getattr(found, "__args__", None)
        if parts is not None:
            self.text("parts", str(len(parts)))
            for each in parts:
                self.annotation(each, function)
        elif dataclasses.is_dataclass(found) and is_ours(type(found)):
            self.value(found)
        else:
            kind = found if isinstance(found, type) else type(found)
            self.text("type", kind.__module__, kind.__qualname__)

    def file(self, path: str | None) -> None:
        """Add the current state of a file."""
        if path is not None:
            try:
                found = state_of(path)
            except OSError:
                found = "none"
            self.text("file", path, found)


# Types of members that Python generates in a class. The source of the class decides them.
WRITTEN = (types.MemberDescriptorType, types.GetSetDescriptorType)


def own_class(f: Fingerprint, value: type) -> None:
    """Add a class of this package by its name, and its functions of the language, which kernels inline."""
    f.named(value)
    for each in value.__mro__:
        for _, member in members_of(each) if is_ours(each) else ():
            if hasattr(member, "__cuda_graphs_func__"):
                f.value(member)


def members_of(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield (name, value) of the members of a class: functions for properties, and all methods but generated ones."""
    for name, member in vars(cls).items():
        found = getattr(member, "fget", None) or getattr(member, "__func__", member)
        is_method = isinstance(found, types.FunctionType) and not is_generated(found)
        if is_method or not (
            name.startswith(("_abc_", "__")) or is_sunder(name) or isinstance(member, WRITTEN)
        ):
            yield name, found
    for each in getattr(cls, "__dataclass_fields__", {}).values():
        if each.default_factory is not dataclasses.MISSING:
            yield each.name, each.default_factory


def is_named_tuple(cls: Any) -> bool:
    """Return whether `namedtuple` or `NamedTuple` made the class. Classes of the first have no source."""
    return cls.__bases__ == (tuple,) and hasattr(cls, "_fields")


def is_own(value: Any) -> bool:
    return isinstance(value, types.FunctionType) and not is_installed(value)


def is_generated(function: Callable[..., Any]) -> bool:
    """Return whether `dataclasses` made the function from the fields."""
    return inspect.unwrap(function).__code__.co_filename == "<string>"


def is_sunder(name: str) -> bool:
    """Return whether `enum` writes the name, as _member_map_."""
    return name.startswith("_") and name.endswith("_")


def content(cell: types.CellType) -> Any:
    """Return the value in a cell of a closure; Ellipsis while the cell is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return ...


def inlined(f: Fingerprint, value: Any) -> None:
    """Add a function of the language by its source, even one of this package, as its names are captured."""
    function = value.__cuda_graphs_func__
    settings = getattr(function, "__cuda_graphs_call__", None)
    f.text("func", "inlined" if settings is None else f"called, {settings.max_depth}")
    f.source(function)


HEAP_TYPE = 1 << 9  # of `type.__flags__`: the class was made at run time
# Methods with which a class describes a state that is not in its attributes.
STATEFUL = ("__reduce__", "__reduce_ex__", "__getstate__")


def has_plain_state(value: Any) -> bool:
    """Return whether all state of an object is in its attributes. `object.__reduce_ex__` refuses other state in C."""
    kind = type(value)
    if any(getattr(kind, name, None) is not getattr(object, name, None) for name in STATEFUL):
        return False
    if hasattr(kind, "__getnewargs__") or hasattr(kind, "__getnewargs_ex__"):
        return False
    if not all(each.__flags__ & HEAP_TYPE for each in kind.__mro__[:-1]):
        return False
    try:
        object.__reduce_ex__(value, 2)
    except TypeError:
        return False
    return True


def is_method(value: Any) -> bool:
    """Return whether the value is a method of C bound to an object. For functions of C, `__self__` is a module."""
    return isinstance(value, types.BuiltinMethodType) and not isinstance(
        value.__self__, (types.ModuleType, type(None))
    )


def has(name: str) -> Callable[[Any], bool]:
    return lambda value: not isinstance(value, types.ModuleType) and getattr(value, name, None) is not None


def of(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


# (test of a value, how to describe it). The first test that holds decides.
BUILT_IN = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, np.ufunc)
DESCRIBED: tuple[tuple[Callable[[Any], bool], Callable[[Fingerprint, Any], None]], ...] = (
    (of(types.MethodType), lambda f, value: f.add("bound", value.__func__, value.__self__)),
    (has("__cuda_graphs_func__"), inlined),
    (has("__cuda_graphs_field__"), lambda f, value: f.value(value.__cuda_graphs_field__)),
    (of(types.ModuleType), Fingerprint.module),
    (lambda value: isinstance(value, type) and is_ours(value), own_class),
    (is_ours, Fingerprint.named),
    (of(enum.Enum), Fingerprint.member),
    (of(HostObjectSpec), Fingerprint.host_object),
    (of(StructSpec), Fingerprint.struct),
    (of(types.FunctionType), Fingerprint.function),
    (of(types.GenericAlias), Fingerprint.alias),
    (of(type), Fingerprint.cls),
    (of(np.ufunc), Fingerprint.ufunc),
    (is_method, Fingerprint.method),
    (of(*BUILT_IN), Fingerprint.named),
    (of(tuple, list), Fingerprint.sequence),
    (of(dict, types.MappingProxyType), Fingerprint.mapping),
    (of(set, frozenset), Fingerprint.unordered),
    (of(np.ndarray, np.generic), Fingerprint.array),
    (of(np.dtype), lambda f, value: f.text("dtype", repr(value))),
    (lambda value: type(value) in (float, complex), Fingerprint.number),
    (lambda value: type(value) is types.SimpleNamespace, lambda f, value: f.mapping(vars(value))),
    (dataclasses.is_dataclass, Fingerprint.members),
    (of(range), lambda f, value: f.text("range", repr(value))),
    (has_plain_state, Fingerprint.object),
)

# The descriptions of values of exactly these types: the tests of DESCRIBED take longer.
EXACT: dict[type, Callable[[Fingerprint, Any], None]] = {
    tuple: Fingerprint.sequence,
    list: Fingerprint.sequence,
    dict: Fingerprint.mapping,
    float: Fingerprint.number,
    ArraySpec: Fingerprint.array_type,
}
