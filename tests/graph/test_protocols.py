# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of equality, hash, weak references and repr for definitions, nodes, conditions and executables."""

import itertools
import re
import weakref

import pytest

import cuda_graphs as cg
from tests.graph.graph_specs import SPECS


@pytest.fixture
def objects(needs):
    """One of each class and a twin of it, by name."""
    g = needs.definition
    made = {spec.name: (spec.make(g, needs), spec.make(g, needs)) for spec in SPECS}
    made["definition"] = (g, cg.GraphDef())
    made["entry"] = (g._entry, cg.GraphDef()._entry)
    made["condition"] = (g.create_condition(), g.create_condition())
    made["graph"] = (cg.GraphDef().instantiate(), cg.GraphDef().instantiate())
    return made


def test_an_object_equals_itself_and_nothing_else(objects):
    everything = [o for pair in objects.values() for o in pair]
    for a, b in itertools.combinations(everything, 2):
        assert a != b
        assert hash(a) != hash(b)
    for o in everything:
        assert o == o
        assert o is not None
        assert o != "string"
        assert o != o.handle
        assert hash(o) == hash(o)


def test_every_object_can_be_referred_to_weakly(objects):
    for o in itertools.chain(*objects.values()):
        assert weakref.ref(o)() is o
        assert weakref.WeakValueDictionary({1: o})[1] is o
        assert weakref.WeakKeyDictionary({o: 1})[o] == 1
        assert o in weakref.WeakSet([o])


def test_two_objects_of_one_definition_are_equal(needs):
    node = needs.definition.join()
    again = node.graph
    assert again is not needs.definition
    assert again == needs.definition
    assert hash(again) == hash(needs.definition)
    assert len({again, needs.definition}) == 1


def test_two_objects_of_one_condition_are_equal(needs):
    condition = needs.definition.create_condition(1)
    loop = needs.definition.while_loop(condition)
    assert loop.condition == condition
    assert hash(loop.condition) == hash(condition)


def test_definitions_conditions_and_executables_say_what_they_are(objects):
    assert re.fullmatch("<GraphDef handle=0x[0-9a-f]+>", repr(objects["definition"][0]))
    assert re.fullmatch("<Condition handle=0x[0-9a-f]+>", repr(objects["condition"][0]))
    assert re.fullmatch("<Graph handle=0x[0-9a-f]+>", repr(objects["graph"][0]))


@pytest.mark.parametrize("cls", [cg.Condition, cg.Graph, cg.GraphNode, cg.ConditionalNode])
def test_what_others_make_cannot_be_made_directly(cls):
    with pytest.raises(RuntimeError, match=r"direct"):
        cls()


def test_handles_are_ints(objects):
    for name, (o, _) in objects.items():
        assert o.handle is None if name == "entry" else isinstance(o.handle, int) and o.handle


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
