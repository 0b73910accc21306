# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: resident loops that reduce small arrays agree with NumPy on several ranks. The laws are in resident.py."""

import pytest

from tests.distributed.ranks import run


@pytest.mark.parametrize("count", [1, 2, 3])
def test_resident_loops_exchange_with_every_rank(count, tmp_path):
    run(count, "-m", "tests.distributed.resident", tmp_path)
    assert sorted(each.name for each in tmp_path.iterdir()) == [str(rank) for rank in range(count)]
