# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Requirements of graph kernels that are refused, turned off, restored or restarted, or that miss a feature of the
driver, a law each."""

import ast
import logging
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs import testing
from cuda_graphs.kernels import shapes
from cuda_graphs.kernels.specialisation import options
from tests.kernels.graph_kernel_laws import LAWS, names_of_tests
from tests.kernels.graph_kernels import (
    array,
    body,
    counted,
    counters,
    f32_0d,
    f32_1d,
    i32_0d,
    i32_1d,
    two,
)


def returning():
    """Functions that answer."""

    def number(x: f32_1d) -> cg.f32:
        return x[0]

    def several(x: f32_1d) -> tuple[cg.f32, cg.i32]:
        return x[0], 1

    def in_words(x: f32_1d) -> "cg.f32":
        return x[0]

    def of_python(x: f32_1d) -> float:
        return x[0]

    return number, several, in_words, of_python


@pytest.mark.parametrize("answers", returning(), ids=lambda each: each.__name__)
def test_a_graph_kernel_that_returns_something_is_refused_when_it_is_decorated(answers):
    with pytest.raises(TypeError, match=f"{answers.__name__}: a graph kernel returns nothing"):
        cg.kernel(graph=True)(answers)


def test_a_return_that_is_not_declared_is_refused_when_it_is_decorated_too():
    def answers(x: f32_1d):
        for i in x:
            x[i] = 1
        return x[0]

    with pytest.raises(
        TypeError, match=r"answers: a graph kernel returns nothing, .* have it write to an array"
    ):
        cg.kernel(graph=True)(answers)


def test_a_return_in_a_branch_is_refused_by_the_compiler():
    """The compiler knows whether the branch is there"""

    @cg.kernel(graph=True)  # noqa: RET503
    def answers(x: f32_1d, tells: cg.template):
        for i in x:
            x[i] = 1
        if cg.static(tells):
            return x[0]

    x = array([5])
    with pytest.raises(cg.CompileReturnError, match="a graph kernel returns nothing") as caught:
        answers(x, True)
    assert "have it write to an array" in str(caught.value)
    assert x[0] == 5
    answers(x, False)
    assert x[0] == 1


def test_a_kernel_that_says_it_returns_none_may_be_a_graph():
    @cg.kernel(graph=True)
    def nothing(x: f32_1d) -> None:
        for i in x:
            x[i] = 1

    x = array([5])
    assert nothing(x) is None
    assert (x[0], counters(nothing)) == (1, (1, 1, False))


def test_an_unknown_lowering_is_refused_when_it_is_decorated():
    with pytest.raises(ValueError, match="loop must be one of auto, conditional, resident, host, got 'fast'"):
        cg.kernel(graph=True, loop="fast")(body)


def test_words_of_graph_kernels_mean_nothing_outside():
    with pytest.raises(RuntimeError, match="graph_do_while"):
        cg.graph_do_while(array(1, cg.i32))


def test_a_gradient_is_no_graph(driver):
    """Only the kernel itself is a graph; its gradient is right, and counts as none of its graphs"""

    @cg.kernel(graph=True)
    def energy(x: f32_1d, total: f32_0d):
        for i in x:
            total[()] += x[i] * x[i]

    x = cg.ndarray(cg.f32, 4, needs_grad=True)
    x.from_numpy(np.arange(4, dtype="f4"))
    total = cg.ndarray(cg.f32, (), needs_grad=True)
    total.fill(0)
    for calls in (1, 2):
        energy(x, total)
        x.grad.fill(0)
        total.grad.fill(1)
        if driver.kind == "host":
            with testing.calls() as made:
                energy.grad(x, total)
            assert not any("GraphLaunch" in name or "Instantiate" in name for name in made)
        else:
            energy.grad(x, total)
        np.testing.assert_array_equal(x.grad.to_numpy(), 2 * np.arange(4, dtype="f4"))
        assert total[()] == 14 * calls
        assert counters(energy) == (1, 1, calls > 1)
    with pytest.raises(AttributeError, match="not a graph kernel"):
        energy.grad.graph_stats  # noqa: B018


OFF = """
import logging, numpy as np, cuda_graphs as cg
from tests.kernels.graph_kernels import array, body, two
k = cg.kernel(body, graph=True)
for number in (4, 2):
    x, c = array(np.zeros(3), cg.i32), array(number, cg.i32)
    k(x, c)
    print(x.to_numpy().tolist(), tuple(k.graph_stats))
x, y = array([1]), array([2])
for _ in range(2):
    two(3.0, x, y)
