# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of parameters whose values are arrays: kernels, copies and fills follow the array that a launch gives."""

import gc
import threading

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes
from tests.graph_rig import ONE

VECTOR = cg.types.ndarray(cg.f32, ndim=1)
LENGTHS = (1, 3, 1000, 70_000, 2)


@cg.kernel
def add(x: VECTOR, a: cg.f32):
    for i in x:
        x[i] += a


@cg.kernel
def sums(x: VECTOR, y: VECTOR, n: cg.i32):
    """y[j] = x[0] + ... + x[n - 1] for each j: one task for each loop."""
    s = cg.f32(0.0)
    for i in range(n):
        s += x[i]
    for j in y:
        y[j] = s


@cg.kernel
def transpose(a: cg.types.ndarray(cg.f32, ndim=2), b: cg.types.ndarray(cg.f32, ndim=2)):
    for i, j in a:
        b[j, i] = a[i, j]


def array(values, dtype=cg.f32):
    values = np.asarray(values)
    made = cg.ndarray(dtype, values.shape)
    made.from_numpy(values)
    return made


def ramp(n):
    return array(np.arange(n, dtype="f"))


@pytest.fixture
def source(device):
    text = """extern "C" __global__ void scale(float* x, int n, float a) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) x[i] *= a;
    }"""
    return cg.Program(text, code_type="c++").compile("ptx").get_kernel("scale")


# ---- kernels of Python


def test_a_kernel_follows_the_length_of_the_array_that_a_launch_gives(stream):
    g = cg.GraphDef()
    node = g.call(add, g.param("x", VECTOR), g.param("a", cg.f32, default=2))
    graph = g.instantiate()
    for n in LENGTHS:
        x = ramp(n)
        graph.launch(stream, x=x)
        graph.launch(stream, a=n)
        graph.launch(stream, a=2)
        stream.sync()
        np.testing.assert_allclose(x.to_numpy(), np.arange(n, dtype="f") + 4 + n)
    assert node.config.block[0] >= 1


def test_each_executable_has_an_array_of_its_own(stream):
    g, first = cg.GraphDef(), ramp(5)
    g.call(add, g.param("x", VECTOR, default=first), 1.0)
    graphs = [g.instantiate() for _ in range(3)]
    arrays = [ramp(7), ramp(3000)]
    graphs[1].set(x=arrays[0])
    graphs[2].set(x=arrays[1])
    for graph in graphs:
        graph.launch(stream)
    stream.sync()
    for x in (first, *arrays):
        assert (x.to_numpy() == np.arange(x.size) + 1).all()


@pytest.mark.parametrize("place", ["definition", "body", "capture", "captured body", "embedded"])
def test_arrays_and_numbers_are_arguments_of_a_call_everywhere(place, stream):
    graph = build(place, stream)
    for n in LENGTHS:
        x, y = array(np.full(n, 2, "f")), ramp(2 * n)
        graph.launch(stream, x=x, y=y, n=n)
        stream.sync()
        assert (y.to_numpy() == 2 * n).all()


def build(place, stream):
    if place in ("capture", "captured body"):
        with stream.create_graph_builder() as builder:
            if place == "capture":
                sums(*declared(builder), stream=builder)
            else:
                with builder.if_then(builder.create_condition(1)) as body:
                    sums(*declared(body), stream=body)
        return builder.complete()
    g = cg.GraphDef()
    at = g.if_then(g.create_condition(1)).then if place == "body" else g
    at.call(sums, *declared(at))
    if place == "embedded":
        outer = cg.GraphDef()
        outer.embed(g)
        return outer.instantiate()
    return g.instantiate()


def declared(g):
    return g.param("x", VECTOR), g.param("y", VECTOR), g.param("n", cg.i32)


def test_both_dimensions_of_a_matrix_follow(stream):
    matrix = cg.types.ndarray(cg.f32, ndim=2)
    g = cg.GraphDef()
    g.call(transpose, g.param("a", matrix), g.param("b", matrix))
    graph = g.instantiate()
    for shape in ((1, 1), (3, 5), (100, 7), (2, 900)):
        values = np.random.default_rng(0).random(shape, dtype="f")
        a, b = array(values), cg.ndarray(cg.f32, shape[::-1])
        graph.launch(stream, a=a, b=b)
        stream.sync()
        assert (b.to_numpy() == values.T).all()


