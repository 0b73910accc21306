# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the parabolas of a GPU's special function unit (cuda_graphs/hostdriver/ptx/lowering/interpolator.py) from
what it gives.

    CUDA_GRAPHS_DRIVER=cuda python -m tests.conformance.interpolator_fit [--write]

A result is a truncated sum, so each argument of a part gives bounds for c0 + c1 * rest + c2 * square(rest). The fit
takes the integers c1 and c2 near a least squares fit that leave the most room for c0; if no c0 is left, the model is
wrong and the program says so. The digits beyond the unit's 26 that all c0 of a function share show how the function
rounds. Prints whether the table of this tree is the fitted one; --write writes it.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import cuda_graphs as cg
from cuda_graphs.hostdriver.ptx.lowering import interpolator, interpolator_table
from tests.conformance.test_interpolator import INSTRUCTIONS, ONE, TWO, Unit

RESTS = 1 << 17
REACH = 3  # how far from the least squares fit c1 and c2 may be
HEAD = f'''# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The parabolas of a GPU's special function unit: c0 c1 c2 for every part of a function's domain (interpolator.py).

Found by `python -m {__spec__.name} --write` from what an H200 gives for all arguments.
"""

TABLES = {{
'''


@dataclass(frozen=True)
class Part:
    """Arguments of one parabola, and the bounds of it there: low <= value < high, in the unit of the table."""

    rest: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def but_first(self) -> "Part":
        return Part(self.rest[1:], self.low[1:], self.high[1:])


def square(rest: np.ndarray) -> np.ndarray:
    """The sum of the partial products of a weight of 2^19 and more; the sums of interpolator.py, done bit by bit."""
    bits = [rest >> i & 1 for i in range(17)]
    total = sum(bits[i] << 2 * i for i in range(10, 17))
    total = total + sum(
        bits[i] * bits[j] << i + j + 1 for i in range(17) for j in range(i + 1, 17) if i + j >= 18
    )
    return total >> 19


def fit(part: Part) -> tuple[int, int, int, int]:
    """(least c0, greatest c0, c1, c2)."""
    curve = square(part.rest)
    model = np.stack([np.ones(len(curve)), part.rest, curve], 1)
    near = np.linalg.lstsq(model, (part.low + part.high) / 2, rcond=None)[0]
    best = (0, -1, 0, 0)
    for second in range(round(near[2]) - REACH, round(near[2]) + REACH + 1):
        low, high = part.low - second * curve, part.high - second * curve
        for first in range(round(near[1]) - REACH, round(near[1]) + REACH + 1):
            least = int((low - first * part.rest).max())
            greatest = int((high - first * part.rest).min()) - 1
            if greatest - least > best[1] - best[0]:
                best = (least, greatest, first, second)
    if best[1] < best[0]:
        raise SystemExit("no parabola is possible: the unit of this GPU is another one")
    return best


def table(parts: Iterator[Part], quantum: int) -> list[tuple[int, int, int]]:
    """Rows whose c0 are multiples of the quantum and one number, the least that is possible."""
    found = [fit(part) for part in parts]
    for rounding in range(quantum):
        starts = [least + (rounding - least) % quantum for least, *_ in found]
        if all(start <= greatest for start, (_, greatest, *_) in zip(starts, found, strict=True)):
            return [(start, *row[2:]) for start, row in zip(starts, found, strict=True)]
    raise SystemExit("the parts of a function round in different ways: the unit of this GPU is another one")


class Machine:
    def __init__(self) -> None:
        device = cg.Device()
        device.set_current()
        self.unit = Unit(device)
        self.instructions = {instruction.opcode: instruction for instruction in INSTRUCTIONS}

    def __call__(self, opcode: str, words: np.ndarray) -> np.ndarray:
        found = self.unit.results(self.instructions[opcode], [words.astype(np.uint32)])
        return found.view(np.float32).astype(np.float64)


def units(value: np.ndarray, power: int) -> np.ndarray:
    return np.ldexp(value, power).astype(np.int64)


