# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws: debug mode names the first difference between ranks, the same on all ranks, and nothing is launched. It also
finds predicates that differ between ranks, when their graph runs.
"""

import pytest

from cuda_graphs.distributed.plans import Call, Plan, first_difference
from tests.distributed import differences
from tests.distributed.ranks import run

WORDS = {
    "another_shape": ("collective 1 differs", "shape (4,)", "shape (2,)"),
    "another_type": ("collective 1 differs", "type f8", "type f4"),
    "another_root": ("collective 2 differs", "root 0", "root {last}"),
    "another_root_in_a_kernel": ("collective 2 differs", "root 0", "root {last}", "differences.py"),
    "another_operation": ("collective 1 differs", "op 'sum'", "op 'max'"),
    "another_order": ("collective 1 differs", "rank 0 has all_reduce", "rank {last} has broadcast"),
    "a_missing_collective": ("collective 2 differs", "rank 0 has all_reduce", "rank {last} has none"),
    "a_send_without_a_receive": ("exchange 1 from rank 0 to rank {last}", "rank {last} has none"),
}


def errors_of(count, name, folder):
    """Return (is the array unchanged, error) of each rank."""
    run(count, "-m", "tests.distributed.differences", folder, name, limit=60)
    found = [(folder / str(rank)).read_text().split("\n", 1) for rank in range(count)]
    return [(unchanged == "True", text) for unchanged, text in found]


@pytest.mark.parametrize("name", [each.__name__ for each in differences.PLANS])
@pytest.mark.parametrize("count", [2, 3])
def test_a_difference_is_named_on_all_ranks_and_nothing_is_launched(count, name, tmp_path):
    found = errors_of(count, name, tmp_path)
    assert len({text for _, text in found}) == 1
    for unchanged, text in found:
        assert unchanged and text.startswith("nothing was launched: ")
        for words in WORDS[name]:
            assert words.format(last=count - 1) in text


@pytest.mark.parametrize("name", [each.__name__ for each in differences.PREDICATES])
@pytest.mark.parametrize("count", [2, 4])
def test_a_predicate_on_a_local_value_is_found_on_all_ranks(count, name, tmp_path):
    found = errors_of(count, name, tmp_path)
    assert len({text for _, text in found}) == 1
    assert "ranks are at different places of a graph: rank 0 is at" in found[0][1]
    assert f"rank {count - 1} at" in found[0][1] and "all_reduce" in found[0][1]


def plan(*calls, number=1):
    return Plan(
        number, tuple(Call(name, count, (count,), "f8", None, root, "p:1") for name, count, root in calls)
    )


def test_a_send_may_not_pass_a_collective():
    first = plan(("send", 3, 1), ("all_gather", 1, None))
    assert first_difference([first, plan(("recv", 3, 0), ("all_gather", 1, None))]) is None
    found = first_difference([first, plan(("all_gather", 1, None), ("recv", 3, 0))])
    assert found is not None and "after 1 collectives" in found


def test_launches_of_different_definitions_are_a_difference():
    found = first_difference([plan(("all_gather", 1, None)), plan(number=2)])
    assert found is not None and "no collectives" in found


def test_meetings_are_ordered_in_debug_mode(tmp_path):
    run(2, "-m", "tests.distributed.differences", "check", tmp_path, limit=60)
    assert [(tmp_path / str(rank)).read_text() for rank in range(2)] == ["()", "()"]
