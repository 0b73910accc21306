# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a loaded definition has each property of the nodes that were saved: sizes, configurations, data of edges, flags
of events, functions, and parameters with their types and defaults."""

from dataclasses import dataclass

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.graph.nodes import node_kinds as kinds
from tests.graph_rig import ONE

SIZES = {
    kinds.KernelNode: ("grid", "block", "shmem_size"),
    kinds.MemsetNode: ("value", "element_size", "width", "height", "pitch"),
    kinds.MemcpyNode: ("width", "height", "depth", "dst_pitch", "src_pitch"),
    kinds.AllocNode: ("bytesize", "memory_type", "device_id", "peer_access", "shape", "dtype"),
    kinds.SwitchNode: ("branches",),
}
# The kinds that the zoo does not have are in tests/saving/test_loading.py, with bodies in bodies.
ELSEWHERE = {kinds.IfNode}


@dataclass
class Inner:
    mass: cg.f64
    number: cg.i32


@dataclass
class Point:
    place: cg.vec3
    inner: Inner


@cg.kernel
def advance(points: cg.Array1[Point], sums: cg.Array1[cg.f64]):
    for i in points:
        points[i].place[1] += 2 * cg.f32(points[i].inner.mass)
        sums[i] = cg.f64(points[i].place[1])


NUMBERS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "f32", "f64", "bool")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "saved.cgg"


def children(node):
    """The graphs inside a node."""
    if isinstance(node, kinds.ChildGraphNode):
        return [node.child_graph]
    found = [getattr(node, name) for name in ("body", "then", "else_") if hasattr(node, name)]
    return found or list(getattr(node, "branches", ()))


def all_nodes(graph):
    """The nodes of a graph and of the graphs inside, sorted by their details."""
    for node in sorted(graph.nodes(), key=lambda each: str(details(each))):
        yield node
        for inner in children(node):
            yield from all_nodes(inner)


def details(node):
    names = SIZES.get(type(node), ())
    values = [getattr(node, name) for name in names if name != "branches"]
    return (type(node).__name__, node.name, node.source, len(children(node)), *values)


def test_sizes_of_nodes_travel_from_every_kind(device, zoo, path):
    zoo.save(path)
    loaded = cg.load(path, callbacks={"report": print})
    saved = [details(node) for node in all_nodes(zoo.g)]
    assert [details(node) for node in all_nodes(loaded)] == saved
    every = {
        each for each in vars(kinds).values() if isinstance(each, type) and each.__name__.endswith("Node")
    }
    assert {type(node) for node in all_nodes(zoo.g)} == every - {kinds.ConditionalNode} - ELSEWHERE


@pytest.mark.parametrize("timing", [True, False])
@pytest.mark.parametrize("blocking", [True, False])
def test_events_keep_their_flags_and_are_shared_as_before(device, stream, path, timing, blocking):
    options = cg.EventOptions(timing_enabled=timing, blocking_sync=blocking)
    first, second = device.create_event(options), device.create_event()
    g = cg.GraphDef()
    g.record_event(first, name="a").wait_event(first, name="b").record_event(second, name="c")
    g.save(path)
    loaded = cg.load(path)
    events = {node.name: node.event for node in loaded.nodes()}
    assert events["a"] == events["b"] != events["c"]
    assert (events["a"].is_timing_enabled, events["a"].is_blocking_sync) == (timing, blocking)
    assert (events["c"].is_timing_enabled, events["c"].is_blocking_sync) == (False, False)
    assert {each.handle for each in events.values()}.isdisjoint({first.handle, second.handle})
    loaded.instantiate().launch(stream)
    stream.sync()
    assert all(each.is_done for each in events.values())


@pytest.mark.parametrize(
    "data", [cg.EdgeData(), cg.EdgeData.programmatic(), cg.EdgeData.programmatic("launch_order")]
)
def test_data_of_edges_travel(device, kernels, path, data):
    g = cg.GraphDef()
    first = g.launch(ONE, kernels.nothing, name="first")
    first.launch(ONE, kernels.nothing, edge=data, name="second")
    g.save(path)
    definition = cg.load(path)
    loaded = {node.name: node for node in definition.nodes()}
    assert list(loaded["second"].pred) == [loaded["first"]]
    assert definition.edge_data(loaded["first"], loaded["second"]) == data


@pytest.mark.parametrize(
    "config",
    [
        cg.LaunchConfig(grid=(3, 2, 1), block=(4, 1, 2), shmem_size=64),
        cg.LaunchConfig(grid=2, block=32, is_cooperative=True),
    ],
    ids=["three axes", "cooperative"],
)
def test_configurations_of_launches_travel(device, kernels, pinned, stream, path, config):
    counts = pinned(1)
    g = cg.GraphDef()
    g.launch(config, kernels.tally, counts)
    g.save(path, outputs={"counts": counts})
    loaded = cg.load(path)
    (node,) = loaded.nodes()
    assert node.config == config
    out = pinned([0])
    loaded.instantiate().launch(stream, counts=out)
    stream.sync()
    assert out[0] == np.prod(config.grid) * np.prod(config.block)


@pytest.mark.parametrize("name", [*NUMBERS, "bf16"])
def test_types_and_defaults_of_numbers_travel(device, path, name):
    default = True if name == "bool" else 0.5 if "f" in name else 3
    g = cg.GraphDef()
    g.param("given", getattr(cg, name), default=default)
    g.param("missing", getattr(cg, name))
    g.save(path)
    params = cg.load(path).instantiate().params
    wanted = g.instantiate().params
    assert list(params) == ["given", "missing"]
    assert [(each.type, each.value) for each in params.values()] == [
        (each.type, each.value) for each in wanted.values()
    ]
    assert params["given"].value == default and params["missing"].value is None


@pytest.mark.parametrize("name", [*NUMBERS, "bf16"])
@pytest.mark.parametrize("inner", [None, "vec3", "mat2"])
def test_types_of_elements_travel(device, stream, path, name, inner):
    dtype = getattr(cg, name) if inner is None else getattr(cg, inner)[getattr(cg, name)]
    x, y, out = (cg.ndarray(dtype, (2, 3)) for _ in range(3))
    x.fill(1)
    device.sync()
    g = cg.GraphDef()
    g.memcpy(y, x)
    g.save(path, inputs={"x": x}, outputs={"y": y})
    loaded = cg.load(path)
    definition = cg.GraphDef()
    wanted = definition.param("x", cg.types.ndarray(dtype, ndim=2))
    assert loaded.inputs["x"].type == loaded.outputs["y"].type == wanted.type
    loaded.instantiate().launch(stream, x=x, y=out)
    stream.sync()
    assert out.to_numpy().tobytes() == x.to_numpy().tobytes()


# Copies in executables take memory of a pool for memory of a pool only. On the host driver the default of an input of
# the device is in managed memory, as its arrays are.
@pytest.mark.parametrize("memory", ["pinned", "managed", pytest.param("device", marks=pytest.mark.cuda)])
def test_buffers_are_inputs_and_outputs_of_bytes(device, stream, path, memory):
    resources = {"pinned": cg.PinnedMemoryResource, "managed": lambda: cg.ManagedMemoryResource(device)}
    resource = device.memory_resource if memory == "device" else resources[memory]()
    given, found, one, other = (resource.allocate(16) for _ in range(4))
    g = cg.GraphDef()
    g.memcpy(found, given)
    g.save(path, inputs={"given": given}, outputs={"found": found})
    loaded = cg.load(path)
    assert loaded.inputs["given"].type == "ndarray(u8, ndim=1)"
    graph, bytes_of_one = loaded.instantiate(), one.view(cg.u8, (16,))
    bytes_of_one.from_numpy(np.arange(16, dtype=np.uint8))
    device.sync()
    graph.launch(stream, given=one, found=other)
    stream.sync()
    bytes_of_one.fill(0)
    device.sync()
    graph.launch(stream, given=other, found=bytes_of_one)
    stream.sync()
    assert bytes_of_one.to_numpy().tolist() == list(range(16))
    with pytest.raises(ValueError, match="given"):
        graph.launch(stream, given=resource.allocate(8))
    floats = cg.GraphDef()
    floats.memset(floats.param("x", cg.Array1[cg.f32]), 0.0)
    with pytest.raises(TypeError, match="takes elements of f32"):
        floats.instantiate().launch(stream, x=other)


@pytest.mark.parametrize("layout", ["soa", "aos"])
def test_contents_of_arrays_of_structures_travel(device, stream, path, layout):
    points, sums = cg.ndarray(Point, 4, layout=layout), cg.ndarray(cg.f64, 4)
    points.place.fill(2)
    points.inner.mass.from_numpy(np.arange(4))
    g = cg.GraphDef()
    g.call(advance, points, sums).call(advance, points, sums)
    g.save(path, outputs={"sums": sums}, include=[points])
    points.place.fill(0)
    cg.load(path).instantiate().launch(stream, sums=sums)
    stream.sync()
    assert sums.to_numpy().tolist() == [2.0 + 2 * 2 * mass for mass in range(4)]
    with pytest.raises(TypeError, match=r"is an array of structures.*name it in include.* \(place, inner\)"):
        g.save(path, inputs={"points": points})


@pytest.mark.parametrize("default", [float("inf"), float("-inf"), float("nan"), -0.0, 5e-324])
def test_defaults_that_json_does_not_have_travel(device, path, default):
    g = cg.GraphDef()
    g.param("x", cg.f64, default=default)
    g.save(path)
    found = cg.load(path).instantiate().params["x"].value
    assert np.float64(found).tobytes() == np.float64(default).tobytes()


def test_functions_are_bound_by_name_and_called_in_the_order_of_the_graph(device, stream, path):
    def last():
        raise AssertionError("the function of the process that saved")

    g = cg.GraphDef()
    g.callback(last, name="first").callback(last)
    inner = cg.GraphDef()
    inner.callback(last, name="inside")
    g.embed(inner)
    g.save(path)
    calls = []
    bound = {name: lambda name=name: calls.append(name) for name in ("first", "last", "inside")}
    graph = cg.load(path, callbacks=bound).instantiate()
    for _ in range(2):
        graph.launch(stream)
    stream.sync()
    assert sorted(calls) == sorted(2 * list(bound))
    assert calls.index("first") < calls.index("last")


def test_pictures_of_a_loaded_definition_are_those_of_the_saved_one(zoo, path, tmp_path):
    zoo.save(path)
    loaded = cg.load(path, callbacks={"report": print})

    def shapes(definition, name):
        definition.draw(tmp_path / name)
        return (tmp_path / name).read_text().count("<rect"), (tmp_path / name).read_text().count("<path")

    assert shapes(loaded, "loaded.svg") == shapes(zoo.g, "saved.svg") != (0, 0)
