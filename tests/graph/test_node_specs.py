# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws that hold for every kind of node, however it is made."""

import gc
import re
import weakref

import pytest

import cuda_graphs as cg
from cuda_graphs.graph.profiling.watch import WeakDefinition
from tests.graph.graph_specs import SPECS, properties


def test_a_node_has_the_class_and_the_driver_type_of_its_kind(spec, needs):
    node = spec.make(needs.definition, needs)
    assert type(node) is spec.cls
    assert node.type.name == f"CU_GRAPH_NODE_TYPE_{spec.type_name}"
    assert isinstance(node, cg.GraphNode)


def test_properties_of_a_node_are_what_it_was_made_with(spec, needs):
    node = spec.make(needs.definition, needs)
    expected = spec.expected(needs)
    assert {name: getattr(node, name) for name in expected} == expected


def test_properties_repr_and_hash_of_a_node_outlive_its_object(spec, needs):
    node = spec.make(needs.definition, needs)
    before, old = properties(node), id(node)
    said, hashed = repr(node), hash(node)
    alive = weakref.ref(node)
    del node
    gc.collect()
    assert alive() is None
    (again,) = (n for n in needs.definition.nodes() if type(n) is spec.cls)
    assert properties(again) == before, old
    assert (repr(again), hash(again)) == (said, hashed)


def test_node_is_found_once_in_nodes_as_the_same_object(spec, needs):
    node = spec.make(needs.definition, needs)
    assert [n for n in needs.definition.nodes() if n is node] == [node]


def test_node_is_found_through_its_neighbours_as_the_same_object(spec, needs):
    first = needs.definition.join()
    node = spec.make(first, needs)
    last = node.join()
    assert node in last.pred
    assert next(iter(last.pred)) is node
    if spec.name != "free":  # that one hangs on its alloc node
        assert list(first.succ) == [node]


def test_graph_of_a_node_is_the_definition_it_was_added_to(spec, needs):
    assert spec.make(needs.definition, needs).graph == needs.definition


def test_handle_of_a_node_is_an_int_that_is_not_zero(spec, needs):
    node = spec.make(needs.definition, needs)
    assert isinstance(node.handle, int)
    assert node.handle != 0


def test_repr_of_a_node_names_its_kind(spec, needs):
    assert re.fullmatch(spec.repr, repr(spec.make(needs.definition, needs)))


def test_graph_of_a_node_can_be_instantiated(spec, needs):
    spec.make(needs.definition, needs)
    assert isinstance(needs.definition.instantiate(), cg.Graph)


def test_node_cannot_be_made_directly(spec):
    with pytest.raises(RuntimeError, match=f"{spec.cls.__name__} has no public constructor"):
        spec.cls()


def test_an_object_made_past_the_constructor_is_refused_and_does_not_crash(spec):
    node = spec.cls.__new__(spec.cls)
    for use in (lambda: node.handle, lambda: node.join(), lambda: node.pred.add(node), lambda: repr(node)):
        with pytest.raises(RuntimeError, match="was not made by cuda_graphs"):
            use()


def test_a_definition_made_past_the_constructor_has_no_weak_reference():
    with pytest.raises(RuntimeError, match="was not made by cuda_graphs"):
        WeakDefinition(cg.GraphDef.__new__(cg.GraphDef))


def test_every_kind_has_a_specification():
    kinds = {
        cls
        for cls in (getattr(cg, name) for name in cg.__all__)
        if isinstance(cls, type) and issubclass(cls, cg.GraphNode) and cls is not cg.GraphNode
    }
    assert {s.cls for s in SPECS} | {cg.ConditionalNode} == kinds
    assert len(kinds) == 15
