# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""PTX tokens -> syntax.Module, for the statements outside function bodies. `body.py` reads the bodies.

The parser keeps the debug directives .file and .loc, for reports, and drops .section and .pragma. Unknown syntax raises
an error with its line; the parser never skips it.
"""

from collections.abc import Callable

from cuda_graphs.hostdriver.ptx.errors import UNSUPPORTED_PTX_VERSION, ImageError, invalid_ptx

from . import limits
from .datatypes import TYPES, Type
from .lexer import Token
from .syntax import FloatImmediate, Function, Immediate, Module, Symbol, Variable

# The newest PTX version that the parser accepts; NVRTC 13.5 writes 9.5.
NEWEST_VERSION = (9, 9)

LINKAGE = (".extern", ".visible", ".weak", ".common")
SPACES = (".global", ".const", ".shared", ".local", ".param")
LIMITS = [
    ".maxntid",
    ".reqntid",
    ".minnctapersm",
    ".maxnreg",
    ".maxnctapersm",
    ".reqnctapercluster",
    ".maxclusterrank",
    ".explicitcluster",
    ".blocksareclusters",
]


class Cursor:
    """A position in the token list, with the basic steps of both parsers."""

    def __init__(self, tokens: list[Token]):
        self.tokens = tokens
        self.at = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    @property
    def text(self) -> str:
        return self.tokens[self.at].text

    def next(self) -> Token:
        token = self.tokens[self.at]
        if token.kind != "end":
            self.at += 1
        return token

    def fail(self, why: str, token: Token | None = None) -> ImageError:
        token = token or self.token
        return invalid_ptx(f"line {token.line}: {why}, at `{token.text or 'end of text'}`")

    def accept(self, *texts: str) -> str:
        token = self.tokens[self.at]
        if token.text in texts and token.kind != "end":
            self.at += 1
            return token.text
        return ""

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise self.fail(f"expected `{text}`")

    def word(self) -> str:
        token = self.next()
        if token.kind != "word":
            raise self.fail("expected a name", token)
        return token.text

    def skip_line(self) -> None:
        line = self.token.line
        while self.token.line == line and self.token.kind != "end":
            self.at += 1

    def list_of(self, read: Callable, closer: str) -> list:
        items: list = []
        while not self.accept(closer):
            items.append(read())
            if not self.accept(","):
                self.expect(closer)
                break
        return items

    def expression(self) -> int:
        """Reads a constant expression of integers, with C's operators, and returns its value; ?: binds weakest."""
        value = self.integer()
        if not self.accept("?"):
            return value
        yes = self.expression()
        self.expect(":")
        no = self.expression()
        return yes if value else no

    def integer(self, level: int = 0) -> int:
        if level == len(_BINARY):
            return self._unary()
        value = self.integer(level + 1)
        while operator := self.accept(*_BINARY[level]):
            token = self.token
            try:
                value = _BINARY[level][operator](value, self.integer(level + 1))
            except (ZeroDivisionError, ValueError):
                raise self.fail("a constant expression has no value", token) from None
        return value

    def _unary(self) -> int:
        if self.accept("-"):
            return -self._unary()
        if self.accept("+"):
            return self._unary()
        if self.accept("~"):
            return ~self._unary()
        if self.accept("!"):
            return int(not self._unary())
        if self.accept("("):
            if cast := self.accept(".s64", ".u64"):
                self.expect(")")
                return _cast(self._unary(), cast)
            value = self.expression()
            self.expect(")")
            return value
        token = self.next()
        if token.kind != "int":
            raise self.fail("expected an integer", token)
        return integer_literal(token.text)

    def constant(self) -> Immediate | FloatImmediate:
        """Reads a number of an instruction or initialiser."""
        negative = self.token.text == "-" and self.tokens[self.at + 1].kind in ("bits", "real")
        if negative:
            self.at += 1
        if self.token.kind in ("bits", "real"):
            number = float_literal(self.next().text)
            return (
                FloatImmediate(number.bits ^ (1 << (number.width - 1)), number.width) if negative else number
            )
        return Immediate(self.expression())


def _cast(value: int, kind: str) -> int:
    value &= (1 << 64) - 1
    return value - (1 << 64) if kind == ".s64" and value >> 63 else value


