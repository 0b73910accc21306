# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: collectives agree with NumPy on 1, 2, 3 and 4 ranks. The laws are in laws.py; all ranks run them together.

Ranks outnumber the cores of small machines. A hang fails: each run has a time limit.
"""

import pytest

from cuda_graphs.compiler.codegen.ptx import ptx_exchange
from tests.distributed import laws
from tests.distributed.ranks import run


def test_the_plate_of_the_example_comes_to_rest_on_four_ranks():
    output = run(4, "examples/distributed_jacobi.py", "--size", 20)
    assert "NumPy agrees" in output and output.count("sweeps in one launch") == 4


@pytest.mark.parametrize("count", [2, 4])
def test_conjugate_gradients_on_several_ranks_equal_those_of_one_rank(count):
    output = run(count, "examples/distributed_cg.py", "--size", 8)
    assert "one rank agrees" in output and output.count("iterations in one launch") == count


@pytest.mark.parametrize("count", [3, 4])
def test_ranks_that_sum_their_gradients_train_as_numpy_on_all_samples(count):
    output = run(count, "examples/data_parallel.py", "--steps", 40)
    assert "NumPy agrees" in output and output.count("steps in one launch") == count


def test_loops_with_collectives_read_no_memory_that_nothing_has_written(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_GRAPHS_HOST_CHECK", "init")  # the host driver also fills new memory with -1
    names = [
        name for name in laws.LAWS if name.startswith(("the_host_starts_passes", "a_loop_with_collectives"))
    ]
    assert len(names) == 2
    run(1, "-m", "tests.distributed.laws", "library", tmp_path, *names)
    assert (tmp_path / "0").read_text().split() == names


@pytest.mark.parametrize("way", ["library", "direct"])
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_every_law_holds_on_every_rank(count, way, tmp_path):
    run(count, "-m", "tests.distributed.laws", way, tmp_path)
    for rank in range(count):
        held = (tmp_path / str(rank)).read_text().split()
        assert sorted(held) == sorted(laws.laws_of_this_driver(count))


def test_direct_reductions_agree_with_numpy_on_more_ranks_than_the_code_serves_at_a_time(tmp_path):
    name, ranks = "rounds_of_different_sizes_and_types_do_not_mix", ptx_exchange.TIER + 1
    run(ranks, "-m", "tests.distributed.laws", "direct", tmp_path, name)
    assert [(tmp_path / str(rank)).read_text() for rank in range(ranks)] == [name] * ranks