print(x[0], y[0], tuple(two.graph_stats))
print("environment" in two.explain(3.0, x, y).why)
"""


@pytest.mark.parametrize(("value", "is_on"), [("1", True), ("0", False), ("", False), ("off", False)])
def test_the_environment_turns_graphs_off_and_results_stay(run_child, value, is_on):
    """1 turns graphs on, any other value off, for all kernels"""
    found = run_child(OFF, CUDA_GRAPHS_KERNEL_GRAPHS=value)
    assert (found.returncode, found.stderr) == (0, "")
    lines = found.stdout.splitlines()
    counts = ["1, 1, False", "1, 1, True"] if is_on else ["0, 0, False"] * 2
    for line, values, numbers in zip(lines, ([4] * 3, [2] * 3), counts):
        assert line.startswith(f"{values} ({numbers}, ")
        assert line.endswith("'host')") == (not is_on)
    assert lines[2].startswith(f"24.0 23.0 ({counts[1]}, ")
    assert lines[3] == str(not is_on)


def test_a_kernel_works_after_reset(lowering):
    """A reset drops the graphs, and the next call builds again"""
    kernel, x, c = cg.kernel(body, graph=True, loop=lowering), array([0, 0], cg.i32), array(2, cg.i32)
    kernel(x, c)
    a, b = array([1]), array([1])
    two(1.0, a, b)
    builds = two.graph_stats.builds
    for number in range(1, 4):
        cg.reset()
        assert (kernel.graph_stats.graphs, two.graph_stats.graphs) == (0, 0)
        assert (kernel.graph_stats.replayed, kernel.graph_stats.lowering) == (False, None)
        for calls in (1, 2):
            c.fill(1)
            kernel(x, c)
            two(0.0, a, b)
            assert counters(kernel) == counted(lowering, 1, number + 1, calls == 2)
            assert two.graph_stats.builds == builds + number
        assert x.to_numpy().tolist() == [2 + 2 * number] * 2
        assert (a[0], b[0]) == (3, 2)


def test_reset_forgets_each_kernel_there_is_and_no_array(stream):
    """Kernels of objects and kernels without a graph are among them, while work runs"""

    @cg.kernel
    def plain(x: i32_1d, value: cg.template):
        for i in x:
            x[i] += value

    field, x = cg.field(cg.i32, 3), array(np.zeros(1000), cg.i32)
    field.fill(7)
    for _ in range(20):
        plain(x, 1, stream=stream)
        cg.reset()
    assert "0 specialisations" in repr(plain)
    stream.sync()
    assert x.to_numpy().tolist() == [20] * 1000
    assert field.to_numpy().tolist() == [7] * 3


def test_a_loop_runs_on_the_host_where_the_device_has_no_conditional_nodes(monkeypatch, caplog):
    """The log says so; there is no error"""
    monkeypatch.setattr(options, "loops_of", lambda loop: "host" if loop == "auto" else loop)
    kernel, x, c = cg.kernel(body, graph=True), array([0], cg.i32), array(3, cg.i32)
    with caplog.at_level(logging.INFO, "cuda_graphs"):
        kernel(x, c)
    assert (x[0], c[()]) == (3, 0)
    assert (counters(kernel), kernel.graph_stats.lowering) == ((0, 0, False), "host")
    assert "no conditional nodes" in caplog.text
    assert "no conditional nodes" in kernel.explain(x, c).why
    straight, a, b = cg.kernel(two.__wrapped__, graph=True), array([1]), array([2])
    for _ in range(2):
        straight(1.0, a, b)  # has no loop between tasks
    assert counters(straight) == (1, 1, True)
    assert b[0] == 7


def test_tasks_are_launched_where_the_driver_does_not_build_the_graph(driver, caplog):
    """The failure may also come in the first call of a kernel only. A kernel that demands nodes raises the
    error."""
    if driver.kind != "host":
        pytest.skip("only the host driver fails on purpose")
    failure = ("cuGraphInstantiateWithParams", 1, "CUDA_ERROR_NOT_SUPPORTED")
    kernel, x = cg.kernel(body, graph=True), array([0, 0], cg.i32)
    with testing.fail(*failure), caplog.at_level(logging.INFO, "cuda_graphs"):
        kernel(x, array(4, cg.i32))
    assert "builds no graph" in caplog.text
    kernel(x, array(2, cg.i32))
    assert x.to_numpy().tolist() == [6, 6]
    assert (counters(kernel), kernel.graph_stats.lowering) == ((0, 0, False), "host")
    assert "cannot build" in kernel.explain(x, array(2, cg.i32)).why
    straight, y = cg.kernel(two.__wrapped__, graph=True), np.zeros(3, "f4")
    with testing.fail(*failure):
        straight(2.0, np.ones(3, "f4"), y)
    assert (y.tolist(), counters(straight)) == ([2] * 3, (0, 0, False))
    strict = cg.kernel(body, graph=True, loop="conditional")
    with testing.fail(*failure), pytest.raises(cg.CUDANotSupportedError):
        strict(x, array(1, cg.i32))
    strict(x, array(1, cg.i32))
    assert x[0] == 7


def test_a_build_that_fails_otherwise_is_an_error_and_may_be_tried_again(driver):
    """Nothing is left of it"""
    if driver.kind != "host":
        pytest.skip("only the host driver fails on purpose")
    kernel, x = cg.kernel(body, graph=True), array([0, 0], cg.i32)
    with testing.fail("cuGraphInstantiateWithParams"), pytest.raises(cg.CUDAOutOfMemoryError):
        kernel(x, array(4, cg.i32))
    assert counters(kernel) == (0, 0, False)
    kernel(x, array(4, cg.i32))
    assert (x[0], counters(kernel)) == (4, (1, 1, False))


FROM_DISK = """
from pathlib import Path
import numpy as np, cuda_graphs as cg
from tests.kernels.graph_kernels import array
from tests.kernels.test_graph_loops import nest, nest_in_python
kernel = cg.kernel(nest, graph=True, loop=LOOP)
for a, d in ((3, 2), (1, 4)):
    x, flags = array(np.arange(3), cg.i32), [array(n, cg.i32) for n in (a, 0, 0, d)]
    kernel(x, *flags)
    np.testing.assert_array_equal(x.to_numpy(), nest_in_python(np.arange(3), a, d))
