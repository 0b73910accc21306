# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: when a rank ends, every other rank raises RankError within 5 s, and its process stays usable.

Ranks of two hosts are processes of this machine that take themselves for such ranks: they have no pidfd of each other.
"""

import pytest

import cuda_graphs as cg
from tests.distributed import deaths
from tests.distributed.ranks import run

LIMIT_S = 5
RUN_LIMIT_S = 60
HYDRA = ("-disable-auto-cleanup",)  # the other ranks go on


def ranks_here(wanted):
    """Return a number of ranks: as many as wanted, or a GPU for each."""
    is_host = cg.driver_info().kind == "host"
    return wanted if is_host else min(wanted, max(2, len(cg.Device.get_all_devices())))


def check(count, folder, wait, way, path="library", hosts=1, ending=-1):
    program = ("tests/distributed/deaths.py", folder, wait, way, path, hosts, ending)
    run(
        count,
        *("-m", "cuda_graphs.distributed", *program),
        fails=way != "leaving",
        limit=RUN_LIMIT_S,
        options=HYDRA,
    )
    ended = ending % count
    end = float((folder / str(ended)).read_text())
    for rank in set(range(count)) - {ended}:
        seconds, text = (folder / str(rank)).read_text().split("\n")
        assert text.startswith(f"rank {ended} has ended (process ")
        assert float(seconds) - end < LIMIT_S


@pytest.mark.parametrize("wait", deaths.OF_THE_LIBRARY)
def test_every_wait_for_a_killed_rank_raises(wait, tmp_path):
    check(ranks_here(3), tmp_path, wait, "killed")


@pytest.mark.parametrize("wait", deaths.DIRECT)
def test_every_wait_in_a_direct_reduction_for_a_killed_rank_raises(wait, tmp_path):
    check(ranks_here(3), tmp_path, wait, "killed", "direct")


@pytest.mark.parametrize("way", ["failing", "leaving"])
def test_every_other_rank_raises_in_whatever_way_a_rank_ends(way, tmp_path):
    check(ranks_here(3), tmp_path, "in_a_body", way)


@pytest.mark.parametrize("count", [2, 4])
def test_the_law_holds_for_other_numbers_of_ranks(count, tmp_path):
    check(count, tmp_path, "in_a_body", "killed")


@pytest.mark.parametrize("ending", [-1, 0])
@pytest.mark.parametrize("wait", ["in_a_body", "in_a_barrier", "in_no_call"])
def test_the_law_holds_for_ranks_of_two_hosts(wait, ending, tmp_path):
    check(ranks_here(4), tmp_path, wait, "killed", hosts=2, ending=ending)
