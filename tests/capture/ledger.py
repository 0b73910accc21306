# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Reads from an error the lines between which code outside of this package spoiled a capture."""

import re
from pathlib import Path
from typing import NamedTuple

import cuda_graphs as cg

BETWEEN = re.compile(
    r"spoiled by code outside of cuda_graphs, after (\w+) at (\S+):(\d+) \[.*?\](?:, which was still captured,)? "
    r"and before (.*?) at (\S+):(\d+) \[.*?\], which detected it"
)


class Between(NamedTuple):
    after: str
    first: int  # its line
    before: str
    second: int


def between(error, file):
    """The two operations, both in `file`, between which it happened."""
    text = error.capture if isinstance(error, cg.CUDAError) else str(error)
    found = BETWEEN.search(text)
    assert found, text
    after, one, first, before, two, second = found.groups()
    assert Path(one).name == Path(two).name == Path(file).name
    return Between(after, int(first), before, int(second))


def line_of(text, file):
    """The number of the line that ends so."""
    lines = Path(file).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(text))
