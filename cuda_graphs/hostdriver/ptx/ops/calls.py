# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of device functions, by name or pointer, and of driver services (vprintf, assert, conditional handles).

Scalars are passed as integers of their size, arrays by the address of the caller's buffer. A function that may wait at
a barrier is inlined into its caller, and so is one that may exit the thread, unless it calls itself: then it tells its
caller by a flag that the thread has ended.
"""

from collections.abc import Callable

from cuda_graphs.hostdriver.ptx.abi import HIDDEN, HIDDEN_TYPES
from cuda_graphs.hostdriver.ptx.lowering.function import Frame, FunctionLowering
from cuda_graphs.hostdriver.ptx.lowering.table import Op, row
from cuda_graphs.hostdriver.ptx.syntax.syntax import Function, Group, Register, Symbol, Variable


def scalar_type(variable: Variable) -> str:
    return "ptr" if variable.count is not None else f"i{variable.type.total_bits}"


def result_type(function: Function) -> str:
    if not function.returns or function.returns[0].count is not None:
        return "void"
    return f"i{function.returns[0].type.total_bits}"


@row("call", mods="uni", operands="1-4")
def call(f: FunctionLowering, op: Op, operands: tuple) -> None:
    items = list(operands)
    results = items.pop(0).items if isinstance(items[0], Group) else ()
    if not items:
        raise f.fail("the call has no target")
    target = items.pop(0)
    args = items.pop(0).items if items and isinstance(items[0], Group) else ()
    if len(results) > 1:
        raise f.fail("more than one result is not supported")
    if isinstance(target, Symbol) and target.variable is None:
        _call_by_name(f, target.name, results, args)
    else:
        name = getattr(items[0], "name", "") if items else ""
        prototype = f.frame.function.prototypes.get(name) or _function_of_list(f, name)
        if prototype is None:
            raise f.fail("a call through a pointer needs a prototype")
        _emit(f, f.read(target, "ptr"), prototype, results, args)


def _function_of_list(f: FunctionLowering, name: str) -> Function | None:
    """Returns the first function of a .calltargets list; all functions of the list have one signature."""
    names = f.frame.function.tables.get(name)
    return f.module.function(names[0]) if names else None


def _call_by_name(f: FunctionLowering, name: str, results: tuple, args: tuple) -> None:
    function = f.module.function(name)
    if function is None or function.body is None:
        service = SERVICES.get(name)
        if service is None:
            raise f.fail(f"the function `{name}` is not available")
        service(f, results, args)
        return
    found = f.module.call_graph[function.name]
    if found.is_inlined:
        _inline(f, function, results, args)
    else:
        _emit(f, f'@"f.{function.name}"', function, results, args, found.exits)


def _emit(
    f: FunctionLowering, callee: str, function: Function, results: tuple, args: tuple, exits: bool = False
) -> None:
    _check_signature(f, function, results, args)
    values = [f"{kind} {f.hidden(name)}" for name, kind in HIDDEN.items()]
    kinds = [HIDDEN_TYPES]
    for variable, arg in zip(function.params, args, strict=True):
        kind = scalar_type(variable)
        values.append(f"{kind} {_argument(f, arg, kind)}")
        kinds.append(kind)
    result = result_type(function)
    if result == "void" and function.returns:
        values.append(f"ptr {_buffer(f, results[0])}")
        kinds.append("ptr")
    exited = f.slot("i8") if exits else ""
    if exited:
        f.line(f"store i8 0, ptr {exited}")
        values.append(f"ptr {exited}")
        kinds.append("ptr")
    text = f"call {result} ({', '.join(kinds)}) {callee}({', '.join(values)})"
    if result == "void":
        f.line(text)
    else:
        _deliver(f, results, f.let(text), result)
    if exited:
        leave, follow = f.label("exited"), f.label("next")
        f.jump_if(f.let(f"icmp ne i8 {f.let(f'load i8, ptr {exited}')}, 0"), leave, follow)
        f.start(leave)
        f.exit_thread()
        f.start(follow)


def _check_signature(f: FunctionLowering, function: Function, results: tuple, args: tuple) -> None:
    if len(args) != len(function.params) or len(results) != len(function.returns):
        raise f.fail(
            f"`{function.name}` takes {len(function.params)} arguments and returns {len(function.returns)}"
        )
    given = [*zip(function.params, args, strict=True), *zip(function.returns, results, strict=True)]
    for variable, arg in given:
        passed = arg.variable if isinstance(arg, Symbol) else None
        if passed is not None and passed.bytes != variable.bytes:
            raise f.fail(f"`{variable.name}` has {variable.bytes} bytes, the argument has {passed.bytes}")


def _argument(f: FunctionLowering, arg: object, kind: str) -> str:
    if kind == "ptr":
        return _buffer(f, arg)
    if isinstance(arg, Symbol) and arg.variable is not None and arg.variable.space == "param":
        return f.let(f"load {kind}, ptr {f.storage(arg.variable)}")
    return f.read(arg, kind)


def _buffer(f: FunctionLowering, arg: object) -> str:
    if not isinstance(arg, Symbol) or arg.variable is None:
        raise f.fail("an array argument must be a .param variable")
    return f.storage(arg.variable)


def _deliver(f: FunctionLowering, results: tuple, value: str, kind: str) -> None:
    if isinstance(results[0], Register):
        f.write(results[0], value, kind)
    else:
        f.line(f"store {kind} {value}, ptr {_buffer(f, results[0])}")


def _inline(f: FunctionLowering, function: Function, results: tuple, args: tuple) -> None:
    if any(frame.function is function for frame in f.frames):
        raise f.fail(f"`{function.name}` calls itself and waits at a barrier, which is not supported")
    _check_signature(f, function, results, args)
    values = [_argument(f, arg, scalar_type(v)) for v, arg in zip(function.params, args, strict=True)]
    target = None
    if function.returns and function.returns[0].space == "param" and isinstance(results[0], Symbol):
        target = _buffer(f, results[0])
    f.frame_count += 1
    outer, instruction = f.frame, f.instruction
    f.frame = Frame(function, f.frame_count)
    f.frames.append(f.frame)
    for variable, value in zip(function.params, values, strict=True):
        _bind(f, variable, value)
    if target is not None:
        f.frame.objects[function.returns[0]] = target
    after = f.label("returned")
    f.lower_body(after)
    f.start(after)
    value = ""
    if function.returns and target is None:
        kind = result_type(function)
        value = f.result_value(function.returns[0], kind)
    f.frames.pop()
    f.frame, f.instruction = outer, instruction
    if value:
        _deliver(f, results, value, result_type(function))


def _bind(f: FunctionLowering, variable: Variable, value: str) -> None:
    kind = scalar_type(variable)
    register = f.frame.function.register_params.get(variable.name)
    if register is not None:
        f.write(register, value, kind)
    elif kind == "ptr":
        f.frame.objects[variable] = value
    else:
        f.line(f"store {kind} {value}, ptr {f.storage(variable)}")


# ---- driver services ----


def _values(f: FunctionLowering, args: tuple, *kinds: str) -> list[str]:
    if len(args) != len(kinds):
        raise f.fail(f"{len(kinds)} arguments are needed")
    values = []
    for arg, kind in zip(args, kinds, strict=True):
        value = _argument(f, arg, "i64" if kind == "ptr" else kind)
        values.append(f"{kind} {f.convert(value, 'i64', 'ptr') if kind == 'ptr' else value}")
    return values


def _vprintf(f: FunctionLowering, results: tuple, args: tuple) -> None:
    f.count += 1
    result = f"%printed{f.count}"
    values = ", ".join(_values(f, args, "ptr", "ptr"))
    f.lines.append(f.module.services.call(result, "vprintf", "i32", values))
    if results:
        _deliver(f, results, result, "i32")


def _assert_fail(f: FunctionLowering, results: tuple, args: tuple) -> None:
    """Lowers __assertfail(message, file, line, function, size of a character)."""
    values = _values(f, args, "ptr", "ptr", "i32", "ptr", "i64")[:4]
    for what in ("ctaid", "tid"):
        place = f.slot("[3 x i32]")
        for number, axis in enumerate("xyz"):
            at = f.let(f"getelementptr i32, ptr {place}, i64 {number}")
            f.line(f"store i32 {f.hidden(f'{what}.{axis}')}, ptr {at}")
        values.append(f"ptr {place}")
    f.lines.append(f.module.services.call("", "assert_fail", "void", ", ".join(values)))
    f.line("unreachable")
    f.start_unreachable()


def _set_conditional(f: FunctionLowering, results: tuple, args: tuple) -> None:
    values = ", ".join(_values(f, args, "i64", "i32"))
    f.lines.append(f.module.services.call("", "set_conditional", "void", values))


def _malloc(f: FunctionLowering, results: tuple, args: tuple) -> None:
    f.count += 1
    address = f"%allocated{f.count}"
    f.lines.append(f.module.services.call(address, "allocate", "ptr", ", ".join(_values(f, args, "i64"))))
    if results:
        _deliver(f, results, f.convert(address, "ptr", "i64"), "i64")


def _free(f: FunctionLowering, results: tuple, args: tuple) -> None:
    f.lines.append(f.module.services.call("", "release", "void", ", ".join(_values(f, args, "ptr"))))


SERVICES: dict[str, Callable[[FunctionLowering, tuple, tuple], None]] = {
    "vprintf": _vprintf,
    "__assertfail": _assert_fail,
    "cudaGraphSetConditional": _set_conditional,
    "malloc": _malloc,
    "free": _free,
}