print(tuple(kernel.graph_stats))
print("translated" if cg.compile_cache.misses else "from disk", cg.compile_cache.hits)
print("toolkit" if "libnvrtc" in Path("/proc/self/maps").read_text() else "driver")
"""


def test_loops_of_a_kernel_from_disk_are_what_they_were(run_child, tmp_path, lowering):
    """Nothing is translated again; and no compiler of a toolkit is asked in either run"""
    environment = {"CUDA_GRAPHS_CACHE_DIR": str(tmp_path / "cache"), "CUDA_GRAPHS_CACHE": "1"}
    code = FROM_DISK.replace("LOOP", repr(lowering))
    runs = [run_child(code, **environment) for _ in range(2)]
    assert [(each.returncode, each.stderr) for each in runs] == [(0, "")] * 2
    first, second = (each.stdout.splitlines() for each in runs)
    assert first[0] == second[0]
    assert (first[1], second[1]) == ("translated 0", "from disk 1")
    assert (first[2], second[2]) == ("driver", "driver")


TWO_DEVICES = """
import numpy as np, cuda_graphs as cg
from tests.kernels.graph_kernels import body
kernel = cg.kernel(body, graph=True)
devices = [cg.Device(n) for n in range(2)]
arrays = []
for device in devices:
    device.set_current()
    arrays.append((cg.ndarray(cg.i32, 5), cg.ndarray(cg.i32, ())))
for calls in range(4):
    for device, (x, c) in zip(devices, arrays):
        device.set_current()
        c.fill(calls + 1)
        kernel(x, c)
        assert kernel.graph_stats.replayed == (calls > 0)
for device, (x, c) in zip(devices, arrays):
    device.set_current()
    assert x.to_numpy().tolist() == [10] * 5, x.to_numpy()
