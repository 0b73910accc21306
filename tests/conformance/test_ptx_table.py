# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: an instruction gives what exact arithmetic gives, through the public API, on every driver.

On a GPU every row runs. On the host driver every seventh does: tests/ptx/test_table.py has held its image loader to all
of them, and translating them twice would be most of the time of the suite.
"""

import pytest

import cuda_graphs as cg
from tests.conformance import ptx_differential
from tests.ptx import table

ROWS = list(enumerate(table.all_rows()))
STEP = 7


@pytest.fixture
def bench(device):
    return ptx_differential.Bench(device)


@pytest.mark.parametrize("family", table.FAMILIES)
def test_instructions_give_what_exact_arithmetic_gives(family, bench):
    rows = [(number, row) for number, row in ROWS if row.family == family]
    if cg.driver_info().kind == "host":
        rows = rows[::STEP]
    wrong = []
    driver = cg.driver_info().kind
    for part in ptx_differential.chunks(rows):
        for row, found in ptx_differential.results(part, bench):
            text = f"{row.id}: {found}" if isinstance(found, str) else table.complaint(row, found)
            if text and row.id not in table.NOT_YET.get(driver, {}):
                wrong.append(text)
    assert not wrong, f"{len(wrong)} of {len(rows)} rows\n" + "\n".join(wrong)
