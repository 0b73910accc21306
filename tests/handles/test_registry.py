# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a raw handle resolves to the live object that we made of it, and never to one that is gone."""

import threading

import pytest

import cuda_graphs as cg

MAKERS = {
    "Stream": (lambda d, i: d.create_stream(options={"priority": -(i % 2)}), cg.Stream.from_handle),
    "Event": (lambda d, i: d.create_event({"timing_enabled": bool(i % 2)}), cg.Event.from_handle),
}


def mark(obj):
    return -obj.priority if isinstance(obj, cg.Stream) else int(obj.is_timing_enabled)


@pytest.mark.parametrize("kind", MAKERS)
def test_a_recycled_raw_value_means_its_new_object(device, kind):
    make, find = MAKERS[kind]
    seen = set()
    for i in range(200):
        one = make(device, i)
        seen.add(one.handle)
        assert mark(find(one.handle)) == mark(one) == i % 2
    if len(seen) == 200:
        pytest.skip("this driver used no raw value twice")


@pytest.mark.parametrize("kind", MAKERS)
def test_registry_is_right_while_threads_make_and_drop_objects(device, kind):
    make, find = MAKERS[kind]
    failures = []

    def work(start):
        try:
            own = cg.Device(0)
            own.set_current()
            for i in range(start, start + 300):
                one = make(own, i)
                found = [find(one.handle) for _ in range(3)]
                assert all(f == one and mark(f) == i % 2 for f in found)
                del one
                assert mark(found[0]) == i % 2
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert failures == []


def test_a_closed_wrapper_leaves_the_others(device):
    event = device.create_event({"timing_enabled": True})
    again = cg.Event.from_handle(event.handle)
    event.close()
    assert again.is_timing_enabled is True
    assert again.is_done


def test_an_unknown_event_is_borrowed_with_nothing_known_of_it(device):
    stranger = cg.Event.from_handle(0x1230)
    assert (stranger.is_timing_enabled, stranger.is_blocking_sync) == (False, False)
    assert (stranger.device, stranger.context) == (None, None)