assert (kernel.graph_stats.graphs, kernel.graph_stats.builds) == (2, 2), kernel.graph_stats
"""


def test_each_device_has_a_graph_of_its_own(run_child, driver):
    """The current context decides which graph runs"""
    if driver.kind != "host" and len(cg.Device.get_all_devices()) < 2:
        pytest.skip("needs two devices")
    found = run_child(TWO_DEVICES, CUDA_GRAPHS_HOST_DEVICES="2")
    assert (found.returncode, found.stderr) == (0, "")


@pytest.mark.parametrize("count", [12_000, 12_033, 40_000])
def test_nodes_whose_blocks_share_more_than_usual_have_the_attribute_for_it(count):
    """48 KiB need no attribute"""

    @cg.kernel(graph=True)
    def turned(x: f32_1d, y: f32_1d, size: cg.template):
        for b, t in cg.blocks(3, 32):
            tile = cg.block.shared_array(cg.f32, size)
            tile[t] = x[t] + b
            tile[size - 32 + t] = x[t] - b
            cg.block.sync()
            y[b * 64 + t] = tile[31 - t]
            y[b * 64 + 32 + t] = tile[size - 1 - t]

    values = np.arange(32, dtype="f")
    x, y = array(values), array(np.zeros(3 * 64))
    (node,) = turned.graph(x, y, count).nodes()
    asked = node.config.shmem_size
    assert asked == (-(-4 * count // 16) * 16 if count > 12_032 else 0)
    assert node.kernel.attributes.max_dynamic_shared_size_bytes >= asked
    wanted = np.concatenate([values[::-1] + sign * b for b in range(3) for sign in (1, -1)])
    for _ in range(2):
        y.fill(0)
        turned(x, y, count)
        assert np.array_equal(y.to_numpy(), wanted)
    assert counters(turned) == (1, 1, True)
    y.fill(0)
    cg.kernel(turned.__wrapped__)(x, y, count)
    assert np.array_equal(y.to_numpy(), wanted)


def test_a_device_that_has_less_memory_for_blocks_says_so(monkeypatch):
    device = SimpleNamespace(
        device_id=0, properties=SimpleNamespace(max_shared_memory_per_block_optin=99 * 1024)
    )
    monkeypatch.setattr(shapes, "current_device", lambda: device)

    @cg.kernel(graph=True)
    def large(x: f32_1d):
        for _, t in cg.blocks(1, 32):
            tile = cg.block.shared_array(cg.f32, 30_000)
            tile[t] = x[t]
            cg.block.sync()
            x[t] = tile[31 - t]

    with pytest.raises(
        ValueError, match="needs 120000 bytes of shared memory, but device 0 has 101376: use smaller tiles"
    ):
        large(array(np.zeros(32)))


def test_counters_have_these_names():
    kernel = cg.kernel(body, graph=True)
    assert kernel.graph_stats == (0, 0, False, 0, 0, None)
    kernel(array([0], cg.i32), array(1, cg.i32))
    found = kernel.graph_stats._asdict()
    assert list(found) == ["graphs", "builds", "replayed", "nodes", "tasks", "lowering"]
    assert isinstance(found["replayed"], bool)
    assert (found["graphs"], found["builds"], found["tasks"]) == (1, 1, 2)
    if found["lowering"] == "conditional":
        assert found["nodes"] == 3  # two tasks and the loop: the test of the flag is in one of them


# What there is.


def test_the_guide_says_what_a_loop_on_the_host_costs_and_what_to_do():
    page = (Path(__file__).parents[2] / "docs/guide/graph-kernels.md").read_text()
    caveat = page.partition('With `loop="host"` each iteration waits for the device.')[2].partition("\n\n")[0]
    assert "fixed number of iterations" in " ".join(caveat.split())
    assert "range(x.shape[0] if flag[()] else 0)" in caveat

    @cg.kernel(graph=True)
    def fixed_rounds(x: f32_1d, flag: i32_0d):
        for _ in cg.static(range(10)):
            for i in range(x.shape[0] if flag[()] else 0):
                x[i] = x[i] / 2
            flag[()] = 1 if x[0] > 1 else 0

    x, flag = array(np.full(5, 8)), array(1, cg.i32)
    fixed_rounds(x, flag)
    assert (x.to_numpy().tolist(), flag[()]) == ([1] * 5, 0)


@pytest.mark.parametrize("file", LAWS)
def test_each_law_of_graph_kernels_has_tests_that_pytest_finds(file):
    tree = ast.parse(Path(__file__).with_name(file).read_text())
    tests = {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}
    assert [name for name in names_of_tests(LAWS[file]) if name not in tests] == []


def test_the_counters_tell_of_the_last_call():
    """Some of these calls are graphs."""

    @cg.kernel(graph=True, loop="host")
    def sometimes(x: i32_1d, left: i32_0d, loops: cg.template):
        for i in x:
            x[i] += 1
        if cg.static(loops):
            while cg.graph_do_while(left):
                for i in x:
                    x[i] += 1
                left[()] -= 1

    x, left = array([0], cg.i32), array(2, cg.i32)
    sometimes(x, left, True)
    looped = sometimes.graph_stats
    sometimes(x, left, False)
    straight = sometimes.graph_stats
    left.fill(2)
    sometimes(x, left, True)
    assert (looped.tasks, looped.lowering, straight.tasks) == (3, "host", 1)
    assert sometimes.graph_stats[4:] == looped[4:]
    assert x[0] == 7
