# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a launch runs the kernel once for each thread of its shape, on its stream, and returns before it is done."""

import gc
import inspect
import threading
import weakref

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs import testing

ONE = cg.LaunchConfig(grid=1, block=1)


@pytest.mark.parametrize(("grid", "block"), [(1, 1), ((2, 3, 4), (5, 6, 7)), (70000, 1), (1, 1024)])
def test_the_kernel_sees_the_shape(module, stream, pinned, grid, block):
    out = pinned(6, np.uint32)
    config = cg.LaunchConfig(grid=grid, block=block)
    cg.launch(stream, config, module.get_kernel("shape"), out.ctypes.data)
    stream.sync()
    assert tuple(out) == config.grid + config.block


@pytest.mark.parametrize("n", [1, 255, 256, 257, 100_003])
def test_every_thread_runs(module, stream, pinned, n):
    x = pinned(n)
    cg.launch(
        stream,
        cg.LaunchConfig(grid=(n + 255) // 256, block=256),
        module.get_kernel("fill"),
        x.ctypes.data,
        n,
        7,
    )
    stream.sync()
    assert (x == 7).all()


def test_a_config_may_be_a_dict(module, stream, pinned):
    x = pinned(4)
    cg.launch(stream, {"grid": 1, "block": 4}, module.get_kernel("fill"), x.ctypes.data, 4, 1)
    stream.sync()
    assert (x == 1).all()


@pytest.mark.parametrize("n", [32, 128, 1024])
def test_dynamic_shared_memory_has_the_size_asked_for(module, stream, pinned, n):
    x = pinned(n)
    config = cg.LaunchConfig(grid=1, block=n, shmem_size=4 * n)
    cg.launch(stream, config, module.get_kernel("shared"), x.ctypes.data)
    stream.sync()
    assert (x == np.arange(n)[::-1]).all()


def test_a_buffer_stands_for_its_address(device, module, stream):
    memory = device.allocate(4 * 256, stream=stream)
    host = cg.PinnedMemoryResource().allocate(4 * 256, stream=stream)
    cg.launch(stream, cg.LaunchConfig(grid=1, block=256), module.get_kernel("fill"), memory, 256, 9)
    host.copy_from(memory, stream=stream)
    stream.sync()
    assert (np.from_dlpack(host).view(np.int32) == 9).all()


def test_a_launch_returns_before_the_kernel_is_done(module, stream, pinned):
    flag = pinned(1)
    cg.launch(stream, ONE, module.get_kernel("spin"), flag.ctypes.data)
    mark = stream.record()
    assert mark.is_done is False
    flag[0] = 1
    stream.sync()
    assert mark.is_done is True


def test_syncing_leaves_the_interpreter_to_other_threads(module, stream, pinned):
    flag = pinned(1)
    cg.launch(stream, ONE, module.get_kernel("spin"), flag.ctypes.data)

    def release():
        flag[0] = 1

    timer = threading.Timer(0.05, release)
    timer.start()
    stream.sync()
    timer.join()


WRONG = {
    "kernel None": (lambda s, k: (s, ONE, None), "kernel must be a Kernel, got NoneType"),
    "config None": (
        lambda s, k: (s, None, k),
        "config must be a LaunchConfig or a dict of its fields, got NoneType",
    ),
    "swapped": (lambda s, k: (s, k, ONE), "config must be a LaunchConfig"),
    "stream last": (lambda s, k: (ONE, s, k), "Stream or GraphBuilder expected, got LaunchConfig"),
}


@pytest.mark.parametrize("name", WRONG)
def test_arguments_in_the_wrong_place_are_named(module, stream, name):
    make, message = WRONG[name]
    with pytest.raises(TypeError, match=message):
        cg.launch(*make(stream, module.get_kernel("nothing")))


def test_a_launch_that_the_driver_refuses_says_what_was_attempted(module, stream):
    with pytest.raises(cg.CUDAError) as caught:
        cg.launch(stream, cg.LaunchConfig(grid=1, block=1, shmem_size=1 << 30), module.get_kernel("nothing"))
    assert "launch of kernel 'nothing' with LaunchConfig(grid=(1, 1, 1)" in caught.value.attempt


def test_a_closed_stream_is_refused(device, module):
    stream = device.create_stream()
    stream.close()
    with pytest.raises(RuntimeError, match="Stream has been closed"):
        cg.launch(stream, ONE, module.get_kernel("nothing"))


def test_a_cooperative_launch_runs_when_it_fits(module, stream, pinned):
    x = pinned(64)
    config = cg.LaunchConfig(grid=2, block=32, is_cooperative=True)
    cg.launch(stream, config, module.get_kernel("fill"), x.ctypes.data, 64, 3)
    stream.sync()
    assert (x == 3).all()


def test_a_cooperative_launch_that_cannot_fit_is_refused(module, stream, pinned):
    config = cg.LaunchConfig(grid=(1 << 20, 2, 1), block=32, is_cooperative=True)
    with pytest.raises(
        ValueError, match=r"The specified grid size \(1048576 \* 2 \* 1\) exceeds the limit \(\d+\)"
    ):
        cg.launch(stream, config, module.get_kernel("fill"), pinned(1).ctypes.data, 1, 3)


def test_a_launch_that_is_refused_is_kept_by_no_capture(module, stream, device):
    buffer = cg.SynchronousMemoryResource(device).allocate(64)
    seen = weakref.ref(buffer)
    with stream.create_graph_builder() as builder:
        config = cg.LaunchConfig(grid=(1 << 20, 2, 1), block=32, is_cooperative=True)
        with pytest.raises(ValueError, match="exceeds the limit"):
            cg.launch(builder, config, module.get_kernel("fill"), buffer, 1, 3)
        del buffer
        gc.collect()
        assert seen() is None
    assert builder.graph_definition.nodes() == set()


def test_with_clusters_the_grid_counts_clusters(module, stream, pinned):
    out = pinned(6, np.uint32)
    config = cg.LaunchConfig(grid=3, cluster=2, block=32)
    cg.launch(stream, config, module.get_kernel("shape"), out.ctypes.data)
    stream.sync()
    assert tuple(out) == (6, 1, 1, 32, 1, 1)


def test_any_object_with_the_protocol_is_a_stream(module, stream, pinned):
    class Foreign:
        def __cuda_stream__(self):
            return (0, stream.handle)

    x = pinned(4)
    cg.launch(Foreign(), cg.LaunchConfig(grid=1, block=4), module.get_kernel("fill"), x.ctypes.data, 4, 2)
    stream.sync()
    assert (x == 2).all()


def test_threads_launch_side_by_side(module, device, pinned):
    fill, failures = module.get_kernel("fill"), []
    arrays = [pinned(1024) for _ in range(8)]

    def work(i):
        try:
            cg.Device(0).set_current()
            stream = cg.Device(0).create_stream()
            for value in range(50):
                cg.launch(
                    stream,
                    cg.LaunchConfig(grid=4, block=256),
                    fill,
                    arrays[i].ctypes.data,
                    1024,
                    i * 1000 + value,
                )
            stream.sync()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    for i, array in enumerate(arrays):
        assert (array == i * 1000 + 49).all()


def test_the_driver_is_asked_once_what_a_kernel_is_called_in_a_context(module, stream, driver, device):
    if driver.kind != "host":
        pytest.skip("calls are counted by the host driver")
    kernel, launches = module.get_kernel("nothing"), []
    for on in (stream, stream, device.create_stream(), device.default_stream):
        with testing.calls() as calls:
            cg.launch(on, ONE, kernel)
        launches.append({name: n for name, n in calls.items() if name != "cuKernelGetParamInfo"})
        on.sync()
    launch = {"cuLaunchKernel": 1}
    assert launches == [{"cuCtxGetCurrent": 1, "cuKernelGetFunction": 1, **launch}, launch, launch, launch]


def test_a_captured_launch_is_of_the_kernel_itself(module, stream):
    """However the driver was told of it: a first launch, and a later one."""
    kernel = module.get_kernel("nothing")
    with stream.create_graph_builder() as builder:
        cg.launch(builder, ONE, kernel)
        cg.launch(builder, ONE, kernel)
    assert [node.kernel for node in builder.graph_definition.nodes()] == [kernel, kernel]


def test_a_kernel_runs_on_the_device_of_its_stream(run_child):
    """Whichever device is current, and whichever it ran on before. With devices as many as we like, which only the
    host driver has."""
    done = run_child(
        """
import numpy as np
import cuda_graphs as cg
devices = cg.Device.get_all_devices()
module = cg.Program('extern "C" __global__ void store(int* at, int value) { *at = value; }').compile("cubin")
kernel, streams = module.get_kernel("store"), []
for device in devices:
    device.set_current()
    streams.append(device.create_stream())
words = np.from_dlpack(cg.PinnedMemoryResource().allocate(8)).view("i4")
for current in devices:
    current.set_current()
    for i in (0, 1, 1, 0):
        for value in (10, 20):
            cg.launch(streams[i], cg.LaunchConfig(grid=1, block=1), kernel, words.ctypes.data + 4 * i, value + i)
            streams[i].sync()
            assert words[i] == value + i
""",
        CUDA_GRAPHS_DRIVER="host",
        CUDA_GRAPHS_HOST_DEVICES="2",
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_signature_of_launch_names_its_arguments():
    assert str(inspect.signature(cg.launch)) == "(stream, config, kernel, *args)"
    assert cg.launch.__module__ == "cuda_graphs.objects.code.launch"
