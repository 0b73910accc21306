# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs as Python objects, on NVIDIA GPUs and on any CPU.

The public names are listed once, in `__init__.pyi`. Each name but `load` is imported at its first use, so that a
program that compiles no kernel does not load the compiler.
"""

import ast as _ast
import builtins as _builtins
import importlib as _importlib

# Refuses a subinterpreter, before any extension module is loaded.
from cuda_graphs.core import driver as _driver  # noqa: F401

# Objects make builders and nodes by classes of the packages above, which these register when they are imported.
from cuda_graphs.graph.capture import builder as _builder  # noqa: F401
from cuda_graphs.objects import constructors as _constructors

# This import takes as long as a load of a small file, so the first use of `load` would take twice its time.
from cuda_graphs.saving.loading import load as load


def _read_stub() -> dict[str, tuple[str, str | None]]:
    """Return the module and the attribute of each public name. A name without an attribute is the module itself."""
    with open(f"{__path__[0]}/__init__.pyi", encoding="utf-8") as stub:
        statements = _ast.parse(stub.read()).body
    names: dict[str, tuple[str, str | None]] = {}
    for statement in statements:
        match statement:
            case _ast.Import(names=[_ast.alias(name=module, asname=str(name))]):
                names[name] = (module, None)
            case _ast.ImportFrom(module=str(module), names=aliases):
                names |= {alias.asname or alias.name: (module, alias.name) for alias in aliases}
            case _ast.Assign(targets=[_ast.Name(id=name)], value=_ast.Name(id=other)):
                names[name] = names[other]
    return names


__version__ = "0.1.0.dev0"  # pyproject.toml reads this line

_NAMES = _read_stub()
# `import *` must not replace builtins, such as `bool` and `round`.
__all__ = sorted(name for name in _NAMES if name[0] != "_" and not hasattr(_builtins, name))


def __getattr__(name: str) -> object:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _NAMES[name]
    found = _importlib.import_module(module)
    return globals().setdefault(name, getattr(found, attribute) if attribute else found)


def _array_of_buffer(buffer: object, dtype: object, shape: object) -> object:
    from cuda_graphs.kernels.arrays import buffer_views

    return buffer_views.view_buffer(buffer, dtype, shape)


def _library_call() -> object:
    return _importlib.import_module("cuda_graphs.graph.capture.library_call")


def _condition_tests() -> object:
    return _importlib.import_module("cuda_graphs.kernels.call.predicates")


def _early_edges() -> object:
    return _importlib.import_module("cuda_graphs.kernels.call.early_edges")


def _node_fusion() -> object:
    return _importlib.import_module("cuda_graphs.kernels.call.node_fusion")


def _saving() -> object:
    return _importlib.import_module("cuda_graphs.saving.writing")


_constructors.array = _array_of_buffer
_constructors.condition_tests = _condition_tests
_constructors.early_edges = _early_edges
_constructors.library_call = _library_call
_constructors.node_fusion = _node_fusion
_constructors.saving = _saving


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
