# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The parser of function bodies. It resolves names, so later stages see no scopes.

`.reg .b32 %r<9>;` declares names lazily. A name of an inner scope has an object of its own. A use of a label records
the scopes in which the label may be defined, because the definition may follow later.
"""

import re

from .cursor import SHIFT
from .datatypes import TYPES, Type
from .declarations import LINKAGE, DeclarationParser
from .lexer import Token
from .syntax import (
    SINK,
    Address,
    Function,
    Group,
    Immediate,
    Instruction,
    Label,
    Not,
    Pair,
    Register,
    Special,
    Symbol,
    Variable,
    Vector,
)

_NUMBERED = re.compile(r"(.*?)(\d+)$", re.DOTALL)


class Scope:
    """The names that a block declares."""

    def __init__(self, number: int):
        self.number = number
        self.names: dict[str, object] = {}
        self.ranges: dict[str, tuple[Type, int]] = {}

    def find(self, name: str) -> object | None:
        found = self.names.get(name)
        if found is None and self.ranges:
            match = _NUMBERED.match(name)
            if match and match[1] in self.ranges:
                kind, count = self.ranges[match[1]]
                if int(match[2]) < count and (match[2] == "0" or match[2][0] != "0"):
                    found = self.names[name] = Register(name, kind)
        return found


class BodyParser:
    """The parser of one body. `cursor` is the parser of the text."""

    def __init__(self, cursor: DeclarationParser, function: Function):
        self.cursor = cursor
        self.function = function
        self.body: list = []
        self.scopes = [Scope(0)]
        self.scope_path: tuple[int, ...] = (0,)
        self.count = 0
        self.location: tuple[int, int] | None = None
        for variable in function.params + function.returns:
            if variable.space == "reg":
                function.register_params[variable.name] = Register(variable.name, variable.type)
            self.scopes[0].names[variable.name] = function.register_params.get(variable.name, variable)

    def parse(self) -> None:
        cursor = self.cursor
        while True:
            token = cursor.token
            if token.kind == "end":
                raise cursor.fail(f"the body of `{self.function.name}` does not end")
            if token.text == "{":
                cursor.at += 1
                self._open()
            elif token.text == "}":
                cursor.at += 1
                if len(self.scopes) == 1:
                    break
                self._close()
            elif token.kind == "dot":
                self._directive()
            elif token.kind == "word" and cursor.tokens[cursor.at + 1].text == ":":
                self._label()
            elif token.text == ";":
                cursor.at += 1
            else:
                self.body.append(self._instruction())
        self.function.body = self.body
        self.function.register_bits = self._register_bits()

    def _open(self) -> None:
        self.count += 1
        self.scopes.append(Scope(self.count))
        self.scope_path += (self.count,)

    def _close(self) -> None:
        self.scopes.pop()
        self.scope_path = self.scope_path[:-1]

    def _register_bits(self) -> int:
        outer = self.scopes[0]
        named = [r.type for r in outer.names.values() if isinstance(r, Register)]
        return sum(kind.total_bits for kind in named if kind.kind != "pred")

    def _directive(self) -> None:
        cursor = self.cursor
        name = cursor.text
        if name == ".reg":
            cursor.at += 1
            self._registers()
        elif name == ".loc":
            self._loc()
        elif name == ".file":
            cursor.file()
        elif name == ".pragma":
            cursor.at += 2
            cursor.expect(";")
        elif name == ".section":
            cursor.at += 1
            cursor.section()
        elif name in LINKAGE or name in (".local", ".shared", ".param", ".global", ".const"):
            linkage = ""
            while word := cursor.accept(*LINKAGE):
                linkage = word[1:]
            self._variables(linkage)
        else:
            raise cursor.fail("unsupported directive")

    def _loc(self) -> None:
        """Reads `.loc 1 12 5` up to the end of the line: the next instructions belong to line 12 of file 1."""
        cursor = self.cursor
        file, *line = (token.text for token in cursor.tokens[cursor.at + 1 : cursor.at + 3])
        if file.isdecimal() and line and line[0].isdecimal():
            self.location = (int(file), int(line[0]))
        cursor.skip_line()

    def _registers(self) -> None:
        cursor = self.cursor
        token = cursor.next()
        if token.text in (".v2", ".v4"):
            raise cursor.fail("vector registers are not supported", token)
        kind = TYPES.get(token.text[1:])
        if kind is None:
            raise cursor.fail("unsupported register type", token)
        scope = self.scopes[-1]
        while True:
            name = cursor.word()
            if cursor.accept("<"):
                scope.ranges[name] = (kind, cursor.integer(SHIFT))
                cursor.expect(">")
            else:
                scope.names[name] = Register(name, kind)
            if not cursor.accept(","):
                break
        cursor.expect(";")

    def _variables(self, linkage: str) -> None:
        for variable in self.cursor.variables(linkage):
            if variable.space in ("global", "const"):
                self._static(variable)
            else:
                self.function.variables.append(variable)
            self.scopes[-1].names[variable.name] = variable
        self.cursor.expect(";")

    def _static(self, variable: Variable) -> None:
        """Moves a .global or .const variable of a function's body into the module, under a unique name."""
        variables = self.cursor.module.variables
        local_name, number = variable.name, 0
        while variable.name in variables:
            number += 1
            variable.name = f"{self.function.name}.{local_name}.{number}"
        variables[variable.name] = variable

    def _label(self) -> None:
        cursor = self.cursor
        token = cursor.next()
        cursor.expect(":")
        if cursor.accept(".branchtargets", ".calltargets"):
            names = cursor.list_of(cursor.word, ";")
            self.function.tables[token.text] = names
        elif cursor.text == ".callprototype":
            prototype = cursor.signature("", token.text)
            prototype.no_return |= bool(cursor.accept(".noreturn"))
            self.function.prototypes[token.text] = prototype
            cursor.expect(";")
        else:
            self.body.append(Label(token.line, token.text, self.scope_path[-1]))

    def _instruction(self) -> Instruction:
        cursor = self.cursor
        guard: Register | None = None
        negated = False
        if cursor.accept("@"):
            negated = bool(cursor.accept("!"))
            token = cursor.token
            name = self._name(cursor.word())
            if not isinstance(name, Register) or name.type.kind != "pred":
                raise cursor.fail("the guard is not a predicate register", token)
            guard = name
        token = cursor.next()
        if token.kind != "word":
            raise cursor.fail("expected an instruction", token)
        operands: list = []
        while not cursor.accept(";"):
            operands.append(self._operand())
            if not cursor.accept(","):
                cursor.expect(";")
                break
        return Instruction(
            token.line, guard, negated, token.text, tuple(operands), self.scope_path, self.location
        )

    def _operand(self) -> object:
        cursor = self.cursor
        token = cursor.token
        if token.kind == "word":
            cursor.at += 1
            item = self._name(token.text)
            if cursor.accept("|"):
                return Pair(item, self._name(cursor.word()))
            if cursor.text in ("+", "-") and isinstance(item, Symbol):
                return Symbol(item.name, cursor.integer(), variable=item.variable)
            return item
        if token.text == "[":
            cursor.at += 1
            return self._address()
        if token.text == "{":
            cursor.at += 1
            return Vector(tuple(cursor.list_of(self._operand, "}")))
        if token.text == "!":
            cursor.at += 1
            return Not(self._operand())
        if token.text == "(" and self._is_call_list(token):
            cursor.at += 1
            return Group(tuple(cursor.list_of(self._operand, ")")))
        return cursor.constant()

    def _is_call_list(self, token: Token) -> bool:
        """Returns whether `(` opens a list such as `(param0, param1)`, not a constant expression."""
        following = self.cursor.tokens[self.cursor.at + 1]
        before = self.cursor.tokens[self.cursor.at - 1]
        return following.kind == "word" or following.text == ")" or before.text.startswith("call")

    def _address(self) -> Address | Vector:
        cursor = self.cursor
        if cursor.token.kind != "word":
            base: object = Immediate(cursor.integer())
        else:
            base = self._name(cursor.word())
        offset = 0
        if cursor.text in ("+", "-"):
            offset = cursor.integer()
        if cursor.accept(","):  # coordinates of a texture or tensor; no supported instruction takes them
            return Vector((Address(base, offset), *cursor.list_of(self._operand, "]")))
        cursor.expect("]")
        return Address(base, offset)

    def _name(self, name: str) -> object:
        if name in ("_", "WARP_SZ"):
            return SINK if name == "_" else Immediate(32)
        for scope in reversed(self.scopes):
            found = scope.find(name)
            if isinstance(found, Register):
                return found
            if isinstance(found, Variable):
                return Symbol(found.name, variable=found)
        if name[0] == "%":
            return Special(name)
        return Symbol(name)
