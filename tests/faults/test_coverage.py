# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: every public operation of graphs and of the objects round them is in a scenario or is an operation of its own,
but for those that call no driver."""

import ast
from pathlib import Path

import pytest

import cuda_graphs as cg
from cuda_graphs.graph.executable import executable_nodes
from cuda_graphs.graph.nodes import node_kinds
from tests.faults import captured_operations  # noqa: F401  (it fills OPERATIONS)
from tests.faults.operations import OPERATIONS
from tests.faults.rig import SCENARIOS

# Members that only return a stored value, or that another name here covers.
CALLS_NOTHING = {
    "memory_type", "peer_access", "grid", "block", "shmem_size", "reads", "writes", "width", "height", "pitch", "depth",
    "dst", "src", "dst_pitch", "src_pitch", "dst_height", "src_height", "condition", "cond_type", "kind",
    "is_join_required", "is_timing_enabled", "is_blocking_sync", "is_ipc_enabled", "context", "owner", "default",
    "deallocate", "shape", "dtype", "ndim", "strides", "itemsize", "element_shape", "nbytes",
}  # fmt: skip

SOURCES = ("definitions", "captures", "operations", "captured_operations")


def classes():
    kinds = [thing for module in (node_kinds, executable_nodes) for thing in vars(module).values()]
    nodes = [
        kind for kind in kinds if isinstance(kind, type) and kind.__module__.startswith("cuda_graphs.graph")
    ]
    return [
        *nodes, cg.GraphDef, cg.GraphNode, cg.Graph, cg.GraphBuilder, cg.GraphMemoryResource, cg.Parameter, cg.Buffer,
        cg.Stream, cg.Event, cg.TaskFlow,
    ]  # fmt: skip


def driven():
    """Every name that is looked up in the sources of scenarios and operations."""
    folder = Path(__file__).parent
    trees = [ast.parse((folder / f"{name}.py").read_text()) for name in SOURCES]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return names | {
        node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def public(kind):
    return {name for name in dir(kind) if not name.startswith("_")}


@pytest.mark.parametrize(
    "kind", sorted(set(classes()), key=lambda kind: kind.__name__), ids=lambda kind: kind.__name__
)
def test_every_public_operation_is_driven(kind):
    assert public(kind) - CALLS_NOTHING <= driven()


def test_no_name_is_left_out_for_nothing():
    assert set().union(*map(public, classes())) - driven() == CALLS_NOTHING


def test_scenarios_are_enough():
    assert len(SCENARIOS) >= 15
    assert len(OPERATIONS) >= 80
