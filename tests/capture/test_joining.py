# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: split and join are done wholly or not at all, and what was joined is closed."""

import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE

join = cg.GraphBuilder.join


@pytest.mark.parametrize("arguments", [(), ("one",), ("one", object()), (object(), "one"), ("one", None)])
def test_the_types_are_looked_at_before_the_count(arguments, capturing):
    builders = [capturing if a == "one" else a for a in arguments]
    only_builders = all(isinstance(b, cg.GraphBuilder) for b in builders)
    text = (
        r"join\(\) takes two or more GraphBuilders" if only_builders else r"join\(\) takes GraphBuilders, got"
    )
    with pytest.raises(ValueError if only_builders else TypeError, match=text):
        join(*builders)
    assert capturing.is_building


def test_the_same_builder_twice_is_refused_and_nothing_is_closed(capturing):
    _, fork = capturing.split(2)
    with pytest.raises(ValueError, match="each GraphBuilder once"):
        join(capturing, fork, fork)
    assert fork.is_building and capturing.is_building
    join(capturing, fork)


@pytest.mark.parametrize("state", ["closed", "not_started", "ended"])
def test_builder_that_is_not_building_is_refused_before_anything_is_changed(state, capturing, device):
    _, fork = capturing.split(2)
    other = device.create_graph_builder()
    if state == "ended":
        other.begin_building().end_building()
    if state == "closed":
        other.close()
    text = "has been closed" if state == "closed" else r"join\(\) needs builders that are capturing"
    with pytest.raises(RuntimeError, match=text):
        join(capturing, fork, other)
    assert fork.is_building and capturing.is_building
    join(fork, capturing)


def test_builders_of_two_captures_do_not_join_and_both_go_on(capturing, device):
    other = device.create_graph_builder().begin_building()
    forks = capturing.split(2)[1], other.split(2)[1]
    for pair in [(capturing, other), (capturing, forks[1]), forks]:
        with pytest.raises(cg.CaptureError) as caught:
            join(*pair)
        assert caught.value.code == 902
    assert all(b.is_building for b in (capturing, other, *forks))
    join(capturing, forks[0]).end_building()
    join(other, forks[1]).end_building()


def test_the_order_of_the_arguments_does_not_matter(capturing):
    _, a, b = capturing.split(3)
    assert join(a, b, capturing) is capturing
    assert (a.is_closed, b.is_closed) == (True, True)
    assert capturing.end_building().complete().handle


def test_a_joined_builder_says_that_it_is_closed(capturing):
    _, fork = capturing.split(2)
    join(capturing, fork)
    for call in (
        fork.complete,
        fork.end_building,
        lambda: fork.split(2),
        lambda: fork.callback(print),
        fork.begin_building,
    ):
        with pytest.raises(RuntimeError, match=r"^The GraphBuilder has been closed"):
            call()
    assert fork.stream is None
    capturing.end_building()
    with pytest.raises(RuntimeError, match=r"^The GraphBuilder has been closed"):
        fork.complete()


def test_a_fork_with_work_that_is_not_joined_makes_the_end_fail(capturing, kernels):
    _, fork = capturing.split(2)  # this line
    cg.launch(fork, ONE, kernels.nothing)
    with pytest.raises(cg.CaptureError) as caught:
        capturing.end_building()
    assert caught.value.name == "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"
    assert "not joined: 1 builder that split() made at" in caught.value.capture
    assert "test_joining.py" in caught.value.capture
    assert capturing.state == "ended"
    with pytest.raises(RuntimeError, match="The graph is unfinished"):
        capturing.complete()
    with pytest.raises(RuntimeError, match="The graph is unfinished"):
        capturing.graph_definition  # noqa: B018
    with pytest.raises(RuntimeError, match="the capture of this forked GraphBuilder has ended"):
        cg.launch(fork, ONE, kernels.nothing)
    fork.close()
    capturing.close()


def test_a_closed_fork_with_work_makes_the_end_fail_too(capturing, kernels):
    _, fork = capturing.split(2)
    cg.launch(fork, ONE, kernels.nothing)
    fork.close()
    with pytest.raises(cg.CaptureError, match="UNJOINED"):
        capturing.end_building()
    capturing.close()


def test_a_fork_of_a_body_is_joined_before_the_body_ends(capturing, kernels, pinned, stream):
    x = pinned([0, 0])
    body = capturing.if_then(capturing.create_condition(1)).begin_building()
    _, fork = body.split(2)
    cg.launch(body, ONE, kernels.add, x.ctypes.data, 1, 3)
    cg.launch(fork, ONE, kernels.add, x.ctypes.data + 4, 1, 4)
    with pytest.raises(cg.CaptureError, match="UNJOINED"):
        body.end_building()
    assert body.is_building  # it goes on: there is something left to do
    join(fork, body).end_building()
    capturing.end_building().complete().launch(stream)
    stream.sync()
    assert list(x) == [3, 4]


def test_a_body_with_forks_can_be_given_up(capturing, kernels):
    body = capturing.if_then(capturing.create_condition(1)).begin_building()
    _, fork = body.split(2)
    cg.launch(fork, ONE, kernels.nothing)
    body.close()
    fork.close()
    capturing.end_building()
    assert capturing.complete().handle


@pytest.mark.parametrize("count", [1, 0, -3])
def test_a_count_below_two_is_refused(count, capturing):
    with pytest.raises(ValueError, match=f"^count must be 2 or more, got {count}"):
        capturing.split(count)


@pytest.mark.parametrize("count", ["2", 2.0, None])
def test_a_count_is_an_int(count, capturing):
    with pytest.raises(TypeError, match="count must be an int"):
        capturing.split(count)
