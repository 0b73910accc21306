# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a kernel of another library, adapted, is a KernelNode that does what the library's launch does, wherever a
Kernel may stand, and its node keeps the code and the arrays.

The kernels are stand-ins of what the libraries have (stand_ins.py); the libraries themselves are in test_adapted_*.py.
"""

import gc
import weakref

import numpy as np
import pytest

import cuda_graphs as cg
from tests.graph_rig import eventually
from tests.interop import stand_ins

__all__ = ["eventually"]

SCALE = """
extern "C" __global__ void scale(float* x, int n, float a, double b, short c, float2 z) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = a * x[i] + b + c + z.x - z.y;
}
"""


@pytest.fixture(scope="session")
def scale_code(session_device):
    return cg.Program(SCALE, code_type="c++").compile("cubin").code


class NumbaCase:
    """y[i] = x[i, 1] * a + n + pair[0] * pair[1] + z.real - z.imag, of 40 elements."""

    def __init__(self, gone, scale_code):
        self.peer = stand_ins.numba_spread(gone)
        self.adapted = cg.interop.numba(self.peer)
        self.values = np.arange(120, dtype="f").reshape(40, 3)
        self.x, self.y = cg.ndarray(cg.f32, (40, 3)), cg.ndarray(cg.f64, 40)
        self.x.from_numpy(self.values)
        self.config = cg.LaunchConfig(grid=2, block=32)
        self.bound = self.adapted[2, 32]
        self.out = self.y

    def args(self, a, n):
        return self.x, self.y, a, n, True, 3 - 2j, (4, 0.5)

    def expected(self, a, n, times=1):
        return self.values[:, 1] * np.float64(a) + n + 2 + 5


class CupyCase:
    """x[i] = a * x[i] + 0.5 + n + z.x - z.y, of 40 elements."""

    def __init__(self, gone, scale_code):
        self.peer = stand_ins.RawKernel(scale_code, "scale", gone)
        self.adapted = cg.interop.cupy(self.peer)
        self.x = self.out = cg.ndarray(cg.f32, 40)
        self.x.from_numpy(np.arange(40))
        self.config = cg.LaunchConfig(grid=2, block=32)
        self.bound = self.adapted[{"grid": 2, "block": 32}]

    def args(self, a, n):
        return self.x, 40, a, 0.5, n, np.complex64(1 - 1j)

    def expected(self, a, n, times=1):
        found = np.arange(40, dtype="f8")
        for _ in range(times):
            found = a * found + 0.5 + n + 2
        return found


class TritonCase:
    """y[i] = a * x[i] + y[i], of n elements of 40."""

    def __init__(self, gone, scale_code):
        self.peer = stand_ins.JITFunction()
        self.adapted = cg.interop.triton(self.peer, BLOCK=64, step=1)
        self.x, self.y = cg.ndarray(cg.f32, 40), cg.ndarray(cg.f32, 40)
        self.x.from_numpy(np.arange(40))
        self.y.fill(1)
        self.config = None
        self.bound = self.adapted[(1,)]
        self.out = self.y

    def args(self, a, n):
        return self.x, self.y, a, n

    def expected(self, a, n, times=1):
        return 1 + times * a * np.arange(40) * (np.arange(40) < n)


@pytest.fixture(params=[NumbaCase, CupyCase, TritonCase], ids=["numba", "CuPy", "Triton"])
def case(request, device, scale_code):
    made = request.param([], scale_code)
    yield made
    device.sync()


def test_adapted_kernel_is_a_kernel_node(case, stream, run):
    g = cg.GraphDef()
    node = g.call(case.bound, *case.args(2.0, 7), name="theirs")
    assert isinstance(node, cg.KernelNode)
    assert node.name == "theirs"
    assert len(g.nodes()) == 1
    run(g, times=2)
    np.testing.assert_allclose(case.out.to_numpy(), case.expected(2.0, 7, times=2))


def test_adapted_kernel_is_launched_where_a_kernel_is(case, run):
    g = cg.GraphDef()
    if case.config is not None:
        node = g.launch(case.config, case.adapted, *case.args(0.5, 3))
        assert node.config == case.config
    else:
        node = g.launch(None, case.bound, *case.args(0.5, 3))
    node.launch(None, case.bound, *case.args(0.5, 3))
    run(g)
    np.testing.assert_allclose(case.out.to_numpy(), case.expected(0.5, 3, times=2))


def test_adapted_kernel_is_launched_on_streams(case, stream):
    if case.config is not None:
        cg.launch(stream, case.config, case.adapted, *case.args(3.0, 9))
    else:
        cg.launch(stream, None, case.bound, *case.args(3.0, 9))
    stream.sync()
    np.testing.assert_allclose(case.out.to_numpy(), case.expected(3.0, 9))


def test_adapted_kernel_is_captured(case, device, stream):
    with device.create_graph_builder() as gb:
        cg.launch(gb, None, case.bound, *case.args(3.0, 9))
        cg.launch(gb, None, case.bound, *case.args(3.0, 9))
    assert [type(node) for node in gb.graph_definition.nodes()] == [cg.KernelNode] * 2
    graph = gb.complete()
    graph.launch(stream)
    stream.sync()
    np.testing.assert_allclose(case.out.to_numpy(), case.expected(3.0, 9, times=2))


def test_numbers_are_named_parameters(case, stream):
    g = cg.GraphDef()
    a, n = g.param("a", cg.f32), g.param("n", cg.i16 if isinstance(case, CupyCase) else cg.i32, default=9)
    g.call(case.bound, *case.args(a, n))
    graph = g.instantiate()
    graph.launch(stream, a=2.5)
    stream.sync()
    np.testing.assert_allclose(case.out.to_numpy(), case.expected(2.5, 9))


def test_adapted_kernel_is_called_in_bodies(case, kernels, pinned, run):
    left = pinned([2])
    g = cg.GraphDef()
    more = g.create_condition(1)
    loop = g.while_loop(more)
    step = loop.body.call(case.bound, *case.args(2.0, 7))
    step.launch(cg.LaunchConfig(grid=1, block=1), kernels.count_down, more, left.ctypes.data)
    run(g)
    np.testing.assert_allclose(case.out.to_numpy(), case.expected(2.0, 7, times=2))


@pytest.mark.parametrize("make", [NumbaCase, CupyCase], ids=["numba", "CuPy"])
def test_a_node_keeps_code_that_its_library_forgot(make, device, scale_code, stream, eventually):
    gone = []
    case = make(gone, scale_code)
    g = cg.GraphDef()
    g.call(case.bound, *case.args(2.0, 7))
    out, expected = case.out, case.expected(2.0, 7)
    del case
    graph = g.instantiate()
    del g
    gc.collect()
    assert gone == []
    graph.launch(stream)
    stream.sync()
    np.testing.assert_allclose(out.to_numpy(), expected)
    del graph
    eventually(lambda: gone)


def test_a_node_keeps_the_arrays(case, stream, eventually):
    arrays = [weakref.ref(value) for value in case.args(2.0, 7) if isinstance(value, type(case.out))]
    g = cg.GraphDef()
    g.call(case.bound, *case.args(2.0, 7))
    for name in ("x", "y", "out"):
        vars(case).pop(name, None)
    graph = g.instantiate()
    del g
    gc.collect()
    assert [each() is not None for each in arrays] == [True] * len(arrays)
    graph.launch(stream)
    stream.sync()
    del graph
    eventually(lambda: all(each() is None for each in arrays))


def test_repr_of_an_adapted_kernel_names_its_library(case):
    name = case.adapted.name
    assert repr(case.adapted) == f"<{case.adapted.library} kernel {name}>"
    assert repr(case.bound).startswith(f"<{case.adapted.library} kernel {name} with ")
    assert case.adapted.config is None  # brackets made another one


def test_a_launch_needs_one_configuration(case, stream):
    g = cg.GraphDef()
    for call in (
        lambda: g.call(case.adapted, *case.args(2.0, 7)),
        lambda: g.launch(None, case.adapted, *case.args(2.0, 7)),
        lambda: cg.launch(stream, None, case.adapted, *case.args(2.0, 7)),
    ):
        with pytest.raises(ValueError, match="has no launch configuration: give one, or write adapted"):
            call()
    with pytest.raises(ValueError, match=r"has a launch configuration: pass None|takes only a grid"):
        g.launch(cg.LaunchConfig(grid=1, block=1), case.bound, *case.args(2.0, 7))
    assert not g.nodes()


def test_wrong_arguments_are_refused_and_nothing_is_added(case):
    g = cg.GraphDef()
    args = case.args(2.0, 7)
    for wrong in (args[:-1], (*args, 1), (*args[:2], "2", *args[3:]), ()):
        with pytest.raises(TypeError):
            g.call(case.bound, *wrong)
    assert not g.nodes()


def test_arrays_of_the_host_are_refused(case):
    if case.adapted.library == "CuPy":
        text = "pageable host memory"
    else:
        text = "in memory of the host, which the device cannot reach"
    host = np.zeros((40, 3) if case.adapted.library == "numba" else 40, "f")
    g = cg.GraphDef()
    with pytest.raises(TypeError, match=text):
        g.call(case.bound, host, *case.args(2.0, 7)[1:])
    assert not g.nodes()


@pytest.mark.parametrize("adapter", ["numba", "cupy", "triton"])
@pytest.mark.parametrize("thing", [None, 3, len, "kernel"], ids=repr)
def test_only_its_own_kernels_are_adapted(adapter, thing):
    with pytest.raises(TypeError, match=rf"{adapter}\(\) takes"):
        getattr(cg.interop, adapter)(thing)


@pytest.mark.parametrize("config", [3, (1,), (1, 2, 3, 4), "2, 32", None], ids=repr)
def test_configuration_of_a_wrong_type_is_refused(config, scale_code, device):
    for case in (NumbaCase([], scale_code), CupyCase([], scale_code)):
        with pytest.raises(TypeError, match="takes a LaunchConfig, or"):
            case.adapted[config]
