# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a loaded definition has the nodes, edges, names, sources and results of the one that was saved."""

import numpy as np
import pytest

import cuda_graphs as cg
from tests.saving.files import from_other_driver, without_code
from tests.saving.graphs import COUNTS, expected, launch

GIVEN = np.linspace(-2, 3, 8, dtype=np.float32)
Floats = cg.types.ndarray(cg.f32, ndim=1)
Ints = cg.types.ndarray(cg.i32, ndim=1)


@cg.kernel
def negate(x: Floats):
    for i in x:
        x[i] = -x[i]


@cg.kernel
def two_loops(x: Floats, y: Floats):
    for i in x:
        y[i] = 2 * x[i]
    for i in range(1, x.shape[0]):
        x[i] = y[i] + y[i - 1]


@cg.kernel(graph=True)
def until_small(x: Floats):
    while cg.graph_while(x[0] > 1.0):
        for i in x:
            x[i] *= 0.5


@cg.kernel
def count(at: cg.i32, counts: Ints):
    counts[at] += 1


@cg.kernel
def shift(x: Floats, by: cg.f32):
    for i in x:
        x[i] += by


@pytest.fixture
def loaded(zoo, tmp_path):
    zoo.save(tmp_path / "zoo.cgg")
    return cg.load(tmp_path / "zoo.cgg", callbacks={"report": lambda: None})


def test_every_kind_of_node_travels(zoo, loaded):
    assert {type(node) for node in loaded.nodes()} == {type(node) for node in zoo.g.nodes()}
    y, counts, graph = launch(loaded, GIVEN)
    assert np.allclose(y, expected(GIVEN)) and counts == COUNTS
    assert graph.iterations["loop"].iterations == COUNTS[0]


def test_a_loaded_definition_has_the_tree_of_the_saved_one(zoo, loaded):
    def shape(graph):
        return [line.split("  [")[0].split("  (")[0] for line in str(graph).splitlines()]

    assert [line for line in shape(loaded) if "parameters" not in line] == [
        line for line in shape(zoo.g) if "parameters" not in line
    ]


def test_names_and_source_lines_travel(zoo, loaded):
    def labels(graph):
        return sorted((node.name, node.source) for node in graph.nodes())

    assert labels(loaded) == labels(zoo.g)


def test_check_finds_nothing_more_in_a_loaded_definition(zoo, loaded):
    assert [each.kind for each in loaded.check()] == [each.kind for each in zoo.g.check()]


def test_numbers_are_parameters_with_their_defaults(loaded):
    y, _, graph = launch(loaded, GIVEN, factor=5.0)
    assert np.allclose(y, expected(GIVEN, 5.0))
    assert set(graph.params) == {"unused", "factor", "x", "y", "counts", "marks"}


def test_inputs_and_outputs_are_named(loaded):
    assert list(loaded.inputs) == ["x"] and list(loaded.outputs) == ["y", "counts", "marks"]
    assert loaded.inputs["x"].type == "ndarray(f32, ndim=1)" and loaded.inputs["x"].default.shape == (8,)


def test_an_array_of_another_shape_is_refused(loaded):
    graph, stream = loaded.instantiate(), cg.Device().create_stream()
    with pytest.raises(ValueError, match="y"):
        graph.launch(stream, y=cg.ndarray(cg.f32, 3))


@pytest.mark.parametrize("shape", [(6, 8), (8, 3), (2, 2)])
def test_arrays_that_only_copies_and_fills_use_keep_their_shape(device, stream, tmp_path, shape):
    x, y, z = (cg.zeros((4, 6), cg.f32) for _ in range(3))
    g = cg.GraphDef()
    g.memcpy(y, x)
    g.memset(z, 1.0)
    g.save(tmp_path / "copy.cgg", inputs={"x": x}, outputs={"y": y, "z": z})
    graph = cg.load(tmp_path / "copy.cgg").instantiate()
    values = np.arange(24, dtype=np.float32).reshape(4, 6)
    arrays = {"x": cg.array(values), "y": cg.zeros((4, 6), cg.f32), "z": cg.zeros((4, 6), cg.f32)}
    for name in arrays:
        with pytest.raises(ValueError, match=f"{name}.*made for the shape of the default"):
            graph.launch(stream, **(arrays | {name: cg.zeros(shape, cg.f32)}))
    graph.launch(stream, **arrays)
    stream.sync()
    assert (arrays["y"].to_numpy() == values).all() and (arrays["z"].to_numpy() == 1).all()


def test_profiles_work_on_a_loaded_definition(loaded, driver):
    if driver.kind != "host":
        pytest.importorskip("cupti", reason="on a GPU a profile needs cupti-python")
    profile = loaded.instantiate().profile(cg.Device().create_stream(), 2)
    assert "scaled" in str(profile)
    if driver.kind == "host":
        rows = {row.name: row.runs for row in profile.graphs[0].rows}
        assert (rows["scaled"], rows["copy"], rows["report"]) == (2, 2, 2)


