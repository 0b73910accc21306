# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of the library that set the condition of a conditional node, for graph/nodes/condition_tests.pyx.

The source of such a kernel is made here. It is one statement, ``set_condition(condition, EXPRESSION)``, or a few that
count the iterations of a loop as well. The expression reads a flag, or calls a predicate of the user. A predicate is
copied with the values that its names have now. Arrays and Parameters among them become parameters of the kernel: the
copy, which nodes of the graph keep, does not refer to memory of the graph.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import linecache
import types
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from cuda_graphs.compiler.errors import MADE
from cuda_graphs.compiler.frontend.source import Source
from cuda_graphs.compiler.ir.types import BY_DTYPE, SCALARS, ScalarType
from cuda_graphs.compiler.language.annotations import Captured, Template
from cuda_graphs.compiler.language.annotations import NDArray as ArrayAnnotation
from cuda_graphs.compiler.language.free_names import free_names, is_array, is_ours, path_value
from cuda_graphs.compiler.language.intrinsics import func, keep_condition, loop_config, set_condition
from cuda_graphs.graph.operands.condition import Condition
from cuda_graphs.graph.operands.loop_counter import LoopCounter
from cuda_graphs.graph.operands.parameter import ArrayParameter, Parameter
from cuda_graphs.kernels.arrays.ndarray import Field, NDArray
from cuda_graphs.kernels.specialisation.options import Options
from cuda_graphs.objects.memory.array_view import view_array
from cuda_graphs.objects.memory.buffer import Buffer

from .function import KernelFunction
from .kernel_factory import kernel_of

__all__ = ["counter_array", "device_of", "of_flag", "of_guard", "of_predicate", "of_start"]

Test = tuple[KernelFunction, tuple[Any, ...]]  # a kernel, and its arguments after the condition
Tests = tuple[Test, Test]  # for the first iteration of a loop, or for a branch; for the other iterations

LANGUAGE = {function.__name__: function for function in (keep_condition, loop_config, set_condition)}
OPTIONS = Options(debug=False, fast_math=False, graph=False, loop="auto", chain="auto")


def counter_array(memory: Buffer) -> NDArray:
    """Return the memory of a LoopCounter as an argument of tests."""
    return memory.view(SCALARS["i64"], 2)


def device_of(what: Any, args: Iterable[Any]) -> int | None:
    """Return the device of the first array of this package among a flag, or a predicate and its arguments."""
    function = getattr(what, "__cuda_graphs_func__", what)
    values = [what, *args]
    if isinstance(function, types.FunctionType):
        values += by_reference(function)[1].values()
    found = (value.device.device_id for value in values if isinstance(value, NDArray))
    return next(found, None)


def of_flag(flag: Any, dimensions: int, counter: LoopCounter | None) -> Tests:
    """Return the tests of an array of one element."""
    return tests_of(counter, (flag,), functools.partial(flag_kernel, dimensions, isinstance(flag, Field)))


def of_start(counter: LoopCounter | None) -> Test:
    """Return the test that always holds."""
    return tests_of(counter, (), start_kernel)[0]


def of_guard(counter: LoopCounter) -> Test:
    """Return the test that ends a loop at its limit, and otherwise leaves the condition, which other kernels set."""
    return guard_kernel(), (counter.array, counter.limit)


def of_predicate(predicate: Callable[..., Any], args: tuple[Any, ...], counter: LoopCounter | None) -> Tests:
    """Return the tests of a function of `args`.

    Raises:
        TypeError: `predicate` is not a function of Python, or `args` do not fit its parameters.
        CompileError: Its source cannot be found.
    """
    function = getattr(predicate, "__cuda_graphs_func__", predicate)
    if not isinstance(function, types.FunctionType):
        raise TypeError(
            "condition must be a Condition, a flag, or a predicate, which is a lambda, a function or a @cg.func, got "
            f"{predicate!r} ({type(predicate).__name__})"
        )
    name = function.__name__ if function.__name__.isidentifier() else "predicate"
    if isinstance(predicate, types.MethodType):
        raise TypeError(
            f"condition is the method {name}(): write what it returns as a function, lambda: x[0] > 0"
        )
    check_count(function, args)
    names = names_of_arguments(function, len(args))
    function, captured, constants = by_reference(function, names)
    given = {
        each: annotation_of(value, f"argument {i} of {name}()")
        for i, (each, value) in enumerate(zip(names, args, strict=True))
    }
    taken = {each: annotation_of(value, f"{each!r} of {name}()") for each, value in captured.items()}
    test = Predicate(f"test_{name}", tuple({**given, **taken}.items()), len(args), constants, function)
    make = shared_kernel if test.can_be_shared() else predicate_kernel
    return tests_of(counter, (*args, *captured.values()), functools.partial(make, test))


def tests_of(
    counter: LoopCounter | None, args: tuple[Any, ...], make: Callable[[str], KernelFunction]
) -> Tests:
    """Return the two tests. `make` returns the kernel of a key of STATEMENTS."""
    if counter is None:
        test = make("set"), args
        return test, test
    return (make("begin"), (*args, counter.array)), (make("count"), (*args, counter.array, counter.limit))


