# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the addresses of arrays of alloc nodes: each way to use an array finds its memory, in each state of the
definition and its executable, and only those ways that may keep an address give the array one.
"""

import ctypes
import gc
import threading
import weakref

import numpy as np
import pytest

import cuda_graphs as cg
from tests.graph.test_shared_arrays import (
    N,
    Program,
    chain,
    combine,
    f32x1,
    kernels_keep_no_code,
    smooth,
    stream,
)
from tests.graph_rig import ONE
from tests.two_devices import run_with_devices

__all__ = ["kernels_keep_no_code", "stream"]


def test_views_take_arrays_and_the_executable_follows(stream, kernels, pinned):
    out = pinned(np.zeros(2, "i4"))
    g = cg.GraphDef()
    a, b = (g.alloc(shape=2, dtype=cg.i32, name=name) for name in "ab")
    first = a.join(b).memset(a, 1)
    user = first.launch(ONE, kernels.tally, a)
    end = user.memcpy(out, a).memset(b, 5).memcpy(out[1:], b[1:])
    end.free(a).free(b)
    graph = g.instantiate()
    graph.launch(stream)
    stream.sync()
    assert out.tolist() == [2, 5]
    graph[user].update(args=(a[1:],))
    graph.launch(stream)
    stream.sync()
    assert out.tolist() == [1, 5]
    assert a._place() == "own"
    graph[user].update(args=(a.dptr,))
    graph.launch(stream)
    stream.sync()
    assert out.tolist() == [2, 5]


def test_updates_of_nodes_take_other_arrays_and_plan_again(stream):
    x, to = cg.full(N, 1, cg.f32), cg.zeros(N, cg.f32)
    g = cg.GraphDef()
    a, b, c = (g.alloc(shape=N, dtype=cg.f32, name=name) for name in "abc")
    one = g.join(a, b, c).call(combine, a, x, x, 1.0)
    two = one.call(combine, b, a, x, 1.0)
    three = two.call(combine, c, b, x, 1.0)
    four = three.memcpy(to, c)
    four.free(a).free(b).free(c)
    graph = g.instantiate()
    graph.launch(stream)
    stream.sync()
    assert (to.to_numpy() == 4).all()
    shares = {each.node.name: each.shares for each in g.memory.arrays}
    assert shares["a"] == (c,)
    three.update(args=(c, b, a, 1.0))  # a is needed longer
    assert all(each.shares == () for each in g.memory.arrays)
    graph.update(g)
    graph.launch(stream)
    stream.sync()
    assert (to.to_numpy() == 5).all()
    three.update(args=(b, b, x, 1.0))
    four.update(dst=to, src=b)
    graph.update(g)
    graph.launch(stream)
    stream.sync()
    assert (to.to_numpy() == 4).all()


def test_a_definition_that_runs_out_of_memory_is_as_before(stream):
    huge = 1 << 30
    g, x, to = cg.GraphDef(), cg.full(N, 1, cg.f32), cg.zeros(N, cg.f32)
    small = g.alloc(shape=N, dtype=cg.f32)
    large = small.alloc(shape=(huge, 1 << 14), dtype=cg.f64, name="large")
    used = large.memset(large, 0)
    end = used.call(combine, small, x, x, 2.0).memcpy(to, small)
    end.free(small).free(large)
    for attempt in (g.instantiate, lambda: large.dptr):
        with pytest.raises(cg.CUDAError, match="OUT_OF_MEMORY"):
            attempt()
        assert [each._place() for each in (small, large)] == ["shared", "shared"]
    used.update(dst=small, width=N)
    graph = g.instantiate()
    graph.launch(stream)
    stream.sync()
    assert (to.to_numpy() == 3).all()


@pytest.mark.parametrize(
    "options", [{"optimize": True}, {"early_edges": True}, {"optimize": True, "early_edges": True}]
)
@pytest.mark.parametrize("reads", [False, True])
def test_fused_nodes_and_early_edges_compute_the_same(options, reads, stream):
    g, x, to = cg.GraphDef(), cg.array(np.arange(N, dtype="f4")), cg.zeros(N, cg.f32)
    made = [g.alloc(shape=N, dtype=cg.f32) for _ in range(5)]
    place, value = made[0].join(*made[1:]), x
    for each in made:
        place = place.call(combine, each, value, x, 0.5)
        value = each
    place = place.call(combine, to, value, value, 1.0)
    for each in made:
        place = place.free(each)
    wanted = x.to_numpy()
    for _ in made:
        wanted = np.float32(0.5) * wanted + x.to_numpy()
    graph = g.instantiate(**options)
    for turn in range(3):
        to.fill(0)
        graph.launch(stream)
        stream.sync()
        np.testing.assert_array_equal(to.to_numpy(), wanted + wanted)
        if turn == 0:
            graph.update(g)
        elif reads:
            assert made[2].dptr


@pytest.mark.parametrize("updates", [False, True])
def test_fused_nodes_do_not_overwrite_what_they_read(updates, stream):
    """A fused launch reads `a` at other indices than that at which it writes `c`, so the two may not share."""
    x, to = cg.array(np.arange(N, dtype="f4")), cg.zeros(N, cg.f32)
    g = cg.GraphDef()
    a, b, c = (g.alloc(shape=N, dtype=cg.f32) for _ in range(3))
    filled = g.join(a, b, c).memcpy(a, x)
    first = filled.call(smooth, b, a)
    second = first.call(combine, c, b, b, 1.0)
    second.memcpy(to, c).free(a).free(b).free(c)
    assert {each.node: each.shares for each in g.memory.arrays}[a] == (c,)  # as separate launches
    graph = g.instantiate(optimize=True)
    assert "fused as " in str(graph.explain())
    if updates:
        second.update(args=(c, b, b, 1.0))
        graph.update(g)
    graph.launch(stream)
    stream.sync()
    values = x.to_numpy()
    np.testing.assert_array_equal(to.to_numpy(), 2 * (values + values[[0, *range(N - 1)]]))


def test_a_task_flow_orders_accesses_before_and_after_the_address_is_read(stream, kernels, pinned):
    out = pinned(np.zeros(2, "i4"))
    g = cg.GraphDef()
    with g.task_flow() as tf:
        m = tf.alloc(shape=2, dtype=cg.i32)
        first = tf.memset(m, 3)
        second = tf.launch(ONE, kernels.tally, m.dptr)
        third = tf.memcpy(out, m)
    assert second in first.succ and third in second.succ
    g.instantiate().launch(stream)
    stream.sync()
    assert out.tolist() == [4, 3]


def test_bodies_use_the_memory_of_the_plan(stream):
    total = cg.zeros(N, cg.f32)
    x = cg.full(N, 1, cg.f32)
    g = cg.GraphDef()
    a, b = (g.alloc(shape=N, dtype=cg.f32) for _ in range(2))
    branch = g.join(a, b).call(combine, a, x, x, 1.0).if_then(g.create_condition(1))
    branch.then.call(combine, b, a, a, 1.0).memcpy(total, b)
    c = branch.alloc(shape=N, dtype=cg.f32)
    c.call(combine, c, x, x, 1.0).free(a).free(b).free(c)
    shares = {each.node: each.shares for each in g.memory.arrays}
    assert shares[c] in ((a,), (b,)) and b not in shares[a]
    graph = g.instantiate()
    graph.launch(stream)
    stream.sync()
    np.testing.assert_array_equal(total.to_numpy(), np.full(N, 4, "f4"))
    assert b.dptr
    total.fill(0)
    graph.launch(stream)
    stream.sync()
    np.testing.assert_array_equal(total.to_numpy(), np.full(N, 4, "f4"))


def test_an_array_that_was_freed_is_freed_once(device):
    g = cg.GraphDef()
    m = g.alloc(shape=4, dtype=cg.f32, name="memory")
    m.free(m)
    for again in (m, m.dptr):
        with pytest.raises(cg.CUDAError, match="INVALID_VALUE") as caught:
            g.free(again)
        assert "'memory'" in caught.value.explanation
    with pytest.raises(cg.CUDAError, match="INVALID_VALUE"):
        g.free(m.dptr + 4)


def test_whoever_has_the_handle_of_the_graph_finds_addresses_in_its_nodes(device):
    g = cg.GraphDef()
    m = g.alloc(shape=4, dtype=cg.f32)
    fill = m.memset(m, 0)
    fill.free(m)
    assert m._place() == "shared"
    assert g.handle and m._place() == "own"
    assert fill.dptr == m.dptr


def test_properties_of_nodes_tell_the_address_that_they_use(kernels):
    g = cg.GraphDef()
    m, n = g.alloc(shape=8, dtype=cg.i32), g.alloc(shape=8, dtype=cg.i32)
    fill = m.join(n).memset(m[2:], 0)
    copy = fill.memcpy(n[4:], m[:4])
    kernel = copy.launch(ONE, kernels.tally, n[1:], writes=[n[1:]])
    end = kernel.free(n).free(m)
    assert "dptr" not in repr(fill) + repr(m) and "dptr" not in repr(end)
    assert (fill.dptr, copy.dst, copy.src) == (m.dptr + 8, n.dptr + 16, m.dptr)
    assert end.dptr == m.dptr and m[3:].dptr == m.dptr + 12
    assert kernel.args == (n.dptr + 4,)
    assert kernel.writes[0].start == n.dptr + 4
    assert f"{m.dptr:#x}" in repr(m) and f"{m.dptr:#x}" in repr(end)
    assert max(m.dptr, n.dptr) < 1 << 63


def test_other_memory_has_an_address_at_once(device):
    g = cg.GraphDef()
    assert g.alloc(16)._place() is None
    managed = {"memory_type": "managed"}
    try:
        node = g.alloc(shape=4, dtype=cg.f32, **managed)
    except cg.CUDANotSupportedError:
        return
    assert node._place() is None


def test_pictures_checks_and_differences_read_no_address(tmp_path, kernels):
    def make():
        g = cg.GraphDef()
        m = g.alloc(shape=8, dtype=cg.i32, name="m")
        m.memset(m, 0).launch(ONE, kernels.tally, m).free(m)
        return g, m

    (g, m), (h, n) = make(), make()
    assert not g.check() and not g.diff(h)
    g.draw(tmp_path / "picture.svg", check=True)
    assert str(g) and g.memory and repr(m)
    assert m._place() == n._place() == "shared"
    assert m.dptr and not g.diff(h)


def test_a_saved_definition_has_the_arrays(tmp_path, stream):
    def make(reads):
        g, x, to = cg.GraphDef(), cg.full(N, 1, cg.f32), cg.zeros(N, cg.f32)
        made = chain(g, x, to, 4)
        if reads:
            assert made[1].dptr
        g.save(tmp_path / "graph", inputs={"x": x}, outputs={"to": to})
        return made

    for reads in (False, True):
        made = make(reads)
        assert [each._place() for each in made] == ["shared", "own" if reads else "shared", "shared"]
        loaded = cg.load(tmp_path / "graph")
        to = cg.zeros(N, cg.f32)
        loaded.instantiate().launch(stream, x=cg.full(N, 1, cg.f32), to=to)
        stream.sync()
        assert (to.to_numpy() == 16).all()


def test_memory_lives_as_long_as_its_executable_and_its_launches(stream):
    g, x, to = cg.GraphDef(), cg.full(N, 1, cg.f32), cg.zeros(N, cg.f32)
    made = chain(g, x, to, 6)
    assert made[2].dptr
    graph = g.instantiate()
    gone = weakref.ref(made[0])
    del g, made
    gc.collect()
    graph.launch(stream)
    del graph
    gc.collect()
    stream.sync()
    assert (to.to_numpy() == 64).all()
    gc.collect()
    assert gone() is None


def test_an_address_that_was_read_stays_valid_with_the_definition_alone(stream, pinned):
    out = pinned(np.zeros(4, "i4"))
    g = cg.GraphDef()
    m = g.alloc(shape=4, dtype=cg.i32)
    m.memset(m, 1).free(m)
    address = m.dptr
    h = cg.GraphDef()
    h.memset(address, np.int32(6), 4).memcpy(out, address, 16)
    h.instantiate().launch(stream)
    stream.sync()
    assert out.tolist() == [6] * 4


def test_structures_of_addresses_are_given_the_address(stream, kernels, pinned):
    """`bump_through` takes the address of an address, so the host must know it."""
    word, out = pinned(1, "u8"), pinned(np.zeros(4, "i4"))
    g = cg.GraphDef()
    m, n = (g.alloc(shape=4, dtype=cg.i32) for _ in range(2))
    word[0] = m.dptr + 4
    end = m.join(n).memset(m, 1).memset(n, 9).launch(ONE, kernels.bump_through, word.ctypes.data, np.int32(5))
    end.memcpy(out, m).free(m).free(n)
    g.instantiate().launch(stream)
    stream.sync()
    assert out.tolist() == [1, 6, 1, 1]


def test_parameters_and_conditions_take_arrays(stream, pinned):
    x, to = cg.full(N, 1, cg.f32), cg.zeros(N, cg.f32)
    g = cg.GraphDef()
    p = g.param("p", f32x1, x)
    a, b = (g.alloc(shape=N, dtype=cg.f32) for _ in range(2))
    g.join(a, b).call(combine, a, p, x, 1.0).call(combine, b, a, p, 1.0).memcpy(to, b).free(a).free(b)
    graph = g.instantiate()
    for factor in (1, 2, 3):
        graph.launch(stream, p=cg.full(N, factor, cg.f32))
        stream.sync()
        assert (to.to_numpy() == 2 * factor + 1).all()
    assert a._place() == b._place() == "shared"


def test_config_functions_see_the_address(stream, kernels):
    seen = []
    g = cg.GraphDef()
    m = g.alloc(shape=4, dtype=cg.i32)

    def config(array):
        seen.append(array.address)
        return ONE

    m.launch(config, kernels.tally, m).free(m)
    assert seen == [m.dptr]


def test_pointers_in_numbers_are_ctypes_values_too(stream, kernels, pinned):
    out = pinned(np.zeros(4, "i4"))
    g = cg.GraphDef()
    m = g.alloc(shape=4, dtype=cg.i32)
    end = m.memset(m, 1).launch(ONE, kernels.tally, ctypes.c_void_p(m.dptr + 8))
    end.memcpy(out, m).free(m)
    g.instantiate().launch(stream)
    stream.sync()
    assert out.tolist() == [1, 1, 2, 1]


def test_a_view_with_another_config_keeps_the_arrays_of_the_plan(stream):
    g, x, to = cg.GraphDef(), cg.full(N, 1, cg.f32), cg.zeros(N, cg.f32)
    a, b, c = (g.alloc(shape=N, dtype=cg.f32) for _ in range(3))
    first = g.join(a, b, c).call(combine, a, x, x, 1.0)
    end = first.call(combine, b, a, a, 1.0).call(combine, c, b, b, 1.0).memcpy(to, c)
    end.free(a).free(b).free(c)
    graph = g.instantiate()
    graph[first].update(config=cg.LaunchConfig(grid=3, block=64))
    graph.launch(stream)
    stream.sync()
    assert (to.to_numpy() == 8).all()
    graph[first].update(args=(a, x, x, 2.0))  # a view takes an array with an address
    assert [each._place() for each in (a, b, c)] == ["own", "shared", "shared"]
    graph.launch(stream)
    stream.sync()
    assert (to.to_numpy() == 12).all()


@pytest.mark.parametrize("reads", [False, True])
def test_disabled_nodes_find_their_array_when_they_are_enabled(reads, stream, pinned):
    out = pinned(np.zeros(4, "i4"))
    g = cg.GraphDef()
    m, n = (g.alloc(shape=4, dtype=cg.i32) for _ in range(2))
    fill = m.join(n).memset(m, 1)
    again = fill.memset(m[2:], 2)
    again.memcpy(out, m).memset(n, 3).free(m).free(n)
    graph = g.instantiate()
    graph[again].disable()
    graph.launch(stream)
    stream.sync()
    assert out.tolist() == [1, 1, 1, 1]
    if reads:
        assert m.dptr
        graph.launch(stream)
        stream.sync()
        assert out.tolist() == [1, 1, 1, 1]
    graph[again].enable()
    graph.launch(stream)
    stream.sync()
    assert out.tolist() == [1, 1, 2, 2]


def test_an_update_that_runs_out_of_memory_changes_nothing(stream):
    g, x, to = cg.GraphDef(), cg.full(N, 1, cg.f32), cg.zeros(N, cg.f32)
    small = g.alloc(shape=N, dtype=cg.f32)
    large = small.alloc(shape=(1 << 30, 1 << 14), dtype=cg.f64)
    used = large.memset(small, 0)
    used.call(combine, small, x, x, 2.0).memcpy(to, small).free(small).free(large)
    graph = g.instantiate()  # no node uses the large array
    used.update(dst=large)
    with pytest.raises(cg.CUDAError, match="OUT_OF_MEMORY"):
        graph.update(g)
    graph.launch(stream)
    stream.sync()
    assert (to.to_numpy() == 3).all()


def test_threads_build_definitions_at_the_same_time(device):
    def build(number, results):
        device.set_current()
        stream = device.create_stream()
        for turn in range(10):
            program = Program(100 * number + turn, 12)
            graph = program.g.instantiate()
            program.check(graph, stream)
            results.append({each._place() for each in program.arrays} <= {"shared"})

    parallelize(build, 4)


def parallelize(function, count):
    results = [[] for _ in range(count)]
    threads = [threading.Thread(target=function, args=(i, results[i])) for i in range(count)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert all(len(each) == 10 and all(each) for each in results)


def test_checks_and_pictures_name_the_arrays(device):
    g = cg.GraphDef()
    a, b, c = (g.alloc(shape=4, dtype=cg.i32, name=name) for name in "abc")
    a.memset(a[1:3], 0)
    second = a.join(b, c).memset(a, 1)
    end = second.memset(b, 2).memset(c, 3)
    end.free(a).free(b).free(c)
    unordered, _ = map(str, g.check())  # the fills, and the first fill and the free node
    assert "bytes 4..11 of AllocNode 'a'" in unordered and "bytes 0..15 of AllocNode 'a'" in unordered
    assert "shares memory with c" in g.draw().html()
    address = a.dptr
    unordered, _ = map(str, g.check())
    assert f"{address + 4:#x}..{address + 11:#x}" in unordered


def test_arrays_of_two_devices_have_memory_on_their_device(run_child, driver, tmp_path):
    run_with_devices(run_child, driver, tmp_path, ON_TWO_DEVICES)


ON_TWO_DEVICES = """
import numpy as np
import cuda_graphs as cg

