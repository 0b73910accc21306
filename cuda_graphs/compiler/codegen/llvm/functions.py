# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Functions that tasks call. A module has one definition of each function that it calls:

    define internal { float, i1 } @called.f.0(ptr %p0, i64 %p1, float %p2) noinline nounwind

A function receives the addresses and extents of the arrays that it uses, and the parameters of the kernel, before its
own arguments. LLVM must not inline it, as the user has chosen that.
"""

from __future__ import annotations

import re
from abc import abstractmethod

from cuda_graphs.compiler.artifact import Inputs
from cuda_graphs.compiler.ir import ir

from .notation import llvm_type
from .target import Target
from .values import ValueEmitter

__all__ = ["CallEmitter"]

WRITING = (ir.Store, ir.Atomic, ir.Fence, ir.Print, ir.Assert)


class CallEmitter(ValueEmitter):
    """Emitter of calls, and of the functions that are called."""

    def __init__(self, target: Target, declarations: dict[str, str]) -> None:
        super().__init__(target, declarations)
        self.addresses: dict[ir.Array, str] = {}
        self.extents: dict[tuple[ir.Array, int], str] = {}  # in 64 bits
        self.calls: dict[ir.Call, str] = {}  # the registers of their results
        self.returned = "void"  # the type that this function returns

    @abstractmethod
    def pointer(self, array: ir.Array) -> str:
        """Return the type of the address of an array."""

    @abstractmethod
    def block(self, block: ir.Block) -> None:
        """Emit the statements of a block."""

    @abstractmethod
    def for_function(self, place: list[str]) -> CallEmitter:
        """Return the emitter of a function that is called here. `place`: its parameters for those of `place()`."""

    def place(self) -> list[tuple[str, str]]:
        """Return the type and the register of each argument that says where a function is called."""
        return []

    def variant(self) -> str:
        """Return the suffix of the names of functions for such places as this one."""
        return ""

    def call_function(self, call: ir.Call) -> None:
        """Emit a call, and the function if this is the first call in its module."""
        function = call.function
        key = self.symbol(function)
        if key not in self.declarations:
            self.declarations[key] = ""  # the function may call itself
            self.declarations[key] = self.definition(function)
        inputs = Inputs(function.body)
        args = [f"{kind} {register}" for kind, register in self.place()]
        args += [f"{self.pointer(array)} {self.addresses[array]}" for array in inputs.arrays]
        args += [f"i64 {self.extents[each]}" for each in inputs.extents]
        values = (*outside(function, inputs), *call.args)
        args += [f"{llvm_type(each.type)} {self.value(each)}" for each in values]
        made = self.let(f"call {returned_type(function)} {key}({', '.join(args)})")
        self.calls[call] = made
        self.names[call] = made if len(function.results) == 1 else self.part(call, 0)

    def result(self, result: ir.Result) -> None:
        """Emit a further result of a call."""
        assert isinstance(result.call, ir.Call)
        self.names[result] = self.part(result.call, result.number)

    def part(self, call: ir.Call, number: int) -> str:
        return self.let(f"extractvalue {returned_type(call.function)} {self.calls[call]}, {number}")

    def exit(self, statement: ir.Exit) -> None:
        self.line("ret void" if self.returned == "void" else f"ret {self.returned} zeroinitializer")
        self.start(self.label("never"))

    def return_values(self, statement: ir.Return) -> None:
        """Emit the end of a function."""
        values = [f"{llvm_type(each.type)} {self.value(each)}" for each in statement.values]
        if len(values) == 1:
            self.line(f"ret {values[0]}")
            return
        made = "poison"
        for number, each in enumerate(values):
            made = self.let(f"insertvalue {self.returned} {made}, {each}, {number}")
        self.line(f"ret {self.returned} {made}")

    def definition(self, function: ir.Function) -> str:
        """Return the text of a function."""
        inputs, params = Inputs(function.body), list[str]()

        def receive(kind: str) -> str:
            params.append(f"{kind} %p{len(params)}")
            return f"%p{len(params) - 1}"

        e = self.for_function([receive(kind) for kind, _ in self.place()])
        e.returned = returned_type(function)
        for array in inputs.arrays:
            e.addresses[array] = receive(e.pointer(array))
        for each in inputs.extents:
            e.extents[each] = receive("i64")
        for param in (*outside(function, inputs), *function.params):
            e.names[param] = receive(llvm_type(param.type))
        e.block(function.body)
        head = f"define internal {e.returned} {self.symbol(function)}({', '.join(params)})"
        memory = "" if self.place() else effects(function)
        return f"{head} noinline nounwind{memory} {{\n{e.text()}\n}}\n"

    def symbol(self, function: ir.Function) -> str:
        """Return the name of a function in LLVM. The name in the IR is unique, and that of a lambda has brackets."""
        return f"@called.{re.sub(r'[^A-Za-z0-9_.]', '_', function.name)}{self.variant()}"

    def text(self) -> str:
        """Return the body of the function."""
        return "\n".join(["entry:", *self.slots, *self.lines])


def outside(function: ir.Function, inputs: Inputs) -> list[ir.Param]:
    """Return the parameters of the kernel that a function uses."""
    return [each for each in inputs.params if each not in function.params]


def returned_type(function: ir.Function) -> str:
    kinds = [llvm_type(each) for each in function.results]
    return kinds[0] if len(kinds) == 1 else f"{{ {', '.join(kinds)} }}"


def effects(function: ir.Function) -> str:
    """Return the attribute that says how a function uses memory."""
    statements = [each for called in ir.reachable({function: None}) for each in ir.walk(called.body)]
    if any(isinstance(each, WRITING) for each in statements):
        return ""
    return " memory(read)" if any(isinstance(each, ir.Load) for each in statements) else " memory(none)"
