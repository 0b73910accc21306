# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the schedule of kept states is the best one for a known number of steps, and nearly so for an unknown one."""

from functools import lru_cache

import pytest

from cuda_graphs.kernels.gradients.revolve import forward_steps, position_to_give_up, split


@lru_cache(None)
def least(steps, states):
    """The fewest steps of all schedules: the next state is kept at the best of all places."""
    if steps <= 1:
        return 0
    if states == 1:
        return steps * (steps - 1) // 2
    return min(n + least(n, states) + least(steps - n, states - 1) for n in range(1, steps))


CASES = [(steps, states) for states in range(1, 9) for steps in range(1, 70)]


def test_no_schedule_runs_fewer_steps():
    assert all(forward_steps(*case) == least(*case) for case in CASES)


def test_the_next_state_is_kept_at_a_best_place():
    for steps, states in CASES:
        if steps > 1 and states > 1:
            n = split(steps, states)
            assert n + least(n, states) + least(steps - n, states - 1) == least(steps, states)
        elif steps > 1:
            assert split(steps, states) == steps - 1


@pytest.mark.parametrize(
    ("states", "allowed"), [(1, 1), (2, 1.14), (3, 1.07), (5, 1.05), (11, 1.03), (30, 1.002)]
)
def test_a_tape_of_any_length_runs_few_more_steps_than_the_best_schedule(states, allowed):
    positions = []
    for steps in range(2, 500):
        positions.append(steps - 2)
        if len(positions) > states:
            del positions[position_to_give_up(positions, steps)]
        assert positions[0] == 0
        ends = [*positions[1:], steps]
        intervals = enumerate(zip(positions, ends, strict=True))
        again = sum(forward_steps(end - begin, states - i) for i, (begin, end) in intervals)
        forward = positions[-1] + 1  # the steps up to the last kept state; `again` has those after it
        assert forward + again <= allowed * (1 + forward_steps(steps, states))