def _divide(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


# Operators by precedence, the weakest first.
_BINARY: list[dict[str, Callable[[int, int], int]]] = [
    {"||": lambda a, b: int(bool(a) or bool(b))},
    {"&&": lambda a, b: int(bool(a) and bool(b))},
    {"|": lambda a, b: a | b},
    {"^": lambda a, b: a ^ b},
    {"&": lambda a, b: a & b},
    {"==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b)},
    {
        "<": lambda a, b: int(a < b),
        "<=": lambda a, b: int(a <= b),
        ">": lambda a, b: int(a > b),
        ">=": lambda a, b: int(a >= b),
    },
    {"<<": lambda a, b: a << (b & 63), ">>": lambda a, b: a >> (b & 63)},
    {"+": lambda a, b: a + b, "-": lambda a, b: a - b},
    {"*": lambda a, b: a * b, "/": _divide, "%": lambda a, b: a - b * _divide(a, b)},
]


SHIFT = 7  # the level of << and >>, for expressions between < and >


def integer_literal(text: str) -> int:
    text = text.rstrip("U")
    octal = len(text) > 1 and text[0] == "0" and text[1].isdecimal()
    try:
        value = int(text, 8 if octal else 0)
    except ValueError:
        raise invalid_ptx(f"`{text}` is not a number") from None
    if value >> 64:
        raise invalid_ptx(f"`{text}` has more than 64 bits")
    return value


def float_literal(text: str) -> FloatImmediate:
    import struct

    if text[:2] in ("0f", "0F"):
        return FloatImmediate(int(text[2:], 16), 32)
    if text[:2] in ("0d", "0D"):
        return FloatImmediate(int(text[2:], 16), 64)
    return FloatImmediate(struct.unpack("<Q", struct.pack("<d", float(text)))[0], 64)


class Parser(Cursor):
    def __init__(self, tokens: list[Token]):
        super().__init__(tokens)
        self.module = Module()

    def parse(self) -> Module:
        from .body import BodyParser

        self._header()
        while self.token.kind != "end":
            self._top_level(BodyParser)
        return self.module

    def _header(self) -> None:
        self.expect(".version")
        text = self.next().text
        try:
            major, minor = text.split(".")
            self.module.version = (int(major), int(minor))
        except ValueError:
            raise self.fail(f"`{text}` is not a PTX version") from None
        if self.module.version > NEWEST_VERSION:
            newest = "{}.{}".format(*NEWEST_VERSION)
            raise ImageError(
                UNSUPPORTED_PTX_VERSION, f"PTX {text} is newer than {newest}, the newest supported version"
            )
        self.expect(".target")
        self.module.target = self.word()
        while self.accept(","):
            self.word()

    def _top_level(self, body_parser: type) -> None:
        if self.accept(";"):
            return
        if self.text == ".file":
            self.file()
        elif self.text in (".loc", ".pragma"):
            self.skip_line()
        elif self.accept(".section"):
            self._section()
        elif self.text == "@":  # @@DWARF lines of old compilers
            self.skip_line()
        elif self.accept(".address_size"):
            if self.integer() != 64:
                raise self.fail("only 64-bit addresses are supported")
        elif self.accept(".alias"):
            name = self.word()
            self.expect(",")
            self.module.aliases[name] = self.word()
            self.expect(";")
        else:
            self._declaration(body_parser)

    def file(self) -> None:
        """Reads `.file 1 "saxpy.cu"` up to the end of the line."""
        number, *name = self.tokens[self.at + 1 : self.at + 3]
        if number.text.isdecimal() and name and name[0].kind == "text":
            self.module.files[int(number.text)] = name[0].text[1:-1]
        self.skip_line()

    def _section(self) -> None:
        self.next()
        depth = 0
        while True:
            token = self.next()
            depth += {"{": 1, "}": -1}.get(token.text, 0)
            if (token.text == "}" and depth == 0) or token.kind == "end":
                return

    def _declaration(self, body_parser: type) -> None:
        linkage = ""
        while word := self.accept(*LINKAGE):
            linkage = word[1:]
        if self.text in (".entry", ".func"):
            self._function(linkage, body_parser)
        elif self.text in SPACES:
            for variable in self.variables(linkage):
                known = self.module.variables.get(variable.name)
                if known is None or known.linkage == "extern":
                    self.module.variables[variable.name] = variable
            self.expect(";")
        else:
            raise self.fail("unsupported directive")

    def _function(self, linkage: str, body_parser: type) -> None:
        function = self.signature(linkage)
        while not self.accept(";"):
            if self.accept("{"):
                try:
                    body_parser(self, function).parse()
                except ImageError as error:
                    raise invalid_ptx(f"{error}, in `{function.name}`") from None
                break
            self._function_directive(function)
        known = self.module.functions.get(function.name)
        if known is None or known.body is None:
            self.module.functions[function.name] = function

    def signature(self, linkage: str, name: str | None = None) -> Function:
        """Reads `.entry name (params)` or `.func (returns) name (params)`."""
        line = self.token.line
        is_entry = self.next().text == ".entry"
        no_return = bool(self.accept(".noreturn"))
        returns = self.list_of(self.parameter, ")") if self.accept("(") else []
        found = self.word()
        params = self.list_of(self.parameter, ")") if self.accept("(") else []
        return Function(name or found, is_entry, line, params, returns, linkage, no_return=no_return)

    def _function_directive(self, function: Function) -> None:
        name = self.next()
        if name.text in LIMITS:
            values = []
            if self.token.kind == "int":
                values.append(self.integer())
                while self.accept(","):
                    values.append(self.integer())
            if any(not 0 <= value <= limits.EXTENT for value in values):
                raise self.fail("the limit is out of range", name)
            function.limits[name.text[1:]] = tuple(values)
        elif name.text == ".noreturn":
            function.no_return = True
        elif name.text in (".abi_preserve", ".abi_preserve_control", ".unique"):
            self.skip_line()
        elif name.text == ".pragma":
            self.next()
            self.expect(";")
        else:
            raise self.fail("unsupported directive", name)

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