def test_the_grid_follows_the_length(stream):
    """The number of blocks is that of a call with the same array."""
    g = cg.GraphDef()
    x = g.param("x", VECTOR, default=ramp(10))
    node, small, large = g.call(add, x, 1.0), cg.GraphDef(), cg.GraphDef()
    assert node.config == small.call(add, ramp(10), 1.0).config
    blocks = large.call(add, ramp(1 << 20), 1.0).config.grid[0]
    graph = g.instantiate()
    graph.set(x=ramp(1 << 20))
    if blocks > 1:
        other = cg.GraphDef()
        assert other.call(add, other.param("x", VECTOR, default=ramp(1 << 20)), 1.0).config.grid[0] == blocks
    graph.launch(stream, x=ramp(10))
    stream.sync()


def test_random_programs_agree_with_numpy(stream):
    rng = np.random.default_rng(19)
    for _ in range(20):
        g, count = cg.GraphDef(), int(rng.integers(1, 4))
        params = [g.param(f"p{i}", VECTOR) for i in range(count)]
        steps = [(int(rng.integers(count)), float(rng.integers(1, 9))) for _ in range(6)]
        node = g
        for which, amount in steps:
            node = node.call(add, params[which], amount) if amount < 7 else node.memset(params[which], amount)
        graph = g.instantiate()
        used = {which for which, _ in steps}
        for _ in range(4):
            values = [np.zeros(int(rng.integers(1, 3000)), "f") for _ in params]
            arrays = [array(each) for each in values]
            graph.launch(stream, **{f"p{i}": each for i, each in enumerate(arrays)})
            stream.sync()
            for which, amount in steps:
                values[which] = (
                    values[which] + np.float32(amount) if amount < 7 else np.full_like(values[which], amount)
                )
            for i in used:
                assert (arrays[i].to_numpy() == values[i]).all()


# ---- values


def test_a_value_is_an_array_of_any_library_in_memory_of_the_device(stream, device):
    class Foreign:
        """An array of another library: only its interface is known."""

        def __init__(self, x):
            self.kept, self.__cuda_array_interface__ = x, x.__cuda_array_interface__

    class Exporter:
        def __init__(self, x):
            self.kept = x

        def __dlpack_device__(self):
            return self.kept.__dlpack_device__()

        def __dlpack__(self, **keywords):
            return self.kept.__dlpack__(**keywords)

    pinned = cg.PinnedMemoryResource().allocate(4 * 9, stream=stream)
    host = np.from_dlpack(pinned).view(np.float32)
    host[:] = np.arange(9)
    g = cg.GraphDef()
    g.call(add, g.param("x", VECTOR), 1.0)
    graph = g.instantiate()
    for value, read in ((host, lambda: host), (x := ramp(7), x.to_numpy), (y := ramp(5), y.to_numpy)):
        given = Foreign(value) if value is x else Exporter(value) if value is y else value
        graph.launch(stream, x=given)
        stream.sync()
        assert (read() == np.arange(len(value)) + 1).all()


def test_the_graph_keeps_an_array_until_another_replaces_it(stream):
    g = cg.GraphDef()
    g.call(add, g.param("x", VECTOR), 1.0)
    graph = g.instantiate()
    stream.sync()
    before = boxes.count("pointer") if hasattr(boxes, "count") else None
    for _ in range(50):
        graph.launch(stream, x=ramp(100))
    stream.sync()
    graph.launch(stream, x=ramp(3))
    stream.sync()
    gc.collect()
    assert before is None or boxes.count("pointer") <= before + 3
    assert graph.params["x"].value.shape == (3,)


