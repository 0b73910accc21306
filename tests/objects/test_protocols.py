# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws over all classes of the object layer: construction, closing, equality, hash, repr, weak references."""

import re
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import cuda_graphs as cg

PTX = b".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry f() { ret; }\n.visible .entry g() { ret; }\n"


@dataclass
class Case:
    """A function that makes two different objects of a class, and the properties of the class."""

    make: Callable[[Any], tuple[Any, Any]]
    shown: str
    """pattern of the whole repr"""
    closes: bool = False
    factory_only: bool = True
    again: Callable[[Any], Any] | None = None
    """Another wrapper of the same thing."""


def codes():
    return cg.ObjectCode.from_ptx(PTX), cg.ObjectCode.from_ptx(PTX)


def kernels(device):
    code = codes()[0]
    return code.get_kernel("f"), code.get_kernel("g")


HEX = "0x[0-9a-f]+"
CASES = {
    "Device": Case(
        lambda d: (d, object()),
        r"<Device 0 \(.+\)>",
        factory_only=False,
        again=lambda d: cg.Device(d.device_id),
    ),
    "Context": Case(
        lambda d: (d.context, object()), rf"<Context handle={HEX} device=0>", again=lambda c: c.device.context
    ),
    "Stream": Case(
        lambda d: (d.create_stream(), d.create_stream()),
        rf"<Stream handle={HEX} context={HEX}>",
        closes=True,
        again=lambda s: cg.Stream.from_handle(s.handle),
    ),
    "Event": Case(
        lambda d: (d.create_event(), d.create_event()),
        rf"<Event handle={HEX}>",
        closes=True,
        again=lambda e: cg.Event.from_handle(e.handle),
    ),
    "Buffer": Case(
        lambda d: (d.allocate(16), d.allocate(16)),
        rf"<Buffer ptr={HEX} size=16>",
        closes=True,
        again=lambda b: cg.Buffer.from_handle(b.handle, b.size),
    ),
    "Kernel": Case(
        kernels, rf"<Kernel \w+\(.*\) handle={HEX}>", again=lambda k: cg.Kernel.from_handle(k.handle)
    ),
    "ObjectCode": Case(lambda d: codes(), r"<ObjectCode handle=not loaded code_type=ptx>"),
    "LaunchConfig": Case(
        lambda d: (cg.LaunchConfig(grid=1, block=2), cg.LaunchConfig(grid=2, block=1)),
        r"LaunchConfig\(grid=\(1, 1, 1\), cluster=None, block=\(2, 1, 1\), shmem_size=0, is_cooperative=False\)",
        factory_only=False,
        again=lambda c: cg.LaunchConfig(grid=1, block=2),
    ),
    "Program": Case(
        lambda d: (cg.Program(""), cg.Program("")),
        r"<Program backend='NVRTC' name='program'>",
        closes=True,
        factory_only=False,
    ),
}
CLOSING = [name for name, case in CASES.items() if case.closes]


AGAIN = [name for name, case in CASES.items() if case.again is not None]


@pytest.fixture(params=CASES)
def name(request):
    return request.param


@pytest.fixture
def pair(device, name):
    return CASES[name].make(device)


@pytest.mark.parametrize("kind", [name for name, case in CASES.items() if case.factory_only])
def test_a_class_with_factories_names_them_when_called(kind):
    with pytest.raises(RuntimeError, match=f"^{kind} has no public constructor: use "):
        getattr(cg, kind)()


def test_an_object_is_equal_to_itself_and_to_nothing_else(pair):
    one, other = pair
    assert one == one
    assert not one != one  # noqa: SIM202 - the operator itself is the subject
    assert one != other
    assert one is not other
    for stranger in (None, "string", 0, getattr(one, "handle", object())):
        assert one != stranger
        assert stranger != one
    assert type(one).__eq__(one, "string") is NotImplemented


@pytest.mark.parametrize("kind", AGAIN)
def test_another_wrapper_is_equal_and_has_the_same_hash(device, kind):
    one, _ = CASES[kind].make(device)
    again = CASES[kind].again(one)
    assert again == one
    assert hash(again) == hash(one)


def test_object_can_be_in_dicts_sets_and_weak_collections(pair):
    one, other = pair
    assert hash(one) == hash(one)
    assert {one: 1}[one] == 1
    assert one in {one}
    assert len({one, other}) == 2
    assert weakref.ref(one)() is one
    assert weakref.WeakKeyDictionary({one: 2})[one] == 2
    assert one in weakref.WeakSet([one])
    assert weakref.WeakValueDictionary(key=one)["key"] is one


def test_the_repr_is_as_promised(pair, name):
    assert re.fullmatch(CASES[name].shown, repr(pair[0]))


def test_classes_are_unequal_to_each_other(device):
    objects = [case.make(device)[0] for case in CASES.values()]
    for i, a in enumerate(objects):
        for b in objects[i + 1 :]:
            assert a != b
            assert hash(a) != hash(b)


# Closing: what may still be asked, and what says so.
USES = {
    "Stream": {
        "sync": lambda s: s.sync(),
        "record": lambda s: s.record(),
        "wait": lambda s: s.wait(s),
        "context": lambda s: s.context,
        "device": lambda s: s.device,
        "priority": lambda s: s.priority,
        "is_nonblocking": lambda s: s.is_nonblocking,
        "__cuda_stream__": lambda s: s.__cuda_stream__(),
    },
    "Event": {
        "sync": lambda e: e.sync(),
        "is_done": lambda e: e.is_done,
        "minus": lambda e: e - e,
        "is_timing_enabled": lambda e: e.is_timing_enabled,
        "is_blocking_sync": lambda e: e.is_blocking_sync,
        "is_ipc_enabled": lambda e: e.is_ipc_enabled,
        "context": lambda e: e.context,
        "device": lambda e: e.device,
        "record": lambda e: cg.Device().create_stream().record(e),
        "wait": lambda e: cg.Device().create_stream().wait(e),
    },
    "Buffer": {
        "copy_to": lambda b: b.copy_to(b, stream=cg.LEGACY_DEFAULT_STREAM),
        "copy_from": lambda b: b.copy_from(b, stream=cg.LEGACY_DEFAULT_STREAM),
        "fill": lambda b: b.fill(0, stream=cg.LEGACY_DEFAULT_STREAM),
        "is_managed": lambda b: b.is_managed,
        "device_id": lambda b: b.device_id,
        "__dlpack__": lambda b: b.__dlpack__(),
    },
    "Program": {"compile": lambda p: p.compile()},
}


@pytest.mark.parametrize("kind", CLOSING)
def test_closing_twice_is_once_and_leaves_a_calm_object(device, kind):
    one, _ = CASES[kind].make(device)
    before = hash(one)
    assert one.is_closed is False
    one.close()
    one.close()
    assert one.is_closed is True
    assert bool(one) is True
    assert getattr(one, "handle", 0) == 0
    assert hash(one) == before
    assert one == one
    assert isinstance(repr(one), str)


@pytest.mark.parametrize(("kind", "use"), [(kind, use) for kind in CLOSING for use in USES[kind]])
def test_using_what_is_closed_says_so(device, kind, use):
    one, _ = CASES[kind].make(device)
    one.close()
    with pytest.raises(RuntimeError, match=f"^{kind} has been closed"):
        USES[kind][use](one)


def test_closed_objects_are_not_equal_to_each_other(device):
    for kind in CLOSING:
        one, other = CASES[kind].make(device)
        one.close()
        other.close()
        assert one != other
