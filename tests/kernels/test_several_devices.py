# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of several devices in one process: a call runs on the device of its arrays, whichever device is current, and the
current device stays. The host driver has as many devices as a test asks for; on GPUs the tests need two of them.

The host driver lets kernels of each device use all memory. Therefore the tests compare the devices that nodes report,
and count the driver's calls for the access between devices.
"""

import pytest

from tests.two_devices import run_with_devices

# The beginning of each program.
PRELUDE = '''
import threading
import numpy as np
import cuda_graphs as cg

f32_1d = cg.types.ndarray(cg.f32, ndim=1)
i32_0d = cg.types.ndarray(cg.i32, ndim=0)

@cg.kernel
def add(x: f32_1d, y: f32_1d):
    for i in range(x.shape[0]):
        y[i] += x[i]

@cg.kernel
def increase(x: f32_1d, by: cg.f32):
    for i in range(x.shape[0]):
        x[i] += by

@cg.kernel
def total(x: f32_1d) -> cg.f32:
    found = cg.f32(0.0)
    for i in range(x.shape[0]):
        found += x[i]
    return found

@cg.kernel(graph=True)
def repeat(x: f32_1d, count: i32_0d):
    while cg.graph_while(count[()] > 0):
        for i in range(x.shape[0]):
            x[i] += 1
        count[()] -= 1

def refused(kind, call, *words):
    """The call raises an error of a class, whose message holds all words."""
    try:
        call()
    except kind as error:
        message = str(error)
        missing = [word for word in words if word not in message]
        assert not missing, (missing, message)
        return error
    raise AssertionError("nothing was raised")

first, second = cg.Device.get_all_devices()[:2]
first.set_current()
x0, y0 = (cg.array(np.arange(300, dtype="f"), device=0) for _ in range(2))
x1, y1 = (cg.array(np.arange(300, dtype="f"), device=1) for _ in range(2))
assert cg.Device() is first  # arrays on another device leave the current device alone
values = np.arange(300, dtype="f")
'''

PROGRAMS = {
    "views of nodes set them on their device": """
g = cg.GraphDef()
nodes = [g.call(increase, x, 1) for x in (x0, x1)]
graph = g.instantiate()
stream = first.create_stream()
for by, current in ((2, first), (3, second)):
    current.set_current()
    for node, x in zip(nodes, (x0, x1)):
        x.from_numpy(values)
        graph[node].update(args=(x, by))
    graph.launch(stream)
    stream.sync()
    for x in (x0, x1):
        assert np.array_equal(x.to_numpy(), values + by), (by, x)
""",
    "a thread without a device uses the code of the first one": """
first.set_current()
increase.compile(values, 2)
made = repr(increase)
worker = threading.Thread(target=increase.compile, args=(values, 2))
worker.start()
worker.join()
assert repr(increase) == made, (made, increase)
""",
    "calls run on the device of their arrays": """
for current in (first, second, first):
    current.set_current()
    for x, y in ((x0, y0), (x1, y1)):
        y.from_numpy(values)
        add(x, y)
        increase(y, 2)
        assert np.array_equal(y.to_numpy(), 2 * values + 2)
        assert total(x) == values.sum()
        y.fill(3)
        assert (y.to_numpy() == 3).all()
        y[7] = 5
        assert y[7] == 5 and y.device is x.device
    assert cg.Device() is current
""",
    "a call with arrays of two devices names both": """
for call in (lambda: add(x0, y1), lambda: cg.GraphDef().call(add, x0, y1), lambda: add.compile(x0, y1)):
    refused(ValueError, call, "'x' is on device 0", "'y' is on device 1", "device=0")
refused(ValueError, lambda: add(x1, y0), "'x' is on device 1", "'y' is on device 0")
assert np.array_equal(y1.to_numpy(), values) and np.array_equal(y0.to_numpy(), values)
add(cg.array(x1, device=0), y0)
assert np.array_equal(y0.to_numpy(), 2 * values)
""",
    "a stream of another device is refused": """
with second:
    stream = second.create_stream()
refused(ValueError, lambda: add(x0, y0, stream=stream), "'x' is on device 0", "stream is of device 1")
with cg.stream(stream):
    refused(ValueError, lambda: increase(x0, 1), "'x' is on device 0", "stream is of device 1")
    increase(x1, 1)
add(x1, y1, stream=stream)
stream.sync()
assert np.array_equal(y1.to_numpy(), 2 * values + 1)
assert np.array_equal(x0.to_numpy(), values)
""",
    "graph kernels have a graph on each device": """
for turn in range(3):
    for device, x in ((0, x0), (1, x1)):
        count = cg.array(4, cg.i32, device=device)
        repeat(x, count)
        assert repeat.graph_stats.replayed == (turn > 0), (turn, device)
for x in (x0, x1):
    assert np.array_equal(x.to_numpy(), values + 12)