def test_a_wrong_array_is_refused_and_nothing_changes(stream, device):
    g, x = cg.GraphDef(), ramp(4)
    g.call(add, g.param("x", VECTOR, default=x), g.param("a", cg.f32, default=1))
    graph = g.instantiate()
    before = dict(graph.params)
    matrix = cg.ndarray(cg.f32, (4, 4))
    gaps = dict(matrix.__cuda_array_interface__, shape=(4,), strides=(16,))
    closed = ramp(3)
    closed.buffer.close()
    for bad, error, words in (
        (cg.ndarray(cg.f64, 4), TypeError, "'x'.*elements of f32.*f64"),
        (cg.ndarray(cg.vec3, 4), TypeError, "'x'.*elements of f32.*vec"),
        (matrix, ValueError, "'x'.*1 dimension.*2"),
        (np.zeros(4, "f"), ValueError, "'x'.*pageable"),
        (np.zeros(4, "d"), TypeError, "'x'.*elements of f32.*<f8"),
        (type("Gaps", (), {"__cuda_array_interface__": gaps})(), ValueError, "'x'.*gaps"),
        (closed, cg.errors.ClosedBufferError, "'x'.*closed"),
        (7, TypeError, "'x' is ndarray.*takes an array, got 7"),
        (None, TypeError, "'x'.*got None"),
        ("x", TypeError, "'x'.*got 'x'"),
    ):
        for change in (graph.set, lambda **values: graph.launch(stream, **values)):
            with pytest.raises(error, match=words):
                change(a=9, x=bad)
            assert dict(graph.params) == before
    graph.launch(stream)
    stream.sync()
    assert (x.to_numpy() == np.arange(4) + 1).all()


# ---- declarations


def test_a_parameter_shows_its_type_and_default(device):
    g, x = cg.GraphDef(), ramp(3)
    p = g.param("x", VECTOR, default=x)
    assert (p.type, p.ndim, p.itemsize) == ("ndarray(f32, ndim=1)", 1, 4)
    assert p.default == (x.handle, (3,), 3)
    assert g.param("x", VECTOR) is p and g.param("x", VECTOR, default=x) is p
    assert (
        g.param("v", cg.types.ndarray(cg.types.mat(2, 3), ndim=1)).type == "ndarray(mat(2, 3, f32), ndim=1)"
    )
    for other in (cg.types.ndarray(cg.f32, ndim=2), cg.types.ndarray(cg.f64, ndim=1), cg.pointer, cg.f32):
        with pytest.raises(ValueError, match="exists already"):
            g.param("x", other)
    with pytest.raises(ValueError, match="default cannot change"):
        g.param("x", VECTOR, default=ramp(4))


def test_an_annotation_of_a_parameter_is_complete():
    g = cg.GraphDef()
    for annotation in (
        cg.types.ndarray(cg.f32),
        cg.types.ndarray(ndim=1),
        VECTOR | None,
        cg.types.ndarray(cg.f32, ndim=1, needs_grad=True),
    ):
        with pytest.raises(TypeError, match="not a type of parameters"):
            g.param("x", annotation)
    with pytest.raises(ValueError, match="at most 8 dimensions"):
        g.param("x", cg.types.ndarray(cg.f32, ndim=9))


def test_a_kernel_refuses_a_parameter_of_another_type(device):
    g = cg.GraphDef()
    for annotation, error in (
        (cg.types.ndarray(cg.f64, ndim=1), TypeError),
        (cg.types.ndarray(cg.f32, ndim=2), ValueError),
    ):
        with pytest.raises(error, match="'x' takes"):
            g.call(add, g.param(f"p{annotation.dtype}{annotation.ndim}", annotation), 1.0)
    with pytest.raises(TypeError):
        g.call(add, g.param("p", cg.pointer), 1.0)
    with pytest.raises(TypeError, match="only in launches of its graph"):
        add(g.param("x", VECTOR), 1.0)
    with pytest.raises(ValueError, match="belongs to another definition"):
        cg.GraphDef().call(add, g.param("x", VECTOR), 1.0)
    assert not g.nodes()


def test_a_kernel_that_needs_gradients_takes_no_parameter(device):
    @cg.kernel
    def wants(x: cg.types.ndarray(cg.f32, ndim=1, needs_grad=True)):
        for i in x:
            x[i] += 1.0

    g = cg.GraphDef()
    with pytest.raises(TypeError, match="has a gradient"):
        g.call(wants, g.param("x", VECTOR))


# ---- copies and fills


def test_a_copy_and_a_fill_follow_the_array(stream):
    g = cg.GraphDef()
    x, y = g.param("x", VECTOR), g.param("y", VECTOR)
    g.memset(y, 1.5).memcpy(y, x)
    graph = g.instantiate()
    for n, m in ((3, 3), (4, 9), (1000, 1001), (1, 70_000)):
        source, target = ramp(n), ramp(m)
        graph.launch(stream, x=source, y=target)
        stream.sync()
        wanted = np.full(m, 1.5, "f")
        wanted[:n] = np.arange(n)
        assert (target.to_numpy() == wanted).all()


