# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The parser's output. Names are resolved: a register operand is the declared register itself, and a variable of an
inner scope has its own object. No scopes remain after parsing, except those of labels."""

from dataclasses import dataclass, field

from .datatypes import Type


@dataclass(slots=True, eq=False)
class Register:
    name: str
    type: Type


@dataclass(slots=True, eq=False)
class Variable:
    """A variable of a state space, or a parameter. `count`: None for a scalar, 0 for an array of unknown size."""

    name: str
    space: str  # "global", "const", "shared", "local", "param", "reg"
    type: Type
    align: int
    count: int | None
    init: list | None = None
    linkage: str = ""
    line: int = 0

    @property
    def bytes(self) -> int:
        return self.type.bytes * (1 if self.count is None else self.count)


@dataclass(slots=True, frozen=True)
class Immediate:
    value: int


@dataclass(slots=True, frozen=True)
class FloatImmediate:
    bits: int
    width: int


@dataclass(slots=True, frozen=True)
class Special:
    name: str


@dataclass(slots=True, frozen=True)
class Symbol:
    """A name that is not a register: a variable, function, label or parameter, plus a byte offset."""

    name: str
    offset: int = 0
    generic: bool = False
    variable: Variable | None = None


@dataclass(slots=True, frozen=True)
class Address:
    base: object  # Register, Symbol or Immediate
    offset: int


@dataclass(slots=True, frozen=True)
class Vector:
    items: tuple


@dataclass(slots=True, frozen=True)
class Pair:
    """`p|q` of setp, shfl and the like."""

    first: object
    second: object


@dataclass(slots=True, frozen=True)
class Not:
    item: object


@dataclass(slots=True, frozen=True)
class Group:
    """A list in parentheses, in a call."""

    items: tuple


SINK = Special("_")


@dataclass(slots=True, eq=False)
class Instruction:
    line: int
    guard: Register | None
    negated: bool
    opcode: str
    operands: tuple
    scopes: tuple = (0,)
    location: tuple[int, int] | None = None  # (file number, line) of the last .loc

    def __str__(self) -> str:
        return self.opcode


@dataclass(slots=True, eq=False)
class Label:
    line: int
    name: str
    scope: int


@dataclass(slots=True, eq=False)
class Function:
    name: str
    is_entry: bool
    line: int
    params: list[Variable]
    returns: list[Variable]
    linkage: str = ""
    body: list | None = None
    variables: list[Variable] = field(default_factory=list)  # .shared, .local and .param of the body
    tables: dict[str, list[str]] = field(default_factory=dict)  # .branchtargets, .calltargets
    prototypes: dict[str, "Function"] = field(default_factory=dict)
    limits: dict[str, tuple[int, ...]] = field(default_factory=dict)  # maxntid, reqntid, ...
    register_params: dict[str, Register] = field(default_factory=dict)  # parameters declared as .reg
    register_bits: int = 0
    no_return: bool = False


@dataclass(slots=True, eq=False)
class Module:
    version: tuple[int, int] = (0, 0)
    target: str = ""
    variables: dict[str, Variable] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    files: dict[int, str] = field(default_factory=dict)  # names by the number in .file
