# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable
from typing import Any

from .declarations import Number
from .function_types import FloatFunction

CONSTANTS: tuple[str, ...]
e: float
inf: float
nan: float
pi: float

def clamp(x: Number, low: Number, high: Number) -> Number: ...
def mix(a: Number, b: Number, t: float) -> Number: ...
def frexp(x: float) -> tuple[float, int]: ...
def mod(x: Number, y: Number) -> Number: ...
def step(edge: Number, x: Number) -> Number: ...
def smoothstep(low: float, high: float, x: Number) -> Number: ...

fract: FloatFunction
degrees: FloatFunction
radians: FloatFunction
normal_number: Callable[..., Any]
integer_below: Callable[..., Any]
long_integer_below: Callable[..., Any]