def test_a_copy_refuses_an_array_without_elements(stream):
    g = cg.GraphDef()
    g.memcpy(g.param("y", VECTOR), g.param("x", VECTOR))
    graph = g.instantiate()
    graph.launch(stream, x=ramp(3), y=ramp(3))
    before = dict(graph.params)
    for name in ("x", "y"):
        with pytest.raises(
            ValueError, match=f"parameter '{name}' is an operand of a copy, which takes no array without"
        ):
            graph.launch(stream, **{name: cg.zeros(0, cg.f32)})
    assert dict(graph.params) == before


def test_a_length_beyond_a_dependent_allocation_or_copy_is_refused_before_anything_changes(stream, device):
    g = cg.GraphDef()
    x, y = g.param("x", VECTOR), g.param("y", VECTOR)
    memory = g.alloc(4 * 10)
    done = (
        memory.memcpy(memory.dptr, x).memcpy(y, memory.dptr, 8).call(add, x, g.param("a", cg.f32, default=1))
    )
    done.free(memory.dptr)
    graph = g.instantiate()
    graph.launch(stream, x=(first := ramp(10)), y=(second := ramp(2)))
    stream.sync()
    before = dict(graph.params)
    for values in ({"x": ramp(11)}, {"y": ramp(1)}, {"x": ramp(5), "y": ramp(1)}):
        for change in (graph.set, lambda **values: graph.launch(stream, **values)):
            with pytest.raises(ValueError, match=r"beyond the end of an operand"):
                change(a=99, **values)
            assert dict(graph.params) == before
    graph.launch(stream)
    stream.sync()
    assert (first.to_numpy() == np.arange(10) + 2).all()
    assert (second.to_numpy() == [1, 2]).all()


def test_a_definition_refuses_a_default_that_goes_beyond_an_operand(device):
    g, n = cg.GraphDef(), 0
    x = g.param("x", VECTOR, default=ramp(10))
    buffer = device.memory_resource.allocate(36, stream=device.default_stream)
    for refused in (
        lambda: g.memcpy(buffer, x),
        lambda: g.memcpy(buffer, x, 44),
        lambda: g.memcpy(x, buffer, 40),
    ):
        with pytest.raises(ValueError, match="bytes"):
            refused()
    with pytest.raises(ValueError, match="has 40 bytes"):
        g.memset(x, 0, 41)
    assert len(g.nodes()) == n


def test_a_fill_converts_its_value_to_the_elements(stream):
    g = cg.GraphDef()
    kinds = {"a": (cg.f64, 0.0), "b": (cg.i16, -7), "c": (cg.u8, 200), "d": (cg.f32, 2.5)}
    for name, (dtype, value) in kinds.items():
        g.memset(g.param(name, cg.types.ndarray(dtype, ndim=1)), value)
    graph = g.instantiate()
    for n in (1, 33):
        arrays = {name: array(np.ones(n), dtype) for name, (dtype, _) in kinds.items()}
        graph.launch(stream, **arrays)
        stream.sync()
        for name, (_, value) in kinds.items():
            assert (arrays[name].to_numpy() == value).all()
    with pytest.raises(ValueError, match="do not repeat"):
        g.memset(g.param("a", cg.types.ndarray(cg.f64, ndim=1)), 1.0)
    with pytest.raises(ValueError, match="size or count"):
        graph.launch(stream, a=cg.ndarray(cg.f64, 0))


def test_an_update_of_a_copy_takes_the_new_array_or_keeps_the_size(stream):
    g, target = cg.GraphDef(), ramp(100)
    x, y = g.param("x", VECTOR), g.param("y", VECTOR)
    sized, whole = g.memcpy(target, x, 8), g.memset(y, 1)
    sized.update(dst=y)
    whole.update(value=np.float32(3))
    whole.succ.add(sized)
    for n in (4, 9):
        graph = g.instantiate()
        graph.launch(stream, x=ramp(50), y=(found := ramp(n)))
        stream.sync()
        assert found.to_numpy().tolist() == [0, 1] + [3] * (n - 2)
    whole.update(width=3)
    sized.update(src=target)
    graph = g.instantiate()
    graph.launch(stream, x=ramp(3), y=(found := ramp(5)))
    stream.sync()
    assert found.to_numpy().tolist() == [0, 1, 3, 3, 4]


