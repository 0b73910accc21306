# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of equality, hash, weak references, repr, construction and pickling, over all classes that graphs are used with.

One object of each class and a twin of it: an object of the same class that stands for something else.
"""

import contextlib
import copy
import itertools
import pickle
import re
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import cuda_graphs as cg
from tests.graph.graph_specs import SPECS, Needs

PTX = b".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry f() { ret; }\n"
HEX = "0x[0-9a-f]+"


@dataclass
class Subject:
    """A function that makes two objects of a class in a definition, and the pattern of their repr."""

    make: Callable[[Any, Needs], tuple[Any, Any]]
    shown: str
    again: Callable[[Any], Any] | None = None
    """Another object of the same thing."""
    pickles: bool = False


def of_spec(spec):
    return Subject(lambda g, n: (spec.make(g, n), spec.make(g, n)), spec.repr, lambda o: by_handle(o))


def by_handle(node):
    """The object of a node by way of its definition."""
    return next(each for each in node.graph.nodes() if each.handle == node.handle)


# One way to make each class; the other specifications are other arguments.
NODES = ("empty", "kernel", "alloc", "free", "memset", "memcpy", "child", "callback", "record", "wait")
NODES += ("if", "if_else", "while", "switch")
SUBJECTS = {f"{spec.name} node": of_spec(spec) for spec in SPECS if spec.name in NODES} | {
    "definition": Subject(
        lambda g, n: (g, cg.GraphDef()), rf"<GraphDef handle={HEX}>", lambda g: g.join().graph
    ),
    "entry": Subject(
        lambda g, n: (g._entry, cg.GraphDef()._entry), "<GraphNode entry>", lambda e: e.graph._entry
    ),
    "condition": Subject(
        lambda g, n: (g.create_condition(), g.create_condition()), rf"<Condition handle={HEX}>"
    ),
    "device": Subject(
        lambda g, n: (n.device, object()), r"<Device 0 \(.+\)>", lambda d: cg.Device(d.device_id), True
    ),
    "stream": Subject(
        lambda g, n: (n.device.create_stream(), n.device.create_stream()),
        rf"<Stream handle={HEX} context={HEX}>",
        lambda s: cg.Stream.from_handle(s.handle),
    ),
    "event": Subject(
        lambda g, n: (n.device.create_event(), n.device.create_event()),
        rf"<Event handle={HEX}>",
        lambda e: cg.Event.from_handle(e.handle),
    ),
    "context": Subject(
        lambda g, n: (n.device.context, object()),
        rf"<Context handle={HEX} device=0>",
        lambda c: c.device.context,
    ),
    "buffer": Subject(
        lambda g, n: (n.device.allocate(64), n.device.allocate(64)),
        rf"<Buffer ptr={HEX} size=64>",
        lambda b: cg.Buffer.from_handle(b.handle, b.size),
    ),
    "launch config": Subject(
        lambda g, n: (cg.LaunchConfig(grid=1, block=2), cg.LaunchConfig(grid=2, block=2)),
        r"LaunchConfig\(grid=\(\d, 1, 1\), cluster=None, block=\(2, 1, 1\), shmem_size=0, is_cooperative=False\)",
        copy.copy,
        True,
    ),
    "object code": Subject(
        lambda g, n: (cg.ObjectCode.from_ptx(PTX), cg.ObjectCode.from_ptx(PTX)),
        rf"<ObjectCode handle=(not loaded|{HEX}) code_type=ptx>",
        pickles=True,
    ),
    "kernel": Subject(
        lambda g, n: (n.kernels.add, n.kernels.affine),
        rf"<Kernel add\(int\*, int, int\) handle={HEX}>",
        lambda k: cg.Kernel.from_handle(k.handle),
    ),
    "program": Subject(
        lambda g, n: (cg.Program(""), cg.Program("")),
        r"<Program backend='NVRTC' name='program'>",
        pickles=True,
    ),
    "graph": Subject(
        lambda g, n: (cg.GraphDef().instantiate(), cg.GraphDef().instantiate()), rf"<Graph handle={HEX}>"
    ),
}
COMPARED = [
    name for name in SUBJECTS if name not in ("program", "graph")
]  # the 25 classes that graphs are used with


@pytest.fixture(params=SUBJECTS)
def subject(request):
    return SUBJECTS[request.param]


@pytest.fixture
def pair(subject, needs):
    return subject.make(needs.definition, needs)


@pytest.fixture
def firsts(needs):
    """One object of each class, all in one definition."""
    return {name: each.make(needs.definition, needs)[0] for name, each in SUBJECTS.items()}


def test_the_table_has_the_25_classes_and_every_class_of_a_node():
    assert len(COMPARED) == 25
    made = {spec.cls for spec in SPECS if spec.name in NODES}
    public = {getattr(cg, name) for name in cg.__all__}
    nodes = {c for c in public if isinstance(c, type) and issubclass(c, cg.GraphNode)}
    assert nodes - made == {cg.GraphNode, cg.ConditionalNode}


def test_object_can_be_referred_to_weakly(pair):
    one = pair[0]
    assert weakref.ref(one)() is one
    assert weakref.WeakValueDictionary(key=one)["key"] is one
    assert weakref.WeakKeyDictionary({one: 1})[one] == 1
    assert one in weakref.WeakSet([one])


def test_a_weak_reference_ends_with_the_object(needs):
    for name, subject in SUBJECTS.items():
        one, _ = subject.make(needs.definition, needs)
        alive = weakref.ref(one)
        del one, _
        kept = name in ("definition", "device", "context", "kernel")  # by `needs`
        assert (alive() is not None) == kept, name


def test_object_is_a_key_and_a_member(pair):
    one, twin = pair
    assert {one: 1, twin: 2}[one] == 1
    assert one in {one}
    assert len({one, twin}) == 2


def test_hash_of_an_object_stays(pair):
    assert len({hash(pair[0]) for _ in range(10)}) == 1


def test_a_twin_is_another(pair):
    one, twin = pair
    assert one is not twin
    assert one != twin
    assert not one == twin  # noqa: SIM201 - the operator itself is the subject
    assert hash(one) != hash(twin)


def test_object_equals_itself_and_nothing_of_another_kind(pair):
    one = pair[0]
    assert one == one
    assert not one != one  # noqa: SIM202 - the operator itself is the subject
    for stranger in (None, "string", 0, 1.5, object(), type(one), getattr(one, "handle", "none")):
        assert one != stranger
        assert stranger != one
    assert type(one).__eq__(one, "string") is NotImplemented


@pytest.mark.parametrize("name", [name for name, each in SUBJECTS.items() if each.again])
def test_another_object_of_the_same_thing_is_equal_to_it(name, needs):
    one, _ = SUBJECTS[name].make(needs.definition, needs)
    again = SUBJECTS[name].again(one)
    assert again == one
    assert hash(again) == hash(one)
    assert len({again, one}) == 1


def test_no_two_classes_have_equal_objects_or_hashes(firsts):
    pairs = list(itertools.combinations(COMPARED, 2))
    assert len(pairs) == 300
    for a, b in pairs:
        assert firsts[a] != firsts[b], (a, b)
        assert firsts[b] != firsts[a], (a, b)
        assert hash(firsts[a]) != hash(firsts[b]), (a, b)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_every_way_to_make_a_node_gives_its_repr(spec, needs):
    assert re.fullmatch(spec.repr, repr(spec.make(needs.definition, needs)))


def test_the_repr_says_what_it_is(subject, pair):
    assert re.fullmatch(subject.shown, repr(pair[0]))
    if not hasattr(pair[0], "draw"):  # str() of a graph is its tree (test_draw.py)
        assert str(pair[0]) == repr(pair[0])


def test_numbers_in_a_repr_are_those_of_the_object(needs):
    g = needs.definition
    memory = g.alloc(1024)
    assert repr(memory) == f"<AllocNode handle={memory.handle:#x} dptr={memory.dptr:#x} size=1024>"
    child = memory.embed(needs.child)
    assert repr(child) == f"<ChildGraphNode handle={child.handle:#x} child={child.child_graph.handle:#x}>"
    loop = g.while_loop(needs.condition())
    assert repr(loop) == f"<WhileNode handle={loop.handle:#x} condition={loop.condition.handle:#x}>"
    assert repr(g) == f"<GraphDef handle={g.handle:#x}>"


def test_object_is_pickled_only_where_it_may_leave_the_process(subject, pair):
    if subject.pickles:
        assert type(pickle.loads(pickle.dumps(pair[0]))) is type(pair[0])
        return
    for take in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=f"cannot pickle '.*{type(pair[0]).__name__}' object"):
            take(pair[0])


HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE, which classes written in Python have and those of Cython have not
PUBLIC = [cls for cls in (getattr(cg, name) for name in cg.__all__) if isinstance(cls, type)]
COMPILED = [cls for cls in PUBLIC if not cls.__flags__ & HEAP_TYPE] + [
    cg.KernelAttributes,
    cg.KernelOccupancy,
]
# A builder has words of its own (tests/capture).
FACTORY_ONLY = [cls for cls in COMPILED if cls not in (cg.GraphDef, cg.LaunchConfig, cg.GraphBuilder)]


def test_the_compiled_classes_are_found():
    assert {cg.GraphDef, cg.KernelNode, cg.ExecutableKernelNode, cg.Parameter, cg.Stream, cg.NDArray} < set(
        COMPILED
    )


@pytest.mark.parametrize("cls", FACTORY_ONLY)
@pytest.mark.parametrize("arguments", [(), (1,), (None, "x")])
def test_classes_made_by_factories_cannot_be_made_directly(cls, arguments):
    with pytest.raises(RuntimeError, match=r"directly|no public constructor"):
        cls(*arguments)


@pytest.mark.parametrize("cls", COMPILED)
def test_object_made_past_its_constructor_harms_nothing(cls, needs):
    bare = cls.__new__(cls)
    uses = [lambda name=name: getattr(bare, name) for name in dir(cls) if not name.startswith("__")]
    uses += [lambda name=name: getattr(bare, name)() for name in dir(cls) if not name.startswith("__")]
    uses += [
        lambda: repr(bare),
        lambda: hash(bare),
        lambda: bare == cls.__new__(cls),
        lambda: needs.definition.embed(bare),
    ]
    uses += [
        lambda: needs.definition.launch(cg.LaunchConfig(grid=1, block=1), bare),
        lambda: needs.definition.join(bare),
    ]
    uses += [lambda: needs.definition.if_then(bare), lambda: needs.definition.record_event(bare)]
    uses += [lambda: needs.definition.memset(bare, 0, 1), lambda: cg.GraphDef().instantiate().launch(bare)]
    uses += [
        lambda: needs.definition.memset(needs.target, bare, 1),
        lambda: needs.definition.memcpy(needs.target, needs.source, bare),
        lambda: needs.definition.launch(cg.LaunchConfig(grid=1, block=1), needs.kernels.add, 0, 1, bare),
        lambda: cg.GraphDef().instantiate().update(bare),
        lambda: cg.GraphBuilder.join(bare, bare),
    ]
    for use in uses:
        with contextlib.suppress(
            RuntimeError, TypeError, ValueError, AttributeError, ImportError, cg.CUDAError
        ):
            use()
    assert needs.definition.nodes() == set()


def test_handles_are_ints(firsts):
    for name, one in firsts.items():
        if name == "entry":
            assert one.handle is None
        elif hasattr(type(one), "handle"):
            assert isinstance(one.handle, int), name
            assert one.handle, name


def test_identity_survives_only_while_an_object_lives(device):
    g = cg.GraphDef()
    handle = g.join().handle
    (first,) = g.nodes()
    assert first.handle == handle
    assert g.nodes() == {first}


def test_a_new_node_at_a_used_address_is_not_the_old_one(device):
    g = cg.GraphDef()
    old = []
    for _ in range(50):
        node = g.join()
        old.append(node)
        node.destroy()
    new = g.join()
    assert g.nodes() == {new}
    assert new not in old
    assert all(not node.is_valid for node in old)
    assert len({hash(node) for node in [*old, new]}) == 51


def test_hash_and_equality_stay_when_what_they_are_of_is_destroyed(needs):
    g = needs.definition
    loop, child, plain = g.while_loop(needs.condition()), g.embed(needs.child), [g.join(), g.join()]
    inner = loop.body.if_then(loop.body.create_condition(0))
    graphs = [loop.body, inner.then, child.child_graph]
    nodes = [loop, child, inner, *plain, *child.child_graph.nodes(), loop.body.join(), inner.then.join()]
    things = [*graphs, *nodes, *(graph._entry for graph in graphs)]
    twins = [graph._entry.graph for graph in graphs]
    hashes = [hash(thing) for thing in things]
    places = {thing: place for place, thing in enumerate(things)}
    for node in (loop, child, *plain):
        node.destroy()
    assert [hash(thing) for thing in things] == hashes
    assert [places[thing] for thing in things] == list(range(len(things)))
    assert twins == graphs
    assert len({*things, g._entry, g}) == len(things) + 2


def test_every_class_of_graphs_has_room_for_weak_references():
    classes = [c for c in (getattr(cg, name) for name in cg.__all__) if isinstance(c, type)]
    ours = {c for c in classes if c.__module__.startswith("cuda_graphs.graph")}
    assert ours >= {cg.GraphDef, cg.GraphNode, cg.Condition, cg.Graph, cg.GraphAllocOptions, cg.GraphBuilder}
    values = {cg.GraphNodeType, cg.LoopCount, cg.Span, cg.CapturedCall}  # an enumeration, and tuples
    assert {c for c in ours if not c.__weakrefoffset__} == values & ours