assert (repeat.graph_stats.graphs, repeat.graph_stats.builds) == (2, 2)
assert cg.Device() is first
""",
    "threads use devices of their own": """
def work(x, y, rounds):
    for _ in range(rounds):
        add(x, y)
        y.fill(0)
        add(x, y)
    done.append(np.array_equal(y.to_numpy(), values))

done = []
pairs = (x0, y0), (x1, y1), (x1, cg.array(values, device=1))
threads = [threading.Thread(target=work, args=(*pair, 50)) for pair in pairs]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert done == [True] * 3
""",
    "fields decide where there are no arrays": """
here, there = cg.field(cg.f32, 8, device=0), cg.field(cg.f32, 8, device=1)

@cg.kernel
def on_first():
    for i in range(8):
        here[i] += i

@cg.kernel
def on_second():
    for i in range(8):
        there[i] += i

@cg.kernel
def on_both():
    for i in range(8):
        here[i] += there[i]

@cg.kernel
def mixed(x: f32_1d):
    for i in range(8):
        x[i] += there[i]

for _ in range(2):
    on_first()
    on_second()
assert here.to_numpy().tolist() == there.to_numpy().tolist() == [2.0 * i for i in range(8)]
(node,) = cg.GraphDef().call(on_second).graph.nodes()
assert node._device() == 1
refused(ValueError, on_both, "device 0", "device 1", "fields")
refused(ValueError, lambda: mixed(x0), "'x' is on device 0", "field", "device 1")
mixed(x1)
assert np.array_equal(x1.to_numpy()[:8], values[:8] + 2 * np.arange(8, dtype="f"))
""",
    "pinned memory belongs to all devices": """
shared = cg.PinnedMemoryResource().allocate(4 * 300).view(cg.f32)
shared.fill(1)
for x in (x0, x1):
    add(shared, x)
    assert np.array_equal(x.to_numpy(), values + 1)
""",
    "arrays are copied between devices": """
x1.fill(7)
x0.copy_from(x1)
assert (x0.to_numpy() == 7).all()
y1[10:20].copy_from(x0[:10])
assert (y1.to_numpy()[10:20] == 7).all() and np.array_equal(y1.to_numpy()[20:], values[20:])
for device in (first, second):
    with device as current:
        stream = current.create_stream()
        with cg.stream(stream):
            x0.fill(device.device_id)
            x1.copy_from(x0)
        stream.sync()
        assert (x1.to_numpy() == device.device_id).all()
assert cg.Device() is first
""",
    "buffers of device memory are copied and filled between devices": """
buffers = []
for device in (first, second):
    with device:
        buffers.append(device.allocate(64))
        device.sync()
back = cg.PinnedMemoryResource().allocate(64)
host = np.from_dlpack(back)
for current in (first, second):
    with current:
        stream = current.create_stream()
        for value, (source, target) in enumerate((buffers, buffers[::-1]), 1):
            source.fill(value, stream=stream)
            target.copy_from(source, stream=stream)
            target.copy_to(back, stream=stream)
            stream.sync()
            assert (host == value).all()
""",
    "nodes of one graph are on the devices of their memory": """
graph = cg.GraphDef()
start = graph.memset(y1, 0.0)
own, other = start.call(add, x0, y0), start.call(add, x1, y1)
end = own.join(other).memcpy(x0, y1)
assert [node._device() for node in (start, own, other, end)] == [1, 0, 1, 1]
assert not graph.check()
executable = graph.instantiate()
for device in (first, second):
    with device:
        stream = device.create_stream()
    x0.from_numpy(values)
    y0.fill(0)
    executable.launch(stream)
    stream.sync()
    for array in (x0, y0, y1):
        assert np.array_equal(array.to_numpy(), values)
assert cg.Device() is first
""",
    "a launch is on the device that is current when it is added": """
kernel = cg.Program('extern "C" __global__ void plain() {}').compile("cubin").get_kernel("plain")
graph = cg.GraphDef()
for device in (first, second, first, second):
    with device:
        assert graph.launch(cg.LaunchConfig(grid=1, block=1), kernel)._device() == device.device_id
""",
    "new arguments stay on the device of the node": """
graph = cg.GraphDef()
node = graph.call(add, x1, y1)
refused(ValueError, lambda: node.update(args=(x0, y0)), "is on device 1", "device 0")
z1 = cg.zeros(300, device=1)
node.update(args=(x1, z1))
assert node._device() == 1
stream = first.create_stream()
graph.instantiate().launch(stream)
stream.sync()
assert np.array_equal(z1.to_numpy(), values) and np.array_equal(y1.to_numpy(), values)
""",
    "captured calls run on the device of their arrays": """
with cg.capture() as builder:
    add(x0, y0)
    add(x1, y1)
    x0.copy_from(y1)
    increase(x0, 1)
