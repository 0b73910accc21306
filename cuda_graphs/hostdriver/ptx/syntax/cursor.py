# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A position in the tokens of a PTX text, with the steps that all parsers share, and constant expressions."""

import struct
from collections.abc import Callable

from cuda_graphs.hostdriver.ptx.errors import ImageError, invalid_ptx

from .lexer import Token
from .syntax import FloatImmediate, Immediate


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
    if text[:2] in ("0f", "0F"):
        return FloatImmediate(int(text[2:], 16), 32)
    if text[:2] in ("0d", "0D"):
        return FloatImmediate(int(text[2:], 16), 64)
    return FloatImmediate(struct.unpack("<Q", struct.pack("<d", float(text)))[0], 64)
