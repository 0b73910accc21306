# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a kernel of code that others loaded is a Kernel, and keeps whoever it is told keeps that code."""

import ctypes
import gc
import weakref

import pytest

import cuda_graphs as cg
from tests.graph_rig import code, eventually, pinned

__all__ = ["code", "eventually", "pinned"]


class Owner:
    """Whoever has loaded code."""


@pytest.fixture
def function(device, code):
    """The CUfunction of a kernel in a module that this package knows nothing of."""
    driver = ctypes.CDLL(cg.driver_info().path)
    module, found = ctypes.c_void_p(), ctypes.c_void_p()
    assert driver.cuModuleLoadData(ctypes.byref(module), code) == 0
    assert driver.cuModuleGetFunction(ctypes.byref(found), module, b"add") == 0
    yield found.value
    device.sync()
    assert driver.cuModuleUnload(module) == 0


def test_a_function_of_a_module_is_a_kernel(function, stream, pinned):
    kernel = cg.Kernel.from_function(function)
    assert kernel.name == "add"
    assert [each.size for each in kernel.arguments_info] == [8, 4, 4]
    assert kernel == cg.Kernel.from_function(function)
    x = pinned([1, 2])
    cg.launch(stream, cg.LaunchConfig(grid=1, block=2), kernel, x.ctypes.data, 2, 5)
    g = cg.GraphDef()
    node = g.launch(cg.LaunchConfig(grid=1, block=2), kernel, x.ctypes.data, 1, 10)
    assert node.kernel == kernel
    g.instantiate().launch(stream)
    stream.sync()
    assert x.tolist() == [16, 7]


@pytest.mark.parametrize("make", ["from_function", "from_handle"])
def test_the_owner_of_a_kernel_lives_as_long_as_it_and_its_nodes(make, function, eventually):
    raw = function if make == "from_function" else cg.Kernel.from_function(function).handle
    owner = Owner()
    gone = weakref.ref(owner)
    kernel = getattr(cg.Kernel, make)(raw, owner=owner)
    del owner
    gc.collect()
    assert gone() is not None
    g = cg.GraphDef()
    g.launch(cg.LaunchConfig(grid=1, block=1), kernel, 0, 0, 0)
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
def test_what_is_no_function_is_refused(device, handle, error, text):
    with pytest.raises(error, match=text):
        cg.Kernel.from_function(handle)


def test_a_handle_of_nothing_is_refused(device, driver):
    if driver.kind != "host":
        pytest.skip("a driver of CUDA believes any address")
    with pytest.raises(cg.CUDAError, match=r"INVALID_HANDLE.*\n.*asking for the kernel of function 0x1230"):
        cg.Kernel.from_function(0x1230)