def with_fixed_digits(
    machine: Machine, name: str, octaves: tuple, parts: int, digits: int, drop: int
) -> Iterator[Part]:
    """Yields the parts of a function whose results are `digits` of the sum, without its last `drop`."""
    for first in octaves:
        rest = np.arange(RESTS if parts == 64 else RESTS // 2)
        for part in range(parts):
            found = machine(f"{name}.approx.ftz.f32", first + part * len(rest) + rest)
            low = units(found, digits) << drop
            whole = Part(rest * (RESTS // len(rest)), low, low + (1 << drop))
            yield whole.but_first() if (name, first, part) == ("rsqrt", ONE, 0) else whole  # 1 is exact


def truncated(rest: np.ndarray, value: np.ndarray, power: int, least: int) -> Part:
    """Returns the part of results that are sums in units of 2^-power, truncated to `least` units and the digits of a
    float."""
    low = units(value, power)
    _, exponent = np.frexp(value)
    return Part(rest, low, low + np.maximum(units(np.ldexp(1.0, exponent - 24), power), least))


def logarithm(machine: Machine) -> Iterator[Part]:
    rest = np.arange(RESTS)
    for part in range(64):
        found = truncated(rest, machine("lg2.approx.ftz.f32", ONE + part * RESTS + rest), 38, 4)
        yield found.but_first() if part == 0 else found  # 1 is exact


def sine(machine: Machine) -> Iterator[Part]:
    for part in range(64):
        turns = (part * RESTS + np.arange(RESTS) + 0.5) / 2.0**25
        words = (turns * 2 * np.pi).astype(np.float32).view(np.uint32)
        exact = words.view(np.float32).astype(np.float64) * interpolator.ONE_TURN
        cut = (exact.view(np.int64) & interpolator.TRUNCATE).view(np.float64)
        place = units(cut, 25)
        inside = place >> 17 == part
        value = machine("sin.approx.ftz.f32", words[inside])
        yield truncated((place & RESTS - 1)[inside], value, 38, 2)


def tangent(machine: Machine) -> Iterator[Part]:
    rest = np.arange(RESTS)
    for number, (_, drop) in enumerate(interpolator.OCTAVES):
        first = interpolator.FIRST_OCTAVE + number << 23
        for part in range((1 << 23 - drop) // RESTS):
            yield truncated(rest, machine("tanh.approx.f32", first + (part * RESTS + rest << drop)), 39, 1)


def found_on(machine: Machine) -> dict[str, list[tuple[int, int, int]]]:
    return {
        "rcp": table(with_fixed_digits(machine, "rcp", (ONE,), 128, 24, 16), 1 << 14),
        "rsqrt": table(with_fixed_digits(machine, "rsqrt", (TWO, ONE), 64, 24, 16), 1 << 14),
        "sqrt": table(with_fixed_digits(machine, "sqrt", (TWO, ONE), 64, 23, 17), 1 << 15),
        "ex2": table(with_fixed_digits(machine, "ex2", (ONE,), 64, 22, 15), 1 << 13),
        "lg2": table(logarithm(machine), 1 << 12),
        "sin": table(sine(machine), 1 << 12),
        "tanh": table(tangent(machine), 1 << 15),
    }


def text(tables: dict[str, list[tuple[int, int, int]]]) -> str:
    found = HEAD
    for name, rows in tables.items():
        line = ""
        found += f'    "{name}": """\n'
        for row in rows:
            words = " ".join(map(str, row)) + ("" if row is rows[-1] else ", ")
            if len(line + words) > 108:
                found += line.rstrip() + "\n"
                line = ""
            line += words
        found += line + '\n""",\n'
    return found + "}\n"


def main() -> int:
    tables = found_on(Machine())
    differing = [name for name, rows in tables.items() if rows != interpolator.rows(name)]
    print(
        f"{sum(map(len, tables.values()))} parabolas of {len(tables)} functions; other than the table's: {differing}"
    )
    if "--write" in sys.argv:
        with open(interpolator_table.__file__, "w") as out:
            out.write(text(tables))
    return len(differing)


if __name__ == "__main__":
    sys.exit(main())
