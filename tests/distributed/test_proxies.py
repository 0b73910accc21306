# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: where a body refuses a collective on one rank, the hosts of all ranks run the loops of graph kernels."""

import pytest

from tests.distributed.proxies import REASON
from tests.distributed.ranks import run


@pytest.mark.parametrize(("count", "which"), [(1, "all"), (2, "all"), (3, "all"), (2, "last"), (4, "last")])
def test_loops_run_on_the_host_of_every_rank_if_a_body_refuses_on_one(count, which, tmp_path):
    run(count, "-m", "tests.distributed.proxies", tmp_path, which, limit=60)
    first = 0 if which == "all" else count - 1
    for rank in range(count):
        assert (tmp_path / str(rank)).read_text() == f"{REASON} of rank {first}"