devices = cg.Device.get_all_devices()[:2]
N = 300

@cg.kernel
def double(y: cg.Array1[cg.f32], x: cg.Array1[cg.f32]):
    for i in y:
        y[i] = 2 * x[i]

for number, device in enumerate(devices):
    device.set_current()
    x, to = cg.full(N, 1, cg.f32), cg.zeros(N, cg.f32)
    devices[1 - number].set_current()
    g = cg.GraphDef()
    place, value, made = g, x, []
    for _ in range(5):
        array = place = place.alloc(shape=N, dtype=cg.f32, device=number)
        made.append(array)
        place = place.call(double, array, value)
        value = array
    place = place.memcpy(to, value)
    for each in made:
        place = place.free(each)
    device.set_current()
    use = g.memory
    assert use.peak == 2 * 1280, use
    graph = g.instantiate()
    stream = device.create_stream()
    graph.launch(stream)
    stream.sync()
    assert (to.to_numpy() == 32).all()
    del graph
"""


NUMBERS = """
import numpy as np
import cuda_graphs as cg

device = cg.Device()
device.set_current()
text = "extern \\"C\\" __global__ void put(double* x, long long* y, double a, long long b) { *x = a; *y = b; }"
put = cg.Program(text, "c++").compile("ptx").get_kernel("put")
stream = device.create_stream()
found, counts = cg.zeros(1, cg.f64), cg.zeros(1, cg.i64)
g = cg.GraphDef()
x, y = g.alloc(shape=1, dtype=cg.f64), g.alloc(shape=1, dtype=cg.i64)  # the first ones of the process
values = np.float64(-0.0), np.int64(-(2**63))
last = g.join(x, y).launch(cg.LaunchConfig(grid=1, block=1), put, x, y, *values).memcpy(found, x).memcpy(counts, y)
last.free(x).free(y)
g.instantiate().launch(stream)
stream.sync()
real, whole = found.to_numpy()[0], counts.to_numpy()[0]
assert np.signbit(real) and real == 0 and whole == -(2**63), (real, whole)
"""


def test_numbers_of_a_kernel_are_no_addresses(run_child):
    """A negative zero and the least integer have the highest bit alone, as the first address of an array could have."""
    done = run_child(NUMBERS)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_view_with_another_config_leaves_the_arguments_of_the_node(stream, kernels, pinned):
    out = pinned(np.zeros(1, "i4"))
    g = cg.GraphDef()
    a = g.alloc(shape=2, dtype=cg.i32)
    work = a.memset(a, 0).launch(ONE, kernels.tally, a)
    work.memcpy(out, a[:1]).free(a)
    graph = g.instantiate()
    graph[work].update(config=cg.LaunchConfig(grid=2, block=1))
    graph[work].update(config=ONE)
    for _ in range(2):
        graph.launch(stream)
        stream.sync()
        assert out.tolist() == [1]
        assert work.args == (
            a.dptr,
        )  # the array has memory of its own from here on, and the executable follows


def test_threads_that_read_an_address_first_get_the_same(stream):
    for _ in range(20):
        g = cg.GraphDef()
        a = g.alloc(shape=N, dtype=cg.f32)
        a.free(a)
        graph = g.instantiate()
        barrier, found = threading.Barrier(4), []

        def read(array=a, barrier=barrier, found=found):
            cg.Device().set_current()
            barrier.wait()
            found.append(array.dptr)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert len(set(found)) == 1 and a.dptr == found[0]
        graph.launch(stream)
        stream.sync()


def test_arrays_take_no_memory_of_the_resource_of_the_device(stream, device):
    """A resource of the program may have another kind of memory, and be code that asks for addresses itself."""

    class Refusing(cg.MemoryResource):
        def allocate(self, size, *, stream=None):
            raise AssertionError("asked for memory")

    usual = device.memory_resource
    g = cg.GraphDef()
    a, b = g.alloc(shape=N, dtype=cg.f32), g.alloc(shape=N, dtype=cg.f32)
    x, to = cg.full(N, 1, cg.f32), cg.zeros(N, cg.f32)
    last = g.join(a, b).call(combine, a, x, x, 1.0).call(combine, b, a, a, 1.0).memcpy(to, b)
    last.free(a).free(b)
    try:
        device.memory_resource = Refusing()
        graph = g.instantiate()
        assert a.dptr
    finally:
        device.memory_resource = usual
    graph.launch(stream)
    stream.sync()
    np.testing.assert_array_equal(to.to_numpy(), np.full(N, 4, "f4"))
