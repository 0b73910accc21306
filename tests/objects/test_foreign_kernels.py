# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a kernel of code that foreign code loaded is a Kernel, and keeps the owner that the caller names."""

import ctypes
import gc
import weakref

import pytest

import cuda_graphs as cg
from tests.graph_rig import code, compiled, eventually, pinned

__all__ = ["code", "compiled", "eventually", "pinned"]


class Owner:
    """The owner of loaded code."""


def loaded(code, how, get, unload):
    """The handle of `add` in code that this package knows nothing of."""
    driver = ctypes.CDLL(cg.driver_info().path)
    module, found = ctypes.c_void_p(), ctypes.c_void_p()
    rest = (None, None, 0, None, None, 0) if how == "cuLibraryLoadData" else ()
    assert getattr(driver, how)(ctypes.byref(module), code, *rest) == 0
    assert getattr(driver, get)(ctypes.byref(found), module, b"add") == 0
    yield found.value
    cg.Device().sync()
    assert getattr(driver, unload)(module) == 0


@pytest.fixture
def function(device, code):
    """A CUfunction."""
    yield from loaded(code, "cuModuleLoadData", "cuModuleGetFunction", "cuModuleUnload")


@pytest.fixture
def raw_kernel(device, code):
    """A CUkernel."""
    yield from loaded(code, "cuLibraryLoadData", "cuLibraryGetKernel", "cuLibraryUnload")


@pytest.fixture(autouse=True, params=["as the driver says", "as an H200 says"])
def said(request, driver, driver_table):
    """Sets the driver's answer for nodes that launch a function of a module; on an H200 that function is no
    CUkernel."""
    if request.param == "as the driver says" or driver.kind == "cuda":
        return
    original = driver_table.original("cuGraphKernelNodeGetParams")

    def without_kernel(node, params, *rest):
        status = original(node, params, *rest)
        kern = ctypes.c_void_p.from_address(params + 56)  # CUDA_KERNEL_NODE_PARAMS_v2
        kern.value = None
        return status

    driver_table.replace("cuGraphKernelNodeGetParams", without_kernel)


def test_a_function_of_a_module_is_a_kernel(function, stream, pinned):
    kernel = cg.Kernel.from_function(function)
    assert kernel.name == "add"
    assert [each.size for each in kernel.arguments_info] == [8, 4, 4]
    assert kernel == cg.Kernel.from_function(function)
    x = pinned([1, 2])
    cg.launch(stream, cg.LaunchConfig(grid=1, block=2), kernel, x.ctypes.data, cg.i32(2), cg.i32(5))
    g = cg.GraphDef()
    node = g.launch(cg.LaunchConfig(grid=1, block=2), kernel, x.ctypes.data, cg.i32(1), cg.i32(10))
    assert node.kernel == kernel
    g.instantiate().launch(stream)
    stream.sync()
    assert x.tolist() == [16, 7]


def test_function_of_a_module_has_attributes_and_occupancy(function):
    kernel = cg.Kernel.from_function(function)
    assert kernel.handle == function
    assert kernel.attributes.max_threads_per_block >= 32
    kernel.attributes.max_dynamic_shared_size_bytes = 1024
    assert kernel.attributes.max_dynamic_shared_size_bytes == 1024
    assert kernel.occupancy.max_active_blocks_per_multiprocessor(32, 0) >= 1


def test_a_module_s_function_has_named_parameters_and_updates(function, stream, pinned):
    kernel = cg.Kernel.from_function(function)
    x = pinned([1, 2])
    g = cg.GraphDef()
    node = g.launch(
        cg.LaunchConfig(grid=1, block=2), kernel, x.ctypes.data, cg.i32(2), g.param("amount", cg.i32)
    )
    graph = g.instantiate()
    graph.launch(stream, amount=10)
    graph.launch(stream, amount=20)
    stream.sync()
    assert x.tolist() == [31, 32]
    node.update(args=(x.ctypes.data, cg.i32(2), cg.i32(7)))
    assert node.kernel == kernel
    graph = g.instantiate()
    graph[node].update(config=node.config, kernel=kernel, args=(x.ctypes.data, cg.i32(1), cg.i32(100)))
    graph.launch(stream)
    stream.sync()
    assert x.tolist() == [131, 32]
    graph.update(g)
    graph.launch(stream)
    stream.sync()
    assert x.tolist() == [138, 39]


