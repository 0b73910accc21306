# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""PTX text -> tokens. A token is (kind, text, line); its kind is the name of a group below."""

import re
from typing import NamedTuple

from cuda_graphs.hostdriver.ptx.errors import invalid_ptx

from . import limits

_PATTERN = re.compile(
    r"""
    (?P<skip>[ \t\r\f\v]+ | //[^\n]*)
  | (?P<line>\n)
  | (?P<block>/\*.*?\*/)
  | (?P<bits>0[fF][0-9a-fA-F]{8}\b | 0[dD][0-9a-fA-F]{16}\b)
  | (?P<real>\d+\.\d*(?:[eE][+-]?\d+)? | \d+[eE][+-]?\d+\b)
  | (?P<int>(?:0[xX][0-9a-fA-F]+ | 0[bB][01]+ | \d+)U?)
  | (?P<word>[%$_A-Za-z][\w$]*(?:(?:\.|::)[\w$]+)*)
  | (?P<dot>\.[A-Za-z_]\w*(?:::\w+)*)
  | (?P<text>"[^"\n]*")
  | (?P<mark><<|>>|<=|>=|==|!=|&&|\|\||[{}()\[\],;:@!|<>=+\-*/&~^%?])
    """,
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    kind: str
    text: str
    line: int


def tokenize(source: str) -> list[Token]:
    tokens: list[Token] = []
    line, at, end = 1, 0, len(source)
    match = _PATTERN.match
    while at < end:
        found = match(source, at)
        if found is None:
            raise invalid_ptx(f"line {line}: unexpected character {source[at]!r}")
        kind = found.lastgroup
        if kind == "line":
            line += 1
        elif kind == "block":
            line += found.group().count("\n")
        elif kind != "skip":
            if found.end() - at > limits.TOKEN and kind != "text":
                raise invalid_ptx(
                    f"line {line}: a name or number of {found.end() - at} characters is too long"
                )
            tokens.append(Token(kind or "", found.group(), line))
        at = found.end()
    tokens.append(Token("end", "", line))
    return tokens
