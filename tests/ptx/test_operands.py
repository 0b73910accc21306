# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: an instruction with an operand too few, too many or of another kind is translated or refused, by ImageError."""

import contextlib
import re
from collections.abc import Iterator

import pytest

from cuda_graphs.hostdriver.ptx import loader
from cuda_graphs.hostdriver.ptx.errors import ImageError
from tests.ptx.rig import HEADER
from tests.ptx.table import all_rows

INSTRUCTION = re.compile(r"(?:(?<=[;{}\n])|^)\s*(?:@!?%\w+\s+)?([a-z][\w.]*)\s+([^;]*);")
OPERAND = re.compile(r"\{[^}]*\}|\[[^\]]*\]|\([^)]*\)|[^,\s][^,]*")
EVERY = 29  # of the cases, in the suite


def changed(operands: list[str]) -> Iterator[list[str]]:
    first, last = operands[:-1], operands[-1:]
    yield from (first, operands[1:], first[:-1], operands + last, operands + 2 * last)
    yield from (first + [other] for other in ("[%d]", "{%a,%a}", "{%d,%d,%d,%d}", "7", "1.5"))
    yield ["7", *operands[1:]]


def cases() -> Iterator[str]:
    """Each opcode of the table with each number of operands, in the kernel where it comes first."""
    seen = set()
    for row in all_rows():
        ptx = row.ptx.replace("{entry}", "victim")
        text = ptx if ".version" in ptx else HEADER + ptx
        for found in INSTRUCTION.finditer(text):
            operands = OPERAND.findall(found[2])
            if operands and (found[1], len(operands)) not in seen:
                seen.add((found[1], len(operands)))
                for other in changed(operands):
                    yield text[: found.start(2)] + ", ".join(other) + text[found.end(2) :]
    assert len(seen) > 1000


def translate(texts: list[str]) -> None:
    for text in texts:
        with contextlib.suppress(ImageError):
            loader.translate(text)


def test_wrong_operands_are_refused():
    translate(list(cases())[::EVERY])


@pytest.mark.nightly
def test_all_wrong_operands_are_refused():
    translate(list(cases()))
