# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Every row of the differential table gives on the host what NumPy gives."""

from collections import defaultdict

import numpy as np
import pytest

from tests.ptx import table
from tests.ptx.rig import load

FAMILIES: dict[str, list[table.Row]] = defaultdict(list)
for found in table.rows():
    FAMILIES[table.family(found)].append(found)
SIZE = 24
CHUNKS = [
    pytest.param(rows[i : i + SIZE], id=f"{family}-{i}-{rows[i].name.replace(' ', '_')}")
    for family, rows in FAMILIES.items()
    for i in range(0, len(rows), SIZE)
]


@pytest.mark.parametrize("rows", CHUNKS)
def test_instructions_give_what_numpy_gives(rows):
    program = load(table.module_text(rows))
    failures = []
    for row in rows:
        out, scratch = row.output(), np.zeros(16 * row.count, np.uint8)
        blocks = -(-row.count // table.BLOCK)
        program.launch(row.kernel, blocks, table.BLOCK, out, scratch, *row.arrays(), np.uint32(row.count))
        try:
            row.check(out)
        except AssertionError as error:
            failures.append(str(error))
    assert not failures, "\n".join(failures)