def test_updates_work_on_a_loaded_definition(loaded):
    (node,) = (node for node in loaded.nodes() if node.name == "scaled")
    assert node.args[1] is not None and node.block == (32, 1, 1)
    graph, stream = loaded.instantiate(), cg.Device().create_stream()
    (first,) = (node for node in loaded.nodes() if node.name == "memset" and node.width == 1)
    first.update(value=b"\1\0\0\0")
    assert graph.update(loaded) is None
    graph.launch(stream)
    stream.sync()
    assert graph.iterations["loop"].iterations == 4  # the loop begins at 1


def test_the_copy_of_a_file_is_a_fresh_definition(zoo, tmp_path):
    zoo.save(tmp_path / "zoo.cgg")
    first, second = (cg.load(tmp_path / "zoo.cgg", callbacks={"report": print}) for _ in range(2))
    difference = first.diff(second)
    assert first != second and not difference.added and not difference.removed


def test_equal_definitions_give_equal_files(zoo, tmp_path):
    for name in "ab":
        zoo.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("kernel_count", [1, 3])
def test_code_for_gpus_gives_the_results_of_code_for_the_cpu(device, stream, tmp_path, kernel_count):
    if cg.driver_info().kind != "host":
        pytest.skip("the host driver runs both codes of a file")
    x, y = cg.array(np.arange(300, dtype=np.float32)), cg.ndarray(cg.f32, 300)
    g = cg.GraphDef()
    place = g
    for _ in range(kernel_count):
        place = place.call(two_loops, x, y)
    results = []
    for code in ("native", "ptx"):
        g.save(tmp_path / code, inputs={"x": x}, outputs={"y": y}, include=[x])
        without_code(tmp_path / code, code)
        from_other_driver(tmp_path / code)
        out = cg.ndarray(cg.f32, 300)
        cg.load(tmp_path / code).instantiate().launch(stream, y=out)
        stream.sync()
        results.append(out.to_numpy())
    assert results[0].any() and (results[0] == results[1]).all()


def test_loops_of_graph_kernels_travel(device, stream, tmp_path):
    x = cg.array(np.array([40.0, 8.0], np.float32))
    g = cg.GraphDef()
    g.call(until_small, x)
    g.save(tmp_path / "loop.cgg", inputs={"x": x})
    given = cg.array(np.array([24.0, 16.0], np.float32))
    cg.load(tmp_path / "loop.cgg").instantiate().launch(stream, x=given)
    stream.sync()
    assert given.to_numpy().tolist() == [0.75, 0.5]


def test_conditionals_in_bodies_of_conditionals_travel(device, stream, tmp_path):
    counts, marks = cg.array([0, 0], cg.i32), cg.array([0, 0, 0], cg.i32)
    results = cg.ndarray(cg.i32, 3)
    g = cg.GraphDef()
    outer = g.memset(counts, 0).while_loop(lambda c: c[0] < 3, args=(counts,))
    inner = outer.body.call(count, 0, counts).while_loop(lambda c: c[1] < 2 * c[0], args=(counts,))
    inner.body.call(count, 1, counts).if_then(lambda c: c[1] == 5, args=(counts,)).then.memset(marks[:1], 5)
    _, second = inner.switch(outer.body.create_condition(1), 2).branches
    last = second.if_else(lambda c: c[0] == 3, args=(counts,))
    last.then.memset(marks[1:2], 3)
    last.else_.memset(marks[2:], 4)
    outer.memcpy(results, marks)
    g.save(tmp_path / "nested.cgg", outputs={"results": results, "counts": counts}, include=[marks])
    found, made = cg.ndarray(cg.i32, 3), cg.ndarray(cg.i32, 2)
    cg.load(tmp_path / "nested.cgg").instantiate().launch(stream, results=found, counts=made)
    stream.sync()
    assert found.to_numpy().tolist() == [5, 3, 4] and made.to_numpy().tolist() == [3, 6]


def test_a_parameter_without_a_default_takes_arrays_of_any_shape(device, stream, tmp_path):
    g = cg.GraphDef()
    g.call(negate, g.param("x", Floats))
    g.save(tmp_path / "any.cgg")
    graph = cg.load(tmp_path / "any.cgg").instantiate()
    for size in (1, 1000, 300000):
        x = cg.array(np.arange(size, dtype=np.float32))
        graph.launch(stream, x=x)
        stream.sync()
        assert (x.to_numpy() == -np.arange(size, dtype=np.float32)).all()


def test_contents_of_arrays_travel(device, stream, tmp_path):
    x, table = cg.ndarray(cg.f32, 4), cg.array(np.array([1, 2, 3, 4], np.float32))
    g = cg.GraphDef()
    g.memcpy(x, table)
    g.save(tmp_path / "table.cgg", outputs={"x": x}, include=[table])
    table.fill(0)
    x.fill(0)
    out = cg.ndarray(cg.f32, 4)
    cg.load(tmp_path / "table.cgg").instantiate().launch(stream, x=out)
    stream.sync()
    assert out.to_numpy().tolist() == [1, 2, 3, 4]