def test_a_module_s_function_is_captured(function, device, stream, pinned):
    kernel = cg.Kernel.from_function(function)
    x = pinned([1, 2])
    with device.create_graph_builder() as gb:
        cg.launch(gb, cg.LaunchConfig(grid=1, block=2), kernel, x.ctypes.data, cg.i32(2), cg.i32(5))
    (node,) = gb.graph_definition.nodes()
    assert node.kernel == kernel
    assert node.name == "add"
    gb.complete().launch(stream)
    stream.sync()
    assert x.tolist() == [6, 7]


def launch_of_other_code(function, stream, x, packed=False):
    """Capture `add(x, 2, 5)` as code does that knows only the driver; return the definition."""
    driver = ctypes.CDLL(cg.driver_info().path)
    values = ctypes.c_void_p(x.ctypes.data), ctypes.c_int(2), ctypes.c_int(5)
    addresses = (ctypes.c_void_p * 3)(*(ctypes.addressof(each) for each in values))
    block, size = (ctypes.c_char * 16).from_buffer_copy(b"".join(map(bytes, values))), ctypes.c_size_t(16)
    # cuda.h: CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_END
    extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(block), 2, ctypes.addressof(size), 0)
    with stream.create_graph_builder() as gb:
        given = (None, extra) if packed else (addresses, None)
        launch = ctypes.c_void_p(function), 1, 1, 1, 2, 1, 1, 0, ctypes.c_void_p(stream.handle), *given
        assert driver.cuLaunchKernel(*launch) == 0
    return gb.graph_definition


def test_a_node_of_other_code_has_its_arguments_without_a_kernel_object(function, stream, pinned, tmp_path):
    x = pinned([1, 2])
    g = launch_of_other_code(function, stream, x)
    (node,) = g.nodes()
    for _ in range(100):  # nothing else keeps what is known of the kernel, so each call asks for it again
        assert node.args == (x.ctypes.data, 2, 5)
        assert list(g.check()) == []
    with pytest.raises(cg.SavedGraphError, match="a kernel of another library, whose code is unknown"):
        g.save(tmp_path / "other.cgg", include=[x])
    g.instantiate().launch(stream)
    stream.sync()
    assert x.tolist() == [6, 7]


def test_arguments_that_other_code_packed_cannot_be_told_and_can_be_replaced(
    function, stream, pinned, tmp_path
):
    x = pinned([1, 2])
    g = launch_of_other_code(function, stream, x, packed=True)
    (node,) = g.nodes()
    with pytest.raises(RuntimeError, match=r"arguments of .*add.* were packed by other code"):
        _ = node.args
    with pytest.raises(cg.SavedGraphError, match="a kernel of another library"):
        g.save(tmp_path / "other.cgg", include=[x])
    graph = g.instantiate()
    graph.launch(stream)
    stream.sync()
    assert x.tolist() == [6, 7]
    graph[node].update(config=node.config, kernel=node.kernel, args=(x.ctypes.data, cg.i32(1), cg.i32(10)))
    graph.launch(stream)
    stream.sync()
    assert x.tolist() == [16, 7]


@pytest.mark.parametrize("make", ["from_function", "from_handle"])
def test_the_owner_of_a_kernel_lives_as_long_as_it_and_its_nodes(make, function, raw_kernel, eventually):
    raw = function if make == "from_function" else raw_kernel
    owner = Owner()
    gone = weakref.ref(owner)
    kernel = getattr(cg.Kernel, make)(raw, owner=owner)
    del owner
    gc.collect()
    assert gone() is not None
    g = cg.GraphDef()
    g.launch(cg.LaunchConfig(grid=1, block=1), kernel, 0, cg.i32(0), cg.i32(0))
    del kernel
    graph = g.instantiate()
    del g
    gc.collect()
    assert gone() is not None
    del graph
    eventually(lambda: gone() is None)


@pytest.mark.parametrize(
    ("handle", "error", "text"),
    [(0, ValueError, "handle is 0"), ("add", TypeError, "must be an int"), (True, TypeError, "an int, got bool"),
     (None, TypeError, "must be an int"), (-1, OverflowError, "handle")],
)  # fmt: skip
def test_handle_that_is_no_function_is_refused(device, handle, error, text):
    with pytest.raises(error, match=text):
        cg.Kernel.from_function(handle)


def test_a_handle_of_nothing_is_refused(device, driver):
    if driver.kind != "host":
        pytest.skip("a driver of CUDA believes any address")
    with pytest.raises(
        cg.CUDAError,
        match=r"INVALID_HANDLE.*\n.*asking for the parameters of function 0x1230 .cuFuncGetParamInfo",
    ):
        cg.Kernel.from_function(0x1230)
