# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: translated for this CPU, every instruction of the table gives what exact arithmetic and NumPy give.

The rows run on the image loader itself, without a driver. A family is a few modules of many kernels; where one does not
load, its rows are loaded one by one, so that the refused instruction is named.
"""

import contextlib
import re

import numpy as np
import pytest

from cuda_graphs.hostdriver.ptx.errors import ImageError
from cuda_graphs.hostdriver.ptx.lowering import table as instructions
from cuda_graphs.hostdriver.ptx.ops import load_all
from tests.ptx import rig, table

ROWS = list(enumerate(table.all_rows()))
CHUNK = 30
CHUNKS = [
    rows[at : at + CHUNK]
    for family in table.FAMILIES
    for rows in [[(k, row) for k, row in ROWS if row.family == family]]
    for at in range(0, len(rows), CHUNK)
]


def failure(program, number, row):
    """Returns the mistake in the results of a row, or None."""
    found = row.output()
    arrays = [*row.inputs, *[np.zeros(1, np.uint8)] * (3 - len(row.inputs)), found]
    program.launch(row.entry(number), table.GRID, table.BLOCK, *arrays, np.uint32(table.COUNT))
    return table.complaint(row, found)


NOT_YET = table.NOT_YET["host"]


def failures(rows):
    """Row -> what is wrong with it."""
    try:
        program = rig.load(table.module_text(rows))
    except ImageError as refused:
        if len(rows) == 1:
            return {rows[0][1].id: f"{rows[0][1].id}: {refused}"}
        return {name: text for row in rows for name, text in failures([row]).items()}
    return {row.id: line for number, row in rows if (line := failure(program, number, row))}


@pytest.mark.parametrize("rows", CHUNKS, ids=[f"{rows[0][1].family}-from-{rows[0][1].id}" for rows in CHUNKS])
def test_instructions_give_what_exact_arithmetic_gives(rows):
    found = failures(rows)
    wrong = [text for name, text in found.items() if name not in NOT_YET]
    assert not wrong, f"{len(wrong)} of {len(rows)} rows\n" + "\n".join(wrong)
    right = {row.id for _, row in rows} & NOT_YET.keys() - found.keys()
    assert not right, "these are right now: take them off NOT_YET"


# Instructions of the translator that no row has, and where they are tested or why not.
OUTSIDE = {
    "trap": "ends the launch: test_programs.py",
    "brkpt": "ends the launch, as trap does",
    "discard": "leaves memory undefined",
    "applypriority": "a hint to a cache that the host does not have",
    "mbarrier": "an object of shared memory: test_asynchronous.py",
    "cp": "copies to shared memory: test_asynchronous.py",
    "mapa": "clusters are launched by the driver: tests/conformance/test_blocks_together.py",
    "getctarank": "as mapa",
    "ldu:f": "ld:f under another name",
}
STATEMENT = re.compile(r"(?:@!?%\w+\s+)?([a-z]\w*(?:(?:\.|::)\w+)*)")


def test_every_instruction_that_the_translator_knows_is_in_the_table():
    load_all()
    seen = set()
    for number, row in ROWS:
        for statement in re.split(r"[;{}\n]", row.kernel(number)):
            found = STATEMENT.match(statement.strip())
            with contextlib.suppress(instructions.Refused):
                seen.add(found and instructions.decode(found[1])[0].name)
    assert instructions.ROWS.keys() - seen == OUTSIDE.keys()
