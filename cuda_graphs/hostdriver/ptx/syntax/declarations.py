# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Declarations of PTX: variables, parameters and signatures of functions, and .file and .section."""

from . import limits
from .cursor import Cursor
from .datatypes import TYPES, Type
from .lexer import Token
from .syntax import Function, Immediate, Module, Symbol, Variable

LINKAGE = (".extern", ".visible", ".weak", ".common")
SPACES = (".global", ".const", ".shared", ".local", ".param")


class DeclarationParser(Cursor):
    """A cursor that reads declarations. `module` is the module that the text declares."""

    def __init__(self, tokens: list[Token]):
        super().__init__(tokens)
        self.module = Module()

    def file(self) -> None:
        """Reads `.file 1 "saxpy.cu"` up to the end of the line."""
        number, *name = self.tokens[self.at + 1 : self.at + 3]
        if number.text.isdecimal() and name and name[0].kind == "text":
            self.module.files[int(number.text)] = name[0].text[1:-1]
        self.skip_line()

    def section(self) -> None:
        """Skips a section up to its closing brace."""
        self.next()
        depth = 0
        while True:
            token = self.next()
            depth += {"{": 1, "}": -1}.get(token.text, 0)
            if (token.text == "}" and depth == 0) or token.kind == "end":
                return

    def signature(self, linkage: str, name: str | None = None) -> Function:
        """Reads `.entry name (params)` or `.func (returns) name (params)`."""
        line = self.token.line
        is_entry = self.next().text == ".entry"
        no_return = bool(self.accept(".noreturn"))
        returns = self.list_of(self.parameter, ")") if self.accept("(") else []
        found = self.word()
        params = self.list_of(self.parameter, ")") if self.accept("(") else []
        return Function(name or found, is_entry, line, params, returns, linkage, no_return=no_return)

    def parameter(self) -> Variable:
        """Reads `.param .align 8 .b8 name[24]`, `.param .u64 .ptr .global .align 4 name` or `.reg .b32 name`."""
        space = self.next().text
        if space not in (".param", ".reg"):
            raise self.fail("expected .param or .reg", self.tokens[self.at - 1])
        align, kind = self._attributes()
        if self.accept(".ptr"):
            while self.accept(*SPACES) or self.accept(".generic"):
                pass
            if self.accept(".align"):
                self.integer()
        return self._declarator(space[1:], kind, align, "")

    def _attributes(self) -> tuple[int, Type]:
        """Reads .align, .attribute, and the type, which is last. Returns (alignment, type)."""
        align = 0
        while True:
            token = self.next()
            name = token.text[1:]
            if token.text == ".align":
                align = self.integer()
                if not limits.is_alignment(align):
                    raise self.fail(
                        f"the alignment {align} is not a power of two up to {limits.ALIGNMENT}", token
                    )
            elif token.text == ".attribute":
                self.expect("(")
                while not self.accept(")"):
                    self.next()
            elif token.text in (".v2", ".v4"):
                raise self.fail("vector variables are not supported", token)
            elif name in TYPES:
                kind = TYPES[name]
                return align or kind.bytes, kind
            elif name in ("texref", "samplerref", "surfref"):
                raise self.fail("the host driver has no textures and surfaces", token)
            else:
                raise self.fail("unsupported type or directive", token)

    def variables(self, linkage: str) -> list[Variable]:
        """Reads `.global .align 4 .u32 a, b[3] = {1, 2, 3}` up to the semicolon."""
        space = self.next().text[1:]
        align, kind = self._attributes()
        found = [self._declarator(space, kind, align, linkage)]
        while self.accept(","):
            found.append(self._declarator(space, kind, align, linkage))
        return found

    def _declarator(self, space: str, kind: Type, align: int, linkage: str) -> Variable:
        line, name = self.token.line, self.word()
        dims: list[int] = []
        while self.accept("["):
            dims.append(0 if self.text == "]" else self.integer())
            self.expect("]")
        init = self._flatten(self._initialiser(), dims) if self.accept("=") else None
        count: int | None = None
        if dims:
            count = 1
            for size in dims:
                count *= size
            count = count or len(init or [])
            if count < 0 or count > 1 << 40:
                raise self.fail("the size of the array is out of range")
        if init is not None and len(init) > (count or 1):
            raise self.fail(f"`{name}` has more initialisers than elements")
        return Variable(name, space, kind, align, count, init, linkage, line)

    def _initialiser(self) -> object:
        if self.accept("{"):
            return self.list_of(self._initialiser, "}")
        if self.token.kind != "word":
            return self.constant()
        name = self.word()
        generic = name == "generic"
        if generic:
            self.expect("(")
            name = self.word()
            self.expect(")")
        offset = self.integer() if self.text in ("+", "-") else 0
        return Symbol(name, offset, generic)

    def _flatten(self, value: object, dims: list[int]) -> list:
        if not isinstance(value, list):
            return [value]
        if not dims:
            raise self.fail("too many braces")
        inner = 1
        for size in dims[1:]:
            inner *= size
        if inner > limits.ROW:
            raise self.fail(f"rows of {inner} elements have initialisers; the limit is {limits.ROW}")
        flat: list = []
        for item in value:
            part = self._flatten(item, dims[1:]) if isinstance(item, list) else [item]
            flat += part
            if isinstance(item, list):
                flat += [Immediate(0)] * (inner - len(part))
        return flat