nodes = builder.graph_definition.nodes()
assert sorted((type(node).__name__, node._device()) for node in nodes) == [
    ("KernelNode", 0), ("KernelNode", 0), ("KernelNode", 1), ("MemcpyNode", 1)]
assert max(len(node.pred) for node in nodes) == 1  # in the order of the calls
graph = builder.complete()
stream = first.create_stream()
graph.launch(stream)
stream.sync()
assert np.array_equal(y0.to_numpy(), 2 * values)
assert np.array_equal(x0.to_numpy(), 2 * values + 1)
""",
    "captured graph kernels run on the device of their arrays": """
count = cg.array(3, cg.i32, device=1)
with cg.capture() as builder:
    increase(x0, 1)
    repeat(x1, count)
assert {node._device() for node in builder.graph_definition.nodes()} == {0, 1}
graph = builder.complete()
stream = first.create_stream()
graph.launch(stream)
stream.sync()
assert np.array_equal(x1.to_numpy(), values + 3) and np.array_equal(x0.to_numpy(), values + 1)
""",
    "a loop and its test are on the device of what decides": """
left = cg.array(5, cg.i32, device=1)

@cg.kernel
def work(x: f32_1d, left: i32_0d):
    for i in range(x.shape[0]):
        x[i] += 1
    for _ in range(1):
        left[()] -= 1

graph = cg.GraphDef()
before = graph.call(increase, x0, 1.0)
loop = before.while_loop(lambda left: left[()] > 0, args=(left,), name="loop", max_iterations=4)
loop.body.call(work, x1, left)
assert loop._device() == 1 and {node._device() for node in loop.body.nodes()} == {1}
with cg.Device(0) as device:
    stream = device.create_stream()
    executable = graph.instantiate()
    executable.launch(stream)
    stream.sync()
assert executable.iterations["loop"] == (4, True)
assert np.array_equal(x1.to_numpy(), values + 4) and np.array_equal(x0.to_numpy(), values + 1)
flag = cg.array(1, cg.i32, device=1)
assert graph.if_then(flag)._device() == 1
assert graph.if_then(lambda: flag[()] > 0)._device() == 1
""",
    "a second device in a body is refused with its name and line": """
graph = cg.GraphDef()
loop = graph.while_loop(graph.create_condition(0), name="my loop")
inner = loop.body.call(increase, x0, 1.0).if_then(graph.create_condition(0))
kernel = cg.Program('extern "C" __global__ void plain() {}').compile("cubin").get_kernel("plain")
one = cg.LaunchConfig(grid=1, block=1)
words = "uses device 1", "IfNode", "on device 0", "program.py:", "'my loop'", "with cuda_graphs.Device(1)"
for place in (inner.then, loop.body):
    refused(ValueError, lambda: place.call(increase, x1, 1.0), "KernelNode 'increase_0_loop'", words[0], "program.py:")
refused(ValueError, lambda: inner.then.call(increase, x1, 1.0), *words)
refused(ValueError, lambda: inner.then.memset(x1, 0.0, name="zero"), "MemsetNode 'zero'", *words)
refused(ValueError, lambda: inner.then.memcpy(x0, y1, name="there"), "MemcpyNode 'there'", *words)
refused(ValueError, lambda: inner.then.memcpy(y1, x0, name="back"), "MemcpyNode 'back'", *words)
with second:
    refused(ValueError, lambda: inner.then.launch(one, kernel), "KernelNode 'plain'", *words)
    condition = graph.create_condition(0)
    refused(ValueError, lambda: inner.then.if_then(condition), "IfNode", *words)
child = cg.GraphDef()
child.call(increase, x0, 1.0).call(increase, x1, 1.0)
refused(ValueError, lambda: inner.then.embed(child), "KernelNode 'increase_0_loop'", "device 1", "'my loop'")
assert len(inner.then.nodes()) == 0 and len(loop.body.nodes()) == 2
child = cg.GraphDef()
child.call(increase, x0, 1.0)
inner.then.embed(child)
inner.then.memset(x0, 0.0).memcpy(x0, y0).launch(one, kernel)
""",
    "a second device in a captured body is refused": """
flag = cg.array(1, cg.i32, device=0)
with cg.capture() as builder:
    with builder.if_then(flag, name="branch"):
        increase(x0, 1)
        words = "uses device 1", "IfNode 'branch'", "on device 0"
        refused(ValueError, lambda: increase(x1, 1), "KernelNode", *words)
graph = builder.complete()
stream = first.create_stream()
graph.launch(stream)
stream.sync()
assert np.array_equal(x0.to_numpy(), values + 1) and np.array_equal(x1.to_numpy(), values)
""",
    "pictures and findings show devices": """