# ---- kernels of CUDA C++


def test_a_cuda_kernel_takes_another_length_if_its_config_is_a_function(source, stream):
    calls = []

    def config(x, n, a):
        calls.append((x.shape, n, a))
        return {"grid": -(-x.size // 32), "block": 32}

    g = cg.GraphDef()
    x = g.param("x", VECTOR)
    g.launch(config, source, x, x.shape[0], g.param("a", cg.f32, default=3))
    graph = g.instantiate()
    assert calls == []
    for n in LENGTHS:
        values = array(np.ones(n, "f"))
        graph.launch(stream, x=values)
        graph.launch(stream)
        graph.launch(stream, x=values)
        stream.sync()
        assert (values.to_numpy() == 27).all()
    assert calls == [((n,), n, 3) for n in LENGTHS]


@pytest.mark.parametrize("kernel", [None, "the same"])
@pytest.mark.parametrize("of", ["the definition", "an executable"])
def test_an_update_without_a_config_keeps_the_config_function(of, kernel, source, stream):
    """Also with new arguments, for which the function is called."""

    def config(x, n, a):
        return {"grid": -(-n // 32), "block": 32}

    g = cg.GraphDef()
    x = g.param("x", VECTOR)
    node = g.launch(config, source, x, x.shape[0], 3.0)
    graph = g.instantiate() if of == "an executable" else None
    place = node if graph is None else graph[node]
    for factor in (None, 5.0, 7.0):
        if factor is None:
            place.update()
        else:
            place.update(args=(x, x.shape[0], factor), kernel=kernel and source)
        for n in LENGTHS:
            values = array(np.ones(n, "f"))
            (graph or g.instantiate()).launch(stream, x=values)
            stream.sync()
            assert (values.to_numpy() == (factor or 3)).all()


def test_a_fill_keeps_its_width_when_it_takes_an_array_of_any_length(stream):
    g, known = cg.GraphDef(), ramp(9)
    x, y, width = g.param("x", VECTOR), g.param("y", VECTOR), g.param("width", cg.u64, default=4)
    fixed, counted = g.memset(known, np.float32(8), 3), g.memset(known, np.float32(9), width)
    fixed.succ.add(counted)
    fixed.update(dst=x)
    counted.update(dst=y)
    one, two = ramp(5), ramp(6)
    g.instantiate().launch(stream, x=one, y=two)
    stream.sync()
    assert (one.to_numpy().tolist(), two.to_numpy().tolist()) == ([8, 8, 8, 3, 4], [9, 9, 9, 9, 4, 5])


def test_a_fill_of_a_whole_parameter_needs_a_width_for_other_memory(stream):
    g, known = cg.GraphDef(), ramp(3)
    x, y = g.param("x", VECTOR), g.param("y", VECTOR)
    fill = g.memset(x, np.float32(8))
    with pytest.raises(TypeError, match="width is needed"):
        fill.update(dst=known)
    fill.update(dst=y)
    other = ramp(4)
    g.instantiate().launch(stream, y=other)
    stream.sync()
    assert other.to_numpy().tolist() == [8, 8, 8, 8]
    fill.update(dst=known, width=2)
    g.instantiate().launch(stream)
    stream.sync()
    assert known.to_numpy().tolist() == [8, 8, 2]


def test_a_cuda_kernel_with_a_fixed_config_takes_arrays_of_one_shape(source, stream):
    g = cg.GraphDef()
    with pytest.raises(ValueError, match="has no default"):
        g.launch(ONE, source, g.param("y", VECTOR), 4, 3.0)
    x = g.param("x", VECTOR, default=ramp(4))
    g.launch(cg.LaunchConfig(grid=1, block=4), source, x, x.shape[0], g.param("a", cg.f32, default=2))
    graph = g.instantiate()
    other = ramp(4)
    graph.launch(stream, x=other)
    stream.sync()
    assert (other.to_numpy() == 2 * np.arange(4)).all()
    before = dict(graph.params)
    for n in (3, 5):
        with pytest.raises(ValueError, match=r"shape of the default.*function"):
            graph.launch(stream, a=7, x=ramp(n))
        assert dict(graph.params) == before


def test_a_config_function_that_fails_changes_nothing(source, stream):
    def config(x, n, a):
        if x.size == 3:
            raise ArithmeticError("three")
        if x.size == 4:
            return cg.LaunchConfig(grid=1, block=4, is_cooperative=True)
        if x.size == 5:
            return {"grid": 0, "block": 1}
        if x.size == 6:
            graphs[0].set(x=ramp(9))
        return cg.LaunchConfig(grid=x.size, block=1)

    g, start = cg.GraphDef(), ramp(9)
    x = g.param("x", VECTOR, default=start)
    g.launch(config, source, x, x.shape[0], g.param("a", cg.f32, default=2))
    graphs = [g.instantiate()]
    graph = graphs[0]
    before = dict(graph.params)
    for n, error, words in (
        (3, ArithmeticError, "three"),
        (4, ValueError, "cooperative"),
        (5, ValueError, "grid must be"),
        (6, RuntimeError, "cannot use a Graph"),
    ):
        with pytest.raises(error, match=words):
            graph.launch(stream, a=5, x=ramp(n))
        assert dict(graph.params) == before
    graphs.clear()  # the graph keeps the function
    graph.launch(stream)
    stream.sync()
    assert (start.to_numpy() == 2 * np.arange(9)).all()


def test_config_functions_of_two_threads_are_both_refused_the_use_of_a_graph(source, device):
    inside = threading.Barrier(2, timeout=20)
    refused = []

    def run(index):
        def config(x, n, a):
            if x.size == 6:
                inside.wait()  # both functions run now
                try:
                    graphs[index].set(x=ramp(9))
                except RuntimeError as error:
                    refused.append(str(error))
                inside.wait()
            return cg.LaunchConfig(grid=x.size, block=1)

        device.set_current()
        g = cg.GraphDef()
        x = g.param("x", VECTOR, default=ramp(9))
        g.launch(config, source, x, x.shape[0], 2.0)
        graphs[index] = g.instantiate()
        graphs[index].set(x=ramp(6))
        graphs[index] = None

    graphs = [None, None]
    threads = [threading.Thread(target=run, args=(index,)) for index in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 2
    assert all("cannot use a Graph" in text for text in refused)


def test_a_captured_launch_takes_parameters(source, stream):
    with stream.create_graph_builder() as builder:
        x = builder.param("x", VECTOR)
        cg.launch(
            builder,
            lambda x, n, a: {"grid": x.size, "block": 1},
            source,
            x,
            x.shape[0],
            builder.param("a", cg.f32),
        )
    graph = builder.complete()
    for n in (3, 70):
        graph.launch(stream, x=(values := ramp(n)), a=n)
        stream.sync()
        assert (values.to_numpy() == n * np.arange(n)).all()
    with pytest.raises(TypeError, match="has no value here"):
        cg.launch(stream, ONE, source, x, 1, 1.0)
    with pytest.raises(RuntimeError, match="capturing"):
        builder.param("z", VECTOR)


# ---- updates


def test_an_update_keeps_the_array_and_the_new_definition_follows_it(stream):
    def make(amount):
        g = cg.GraphDef()
        g.call(add, g.param("x", VECTOR, default=ramp(2)), amount)
        return g

    graph = make(1.0).instantiate()
    first = make(1.0)
    graph = first.instantiate()
    graph.launch(stream, x=(x := ramp(5000)))
    graph.update(second := make(10.0))
    graph.launch(stream)
    graph.launch(stream, x=(y := ramp(70_000)))
    stream.sync()
    assert (x.to_numpy() == np.arange(5000) + 11).all()
    assert (y.to_numpy() == np.arange(70_000) + 10).all()
    assert second.param("x", VECTOR).default.shape == (2,)


def test_sections_refuse_arrays_that_overlap_in_a_launch(stream):
    @cg.kernel(graph=True)
    def both(x: VECTOR, y: VECTOR):
        with cg.graph_parallel():
            with cg.graph_section():
                for i in x:
                    x[i] += 1.0
            with cg.graph_section():
                for i in y:
                    y[i] += 2.0

    g = cg.GraphDef()
    g.call(both, g.param("x", VECTOR), g.param("y", VECTOR))
    graph = g.instantiate()
    graph.launch(stream, x=(x := ramp(5)), y=(y := ramp(6)))
    stream.sync()
    assert (x.to_numpy() == np.arange(5) + 1).all() and (y.to_numpy() == np.arange(6) + 2).all()
    before = dict(graph.params)
    with pytest.raises(ValueError, match="share memory"):
        graph.launch(stream, x=y)
    assert dict(graph.params) == before
    # Another array of the same extents changes no grid, but its address counts.
    graph.launch(stream, x=(z := ramp(6)))
    with pytest.raises(ValueError, match="share memory"):
        graph.launch(stream, x=y)
    stream.sync()
    assert (z.to_numpy() == np.arange(6) + 1).all() and (y.to_numpy() == np.arange(6) + 4).all()
    assert graph.params["x"].value.address == z.handle


# ---- another array of the same extents, whose address alone is new


@pytest.mark.parametrize("lengths", [(5, 5, 5, 5), (5, 5, 70_000, 5, 5, 1, 1, 70_000, 70_000)])
def test_a_launch_with_arrays_in_turns_agrees_with_numpy(lengths, stream):
    g = cg.GraphDef()
    x, y = g.param("x", VECTOR), g.param("y", VECTOR)
    g.call(add, x, g.param("a", cg.f32, default=1)).memcpy(y, x).call(add, y, 0.5).memset(x, 7)
    graph = g.instantiate()
    for turn, n in enumerate(lengths):
        a, b = ramp(n), ramp(n)
        graph.launch(stream, x=a, y=b, a=turn)
        stream.sync()
        assert (b.to_numpy() == np.arange(n, dtype="f") + turn + 0.5).all()
        assert (a.to_numpy() == 7).all()
        graph.launch(stream, x=b)
        stream.sync()
        assert (b.to_numpy() == 7).all()


def test_a_config_function_is_called_for_another_address(source, stream):
    addresses = []

    def config(x, n, a):
        addresses.append(x.address)
        return {"grid": 1, "block": 32}

    g = cg.GraphDef()
    x = g.param("x", VECTOR)
    g.launch(config, source, x, x.shape[0], 3.0)
    graph = g.instantiate()
    one, two = ramp(4), ramp(4)
    for each in (one, two, two, one):
        graph.launch(stream, x=each)
    stream.sync()
    assert addresses == [one.handle, two.handle, one.handle]
    assert (one.to_numpy() == 9 * np.arange(4)).all() and (two.to_numpy() == 9 * np.arange(4)).all()


def test_a_node_that_was_set_anew_follows_arrays_of_the_same_extents(stream):
    g = cg.GraphDef()
    x = g.param("x", VECTOR)
    node = g.call(add, x, 1.0)
    node.call(add, x, 10.0)
    graph = g.instantiate()
    a, b, c, other = (array(np.zeros(3, "f")) for _ in range(4))
    graph.launch(stream, x=a)
    graph[node].update(args=(x, 2.0))
    graph.launch(stream, x=b)
    graph[node].update(args=(other, 3.0))  # no longer uses x
    graph.launch(stream, x=c)
    stream.sync()
    assert [each.to_numpy().tolist() for each in (a, b, c, other)] == [[11] * 3, [12] * 3, [10] * 3, [3] * 3]


def test_an_extent_of_a_parameter_is_a_number_of_4_bytes(stream):
    def define(number):
        @cg.kernel
        def fill(x: cg.Array1[cg.i64], n: number):
            for i in x:
                x[i] = cg.cast(n, cg.i64)

        g, x = cg.GraphDef(), cg.zeros(3, cg.i64)
        g.call(fill, x, g.param("a", cg.Array1[cg.f32]).shape[0])
        return g, x

    for number in (cg.i32, cg.u32):
        g, x = define(number)
        graph = g.instantiate()
        for n in (5, 2):
            graph.launch(stream, a=cg.zeros(n, cg.f32))
            stream.sync()
            assert x.to_numpy().tolist() == [n] * 3
    for number in (cg.i64, cg.u8, cg.f32, cg.f64):
        with pytest.raises(
            TypeError, match=f"parameter 'n' takes {number}, but <extent 0 of .*> has another type"
        ):
            define(number)