def test_an_included_input_has_its_contents_as_default(device, stream, tmp_path):
    x, y = cg.array(np.array([5, 6], np.float32)), cg.ndarray(cg.f32, 2)
    g = cg.GraphDef()
    g.memcpy(y, x)
    g.save(tmp_path / "default.cgg", inputs={"x": x}, outputs={"y": y}, include=[x])
    out = cg.ndarray(cg.f32, 2)
    cg.load(tmp_path / "default.cgg").instantiate().launch(stream, y=out)
    stream.sync()
    assert out.to_numpy().tolist() == [5, 6]


def test_parts_of_an_array_are_inputs_and_outputs_of_their_own(device, stream, tmp_path):
    x, y = cg.array(np.arange(8, dtype=np.float32)), cg.ndarray(cg.f32, 8)
    g = cg.GraphDef()
    g.memcpy(y[4:], x[4:]).memset(y[:4], 1.0)
    g.save(tmp_path / "parts.cgg", inputs={"tail": x[4:]}, outputs={"head": y[:4], "y": y[4:]})
    given, out = cg.array(np.arange(10, 30, dtype=np.float32)), cg.ndarray(cg.f32, 20)
    out.fill(0)
    cg.load(tmp_path / "parts.cgg").instantiate().launch(stream, tail=given[8:12], head=out[:4], y=out[12:16])
    stream.sync()
    assert out.to_numpy().tolist() == [1] * 4 + [0] * 8 + [18, 19, 20, 21] + [0] * 4


def test_kernels_of_nvrtc_keep_their_types(kernels, device, pinned, run, tmp_path):
    x, left = pinned(1), pinned([3])
    g = cg.GraphDef()
    condition = g.create_condition(1)
    one = cg.LaunchConfig(grid=1, block=1)
    g.while_loop(condition).body.launch(one, kernels.add, x, 1, 5).launch(
        one, kernels.count_down, condition, left
    )
    g.save(tmp_path / "types.cgg", outputs={"x": x}, include=[left])
    loaded = cg.load(tmp_path / "types.cgg")
    out = pinned(1)
    graph, stream = loaded.instantiate(), cg.Device().create_stream()
    graph.launch(stream, x=out)
    stream.sync()
    assert out[0] == 15
    (loop,) = loaded.nodes()
    (add,) = (node for node in loop.body.nodes() if node.name == "add")
    with pytest.raises(TypeError, match="int"):
        add.update(args=(out, 1.5, 1))


def test_copies_of_rows_travel(device, run, pinned, tmp_path):
    source, target = pinned(np.arange(24)), pinned(24)
    g = cg.GraphDef()
    g.memcpy(
        target, source, width=8, height=3, depth=2, dst_pitch=12, src_pitch=16, dst_height=4, src_height=3
    )
    run(g)
    g.save(tmp_path / "rows.cgg", include=[source, target])
    (node,) = cg.load(tmp_path / "rows.cgg").nodes()
    (saved,) = g.nodes()
    for name in ("width", "height", "depth", "dst_pitch", "src_pitch", "dst_height", "src_height"):
        assert getattr(node, name) == getattr(saved, name), name


@pytest.mark.parametrize(
    "order", ["inner", "inner outer", "outer inner", "inner inner outer", "inner outer inner"]
)
def test_embedded_graphs_share_the_parameters_of_those_around_them(order, tmp_path):
    """They have the same inputs and parameters, whichever uses one first."""
    x, y = cg.array(GIVEN), cg.zeros(8, cg.f32)
    inner, outer = cg.GraphDef(), cg.GraphDef()
    inner.call(shift, x, inner.param("by", cg.f32, default=1)).memcpy(y, x)
    last = outer
    for each in order.split():
        last = (
            last.embed(inner)
            if each == "inner"
            else last.call(shift, x, outer.param("by", cg.f32, default=1))
        )
    outer.save(tmp_path / "g.cgg", inputs={"x": x, "y": y})
    loaded = cg.load(tmp_path / "g.cgg")
    assert sorted(loaded.inputs) == ["x", "y"]
    other, copy = cg.array(GIVEN), cg.zeros(8, cg.f32)
    graph = loaded.instantiate()
    for by in (None, 2.5):
        other.from_numpy(GIVEN)
        graph.launch(cg.Device().default_stream, x=other, y=copy, **({} if by is None else {"by": by}))
        cg.Device().sync()
        calls = np.float32(by or 1) * len(order.split())
        assert np.allclose(other.to_numpy(), GIVEN + calls)
        behind = np.float32(by or 1) * (order.split()[-1] == "outer")
        assert np.allclose(copy.to_numpy(), GIVEN + calls - behind)