graph = cg.GraphDef()
a = graph.call(increase, x0, 1.0)
b = graph.call(increase, x1, 1.0)
c = b.memset(x0, 0.0)
picture = graph.draw()
assert sorted({lane.device for lane in picture.layout.lanes}) == [0, 1]
assert "device 0" in picture.svg() and "device 1" in picture.svg()
(finding,) = graph.check()
assert "KernelNode 'increase_0_loop'" in finding.text and "on device 0" in finding.text, finding
d = graph.memcpy(x1, y0, name="to second")
found = [str(each) for each in graph.check() if d in each.nodes]
assert any("on device 1 writes" in each or "on device 1 reads" in each for each in found), found
alone = cg.GraphDef()
alone.call(increase, x1, 1.0)
alone.call(increase, x1, 1.0)
assert "on device" not in str(alone.check())  # one device needs no names
""",
    "values of array parameters are on the device of their nodes": """
graph = cg.GraphDef()
x = graph.param("x", f32_1d, x0)
by = graph.param("by", cg.f32, 1.0)
graph.call(increase, x, by)
executable, stream = graph.instantiate(), first.create_stream()
for change in (executable.set, lambda **given: executable.launch(stream, **given)):
    refused(ValueError, lambda: change(by=5.0, x=x1), "'x'", "device 0", "on device 1", "copy it")
stream.sync()
executable.launch(stream)
executable.launch(stream, x=y0)
stream.sync()
assert np.array_equal(x0.to_numpy(), values + 1) and np.array_equal(y0.to_numpy(), values + 1)
assert np.array_equal(x1.to_numpy(), values)
""",
    "second devices have gradients": """
for device in (0, 1):
    x = cg.array(values, needs_grad=True, device=device)
    loss = cg.zeros((), needs_grad=True, device=device)

    @cg.kernel
    def squares(x: f32_1d, loss: cg.types.ndarray(cg.f32, ndim=0)):
        for i in range(x.shape[0]):
            cg.atomic_add(loss[()], x[i] * x[i])

    with cg.ad.Tape(loss):
        squares(x, loss)
    assert np.array_equal(x.grad.to_numpy(), 2 * values), device
    assert x.grad.device.device_id == device
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_in_a_process_with_two_devices(run_child, driver, tmp_path, name):
    run_with_devices(run_child, driver, tmp_path, PRELUDE + PROGRAMS[name])


PEERS = """
from cuda_graphs import testing

buffers = []
for device in (first, second):
    with device:
        buffers.append(cg.DeviceMemoryResource(device, {}).allocate(64))
        device.sync()
code = cg.Program('extern "C" __global__ void put(int* x, int value) { *x = value; }').compile("cubin")
kernel = code.get_kernel("put")
one = cg.LaunchConfig(grid=1, block=1)
stream = first.create_stream()
back = cg.PinnedMemoryResource().allocate(64)
"""

ENABLED = """
with testing.calls() as calls:
    cg.launch(stream, one, kernel, buffers[0], 1)
assert calls["cuCtxEnablePeerAccess"] == calls["cuMemPoolSetAccess"] == 0
with testing.calls() as calls:
    cg.launch(stream, one, kernel, buffers[1], 2)
assert calls["cuCtxEnablePeerAccess"] == calls["cuMemPoolSetAccess"] == 1, dict(calls)
with testing.calls() as calls:
    cg.launch(stream, one, kernel, buffers[1], 3)
    cg.GraphDef().launch(one, kernel, buffers[1], 4)
    buffers[1].copy_to(back, stream=stream)
assert calls["cuCtxEnablePeerAccess"] == calls["cuMemPoolSetAccess"] == 0, dict(calls)
stream.sync()
assert np.from_dlpack(back).view("i4")[0] == 3
"""

REFUSED = """
for use in (
    lambda: cg.launch(stream, one, kernel, buffers[1], 1),
    lambda: cg.GraphDef().launch(one, kernel, buffers[1], 1),
    lambda: buffers[1].fill(0, stream=stream),
):
    with testing.fail("cuCtxEnablePeerAccess", code="CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"):
        error = refused(cg.CUDAError, use, "device 0", "device 1")
    assert error.name == "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"
    assert "no access to the memory of device 1" in error.explanation and "copy_from" in error.remedy
buffers[0].fill(5, stream=stream)
buffers[0].copy_to(buffers[1], stream=stream)  # the driver copies through the host
stream.sync()
with second:
    own = second.create_stream()
    buffers[1].copy_to(back, stream=own)
    own.sync()
assert (np.from_dlpack(back) == 5).all()
"""


@pytest.mark.parametrize(
    "program", [ENABLED, REFUSED], ids=["enabled at the first use", "refused with the pair"]
)
def test_access_between_devices(run_child, driver, tmp_path, program):
    if driver.kind != "host":
        pytest.skip("the host driver counts its calls")
    run_with_devices(run_child, driver, tmp_path, PRELUDE + PEERS + program)
