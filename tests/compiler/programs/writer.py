# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Draws a program: choices, the names in scope, the operations allowed at each point, and the inputs."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field

from hypothesis import strategies as st

from cuda_graphs.compiler.ir import types as t
from cuda_graphs.compiler.language import annotations

INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
FLOATS = ("f16", "bf16", "f32", "f64")
SCALARS = {
    "a": t.i8, "b": t.i16, "c": t.i32, "d": t.i64, "e": t.u8, "g": t.u16, "h": t.u32, "k": t.u64,
    "p": t.f16, "q": t.bf16, "r": t.f32, "s": t.f64, "flag": t.bool_,
}  # fmt: skip
SIZE = 8  # of arrays of one dimension
ROWS, COLUMNS = 3, 4
# Arrays: what they hold, how many dimensions they have.
ARRAYS = {
    "xb": (t.u8, 1), "xi": (t.i32, 1), "yi": (t.i32, 1), "xl": (t.i64, 1), "xh": (t.f16, 1), "xd": (t.f64, 1),
    "yd": (t.f64, 1), "mi": (t.u32, 2), "mf": (t.f32, 2),
}  # fmt: skip
FIELD = "table"  # of i32, ROWS x COLUMNS, when there is one
VECTORS = {"float": ("cg.vec3", 3), "int": ("cg.types.vec(3, cg.i64)", 3)}
ORDERLESS = (("+=", "-="), ("^=",), ("&=",), ("|=",), ("*=",))


@dataclass
class Inner:
    k: t.i16
    v: annotations.vec3

    def moved(self, by):
        return Inner(self.k ^ 5, self.v * by)

    def turn(self, times):
        for _ in range(times & 3):
            self.k += 1
            self.v = self.v.zxy


@dataclass
class Settings:
    dt: t.f32
    inner: Inner
    data: annotations.ndarray(t.i64, 1)


@dataclass
class Scope:
    """Names that may be used in a block.

    fixed     those that are not assigned to
    typed     those with an annotation, which keep their type
    gathered  those that are only changed, each by its operators
    """

    ints: list[str] = field(default_factory=list)
    floats: list[str] = field(default_factory=list)
    vectors: dict[str, str] = field(default_factory=dict)  # name -> what its components are
    structs: list[str] = field(default_factory=list)  # of Inner
    fixed: set[str] = field(default_factory=set)
    typed: set[str] = field(default_factory=set)
    gathered: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def copy(self) -> Scope:
        return Scope(
            list(self.ints),
            list(self.floats),
            dict(self.vectors),
            list(self.structs),
            set(self.fixed),
            set(self.typed),
            dict(self.gathered),
        )


@dataclass
class Place:
    """The position of statements.

    roles   what may be done to each array: "free", "read", ("own", its indices) or ("gather", operators)
    iterations       how often statements here run, about
    loops_are_tasks  at the top of the kernel, where loops of functions that are called would be parallel
    """

    roles: dict[str, object]
    depth: int = 0
    can_break: bool = False
    can_continue: bool = False
    iterations: int = 1
    in_function: bool = False
    loops_are_tasks: bool = False


class Draft:
    """Draws one program."""

    def __init__(self, draw, has_field: bool) -> None:
        self.draw, self.has_field = draw, has_field
        self.count = 0
        self.fuel = 0
        self.functions: list[
            tuple[str, str, list[str], bool]
        ] = []  # name, what it gives and takes, whether it loops
        self.drawing: list[str] = []  # functions that draw random numbers
        self.scope = Scope()
        self.place = Place({})

    # Choices

    def below(self, n: int) -> int:
        return self.draw(st.integers(0, n - 1))

    def pick(self, options):
        options = list(options)
        return options[self.below(len(options))]

    def chance(self, percent: int) -> bool:
        return self.below(100) < percent

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    @contextmanager
    def inside(self, **changes):
        outer = self.place
        self.place = Place(**{**vars(outer), "depth": outer.depth + 1, "loops_are_tasks": False, **changes})
        yield
        self.place = outer

    def variables(self, kind: str | None = None) -> list[str]:
        """Returns the variables that the program may assign to."""
        names = {
            "int": self.scope.ints,
            "float": self.scope.floats,
            None: self.scope.ints + self.scope.floats,
        }[kind]
        return [n for n in names if n not in self.scope.fixed and n not in self.scope.gathered]

    def new(self, kind: str) -> str:
        name = self.name("v" if kind == "int" else "w")
        (self.scope.ints if kind == "int" else self.scope.floats).append(name)
        return name

    def value(self, depth: int = 2) -> tuple[str, str]:
        """(kind, expression)."""
        return ("int", self.int(depth)) if self.chance(60) else ("float", self.float(depth))

    def free(self) -> dict[str, object]:
        names = [*ARRAYS, "st.data", *([FIELD] if self.has_field else [])]
        return dict.fromkeys(names, "free")


def code_of(name: str) -> str:
    """i, u or f: what an array holds."""
    if name in (FIELD, "st.data") or name.startswith("p"):
        return "i"
    return {"int": "i", "uint": "u", "float": "f"}[ARRAYS[name][0].kind]


def dims_of(name: str) -> int:
    return 2 if name == FIELD else 1 if name not in ARRAYS else ARRAYS[name][1]


def has_sums(role: object) -> bool:
    return isinstance(role, tuple) and role[0] == "gather"


def indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]