def check_count(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    try:
        inspect.signature(function).bind(*args)
    except TypeError as error:
        raise TypeError(f"{function.__name__}() does not take the arguments args={args!r}: {error}") from None


# ---- kernels

# The loop keeps the kernel one task: a loop of the predicate at the top level would be a parallel task.
TEXT = """\
def {name}({parameters}):
    loop_config(serialize=True)
    for _ in range(1):
        {statements}
"""

# The statements of each kind of test. counter[0] is the number of iterations. counter[1] becomes 1 when the limit ends
# the loop.
STATEMENTS = {
    "set": ("set_condition(condition, {expression})",),
    "begin": ("counter[0] = 0", "counter[1] = 0", "set_condition(condition, {expression})"),
    "count": (
        "counter[0] += 1",
        "if {expression}:",
        "    counter[1] = counter[0] >= limit",
        "    set_condition(condition, counter[0] < limit)",
        "else:",
        "    set_condition(condition, 0)",
    ),
    "guard": (
        "counter[0] += 1",
        "counter[1] = counter[0] >= limit",
        "keep_condition(condition, counter[0] < limit)",
    ),
}
COUNTER = {"counter": ArrayAnnotation(dtype=SCALARS["i64"], ndim=1)}
LIMIT = {"limit": SCALARS["i64"]}
PARAMETERS: dict[str, dict[str, Any]] = {
    "set": {},
    "begin": COUNTER,
    "count": {**COUNTER, **LIMIT},
    "guard": {**COUNTER, **LIMIT},
}


@functools.cache
def flag_kernel(dimensions: int, is_field: bool, kind: str) -> KernelFunction:
    index = ", ".join(["0"] * dimensions) or "()"
    annotation = Template() if is_field else ArrayAnnotation()
    return kernel_of_expression("test_flag", {"flag": annotation}, f"flag[{index}]", {}, kind)


@functools.cache
def start_kernel(kind: str) -> KernelFunction:
    return kernel_of_expression("test_start", {}, "1", {}, kind)


@functools.cache
def guard_kernel() -> KernelFunction:
    return kernel_of_expression("test_limit", {}, "", {}, "guard")


@dataclasses.dataclass(frozen=True)
class Predicate:
    """A predicate as the kernel calls it. Equal ones have the same kernel: the constants name its code, too."""

    name: str
    parameters: tuple[tuple[str, Any], ...]
    arguments: int  # the number of the first parameters, with which the kernel calls the predicate
    constants: tuple[Any, ...] | None
    function: types.FunctionType = dataclasses.field(compare=False)

    def can_be_shared(self) -> bool:
        takes_values = any(isinstance(annotation, Template) for _, annotation in self.parameters)
        return self.constants is not None and not takes_values


def predicate_kernel(test: Predicate, kind: str) -> KernelFunction:
    parameters = dict(test.parameters)
    expression = f"predicate({', '.join([*parameters][: test.arguments])})"
    return kernel_of_expression(test.name, parameters, expression, {"predicate": func(test.function)}, kind)


# Programs that build a graph again and again load no further kernels, which would wait for running work.
shared_kernel = functools.lru_cache(maxsize=256)(predicate_kernel)


def kernel_of_expression(
    name: str, parameters: Mapping[str, Any], expression: str, names: Mapping[str, Any], kind: str
) -> KernelFunction:
    """Return the kernel that sets a condition, its first parameter, to an expression of the others.

    `kind` is a key of STATEMENTS, whose own parameters come last.
    """
    parameters = {"condition": Condition, **parameters, **PARAMETERS[kind]}
    statements = "\n        ".join(STATEMENTS[kind]).format(expression=expression)
    text = TEXT.format(name=name, parameters=", ".join(parameters), statements=statements)
    file = f"{MADE}{name} ({kind}): {expression}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {**LANGUAGE, **names}
    exec(compile(text, file, "exec"), namespace)
    return kernel_of(namespace[name], OPTIONS.with_defaults(), parameters)


# ---- types of arguments

# Types of numbers of Python -> their types in the kernel, which keep their values.
NUMBERS: tuple[tuple[type, str], ...] = ((bool, "bool"), (int, "i64"), (float, "f64"))


def annotation_of(value: Any, what: str) -> Any:
    """Return the type with which the kernel takes a value."""
    if isinstance(value, Field):
        return Template()
    if isinstance(value, Parameter) and value.type in SCALARS:
        return SCALARS[value.type]
    if isinstance(value, ArrayParameter):
        return ArrayAnnotation()
    if isinstance(value, (bool, int, float, np.generic)):
        return number_type(value, what)
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and not is_ours(type(value)):
        return type(value)
    if not isinstance(value, (str, bytes)) and view_array(value, what) is not None:
        return ArrayAnnotation()
    raise TypeError(
        f"{what} is {value!r} ({type(value).__name__}): pass arrays, numbers, dataclass instances and Parameters"
    )


def number_type(value: Any, what: str) -> ScalarType:
    """Return the type of a number of Python or NumPy."""
    if isinstance(value, np.generic):
        found = BY_DTYPE.get(value.dtype.str)
        if found is None:
            raise TypeError(f"{what} is of {value.dtype}, which kernels do not take")
        return found
    return SCALARS[next(name for kind, name in NUMBERS if isinstance(value, kind))]


# ---- names of a predicate


RESERVED = frozenset(("condition", "predicate", "range", *LANGUAGE, *COUNTER, *LIMIT))


def names_of_arguments(function: types.FunctionType, count: int) -> list[str]:
    """Return names for the first parameters of a function, which the kernel can use."""
    code, found = function.__code__, list[str]()
    for number in range(count):
        known = number < code.co_argcount
        found.append(unused_name(code.co_varnames[number] if known else f"arg_{number}", found))
    return found


def unused_name(wanted: str, taken: Container[str]) -> str:
    """Return a name of a parameter that is neither taken nor used by the kernel itself."""
    while wanted in RESERVED or wanted in taken:
        wanted += "_"
    return wanted


def by_reference(
    function: types.FunctionType, taken: Sequence[str] = ()
) -> tuple[types.FunctionType, dict[str, Any], tuple[Any, ...] | None]:
    """Return a copy of a function with the present values of its names, the arrays among these by parameter, and what
    constants_of returns.

    Args:
        taken: Names that parameters of arrays cannot have.
    """
    captured: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for name, _ in free_names(function, Source(function).tree):
        path = captured_part(function, name)
        if path is None:
            values[name] = path_value(function, name)
        elif path not in values:
            parameter = unused_name(path.replace(".", "_"), (*taken, *captured))
            captured[parameter], values[path] = path_value(function, path), Captured(parameter)
    roots = dict.fromkeys(path.partition(".")[0] for path in values)
    copy = copy_function(function, {root: root_value(function, root, values) for root in roots})
    return copy, captured, constants_of(copy, values)


# Types of values that never change, and of values that their texts tell apart. A subclass may have any text.
FIXED = (types.BuiltinFunctionType, np.ufunc)
PLAIN = {bool, int, float, str, types.NoneType, Captured, ScalarType}


def constants_of(function: types.FunctionType, values: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return what tells the code of a predicate from that of others: its own code and all values that it uses.

    None if a value may change later, such as a function of the user, which has names of its own.
    """
    defaults = [*enumerate(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).items()]
    found = [*values.items(), *defaults, *function.__annotations__.items()]
    keys = [(name, type(value), constant_key(value)) for name, value in found]
    return None if any(key is None for _, _, key in keys) else (id(function.__code__), *keys)


def constant_key(value: Any) -> str | bytes | int | None:
    if type(value) in PLAIN:
        return repr(value)
    if isinstance(value, np.generic):  # whose text depends on np.set_printoptions
        return value.tobytes()
    is_fixed = isinstance(value, FIXED) or any(value is each for each, _ in NUMBERS) or is_ours(value)
    return id(value) if is_fixed else None  # the copy of the function keeps the value


def captured_part(function: Callable[..., Any], path: str) -> str | None:
    """Return the shortest part of a path that is an array or a Parameter, or None."""
    names = path.split(".")
    parts = (".".join(names[: count + 1]) for count in range(len(names)))
    return next((part for part in parts if is_reference(path_value(function, part))), None)


def is_reference(value: Any) -> bool:
    if isinstance(value, NDArray):  # its protocols for other libraries wait for the work on it
        return not isinstance(value, Field)
    return isinstance(value, Parameter) or is_array(value)


def root_value(function: Callable[..., Any], root: str, values: Mapping[str, Any]) -> Any:
    """Return the value of a name in the copy: an object with captured members becomes a namespace of its members."""
    if root in values:
        return values[root]
    inside = {path: value for path, value in values.items() if path.startswith(f"{root}.")}
    if not any(isinstance(value, Captured) for value in inside.values()):
        return path_value(function, root)
    made = types.SimpleNamespace()
    for path in sorted(inside, key=len):
        *outer, last = path.split(".")[1:]
        setattr(functools.reduce(member_namespace, outer, made), last, inside[path])
    return made


def member_namespace(owner: types.SimpleNamespace, name: str) -> types.SimpleNamespace:
    """Return the namespace that is a member of another one. Make it if the member is missing, or another object."""
    if not isinstance(getattr(owner, name, None), types.SimpleNamespace):
        setattr(owner, name, types.SimpleNamespace())
    found: types.SimpleNamespace = getattr(owner, name)
    return found


def copy_function(function: types.FunctionType, values: Mapping[str, Any]) -> types.FunctionType:
    """Return a copy of a function whose globals and closure are these values."""
    code = function.__code__
    cells = tuple(
        types.CellType(values[name]) if name in values else types.CellType() for name in code.co_freevars
    )
    made = types.FunctionType(code, dict(values), function.__name__, function.__defaults__, cells)
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    made.__kwdefaults__, made.__annotations__ = function.__kwdefaults__, function.__annotations__
    return made
