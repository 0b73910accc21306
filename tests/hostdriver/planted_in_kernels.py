# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of @cg.kernel with one bug each, in the line that says so, and kernels without any. The script, like
planted_bugs.py, runs the named programs and writes the findings of the host driver as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import numpy as np

import cuda_graphs as cg

ints = cg.types.ndarray(cg.i32, 1)
grid = cg.types.ndarray(cg.f32, 2)
floats = cg.types.ndarray(cg.f32, 1)

PROGRAMS: dict[str, Callable[[], object]] = {}


def program(run):
    PROGRAMS[run.__name__] = run
    return run


def array(count: int = 8) -> cg.ndarray:
    return cg.ndarray(cg.i32, count)


def unwritten(resource) -> cg.ndarray:
    return cg.from_dlpack(np.from_dlpack(resource.allocate(32, stream=S)).view(np.int32))


@cg.kernel
def put(x: ints, n: cg.i32):
    for i in range(n):
        x[i] = i  # put


@cg.kernel
def put_square(x: grid, n: cg.i32):
    for i, j in cg.ndrange((1, n), (-1, 2)):
        x[i, j + 1] = 1.0  # put_square


@cg.kernel
def put_shared(x: ints):
    for _, t in cg.blocks(1, 64):
        s = cg.block.shared_array(cg.i32, 32)
        s[t + x[0]] = t  # put_shared
        cg.block.sync()
        x[t % 8] = s[0]


@cg.kernel
def take(x: ints, y: ints):
    for i in range(x.shape[0]):
        y[i] = x[i]  # take


@cg.kernel
def put_first(x: ints):
    for i in range(x.shape[0]):
        x[0] = i  # put_first


@cg.kernel
def neighbours(x: ints):
    for i in range(1, x.shape[0]):
        x[i] = x[i - 1]  # neighbours


@cg.kernel
def put_in_rows(x: grid, n: ints):
    for i, j in cg.ndrange((2, 2 + n[0]), (-1, 1)):
        x[i, 0] = j  # put_in_rows


@cg.kernel
def histogram(x: ints, bins: ints):
    for i in range(x.shape[0]):
        cg.atomic_add(bins[x[i] % 4], 1)


@cg.kernel
def average(x: grid, y: grid):
    for i, j in cg.ndrange((1, x.shape[0] - 1), (1, x.shape[1] - 1)):
        y[i, j] = 0.25 * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1])


@cg.kernel
def total(x: floats) -> cg.f32:
    found = cg.f32(0.0)
    for i in range(x.shape[0]):
        found += x[i]
    return found


@cg.kernel
def reverse(x: ints, y: ints):
    for b, t in cg.blocks(x.shape[0] // 32, 32):
        s = cg.block.shared_array(cg.i32, 32)
        s[t] = x[b * 32 + t]
        cg.block.sync()
        y[b * 32 + t] = s[31 - t]


@cg.kernel(graph=True)
def smooth(x: floats, y: floats, count: cg.types.ndarray(cg.i32, 0)):
    while cg.graph_do_while(count):
        for i in range(1, x.shape[0] - 1):
            y[i] = (x[i - 1] + x[i + 1]) / 2.0
        for i in range(1, x.shape[0] - 1):
            x[i] = y[i]
        for _ in range(1):
            count[()] -= 1


@cg.kernel(graph=True)
def smooth_in_place(x: floats, count: cg.types.ndarray(cg.i32, 0)):
    while cg.graph_do_while(count):
        for i in range(1, x.shape[0] - 1):
            x[i] = (x[i - 1] + x[i + 1]) / 2.0  # smooth_in_place
        for _ in range(1):
            count[()] -= 1


@cg.func(inline=False)
def put_at(x, i):
    x[i] = 3 * i  # put_at


@cg.func(inline=False, max_depth=16)
def put_down(x, n: cg.i32) -> cg.i32:
    x[n] = n  # put_down
    return 0 if n == 0 else n + put_down(x, n - 1)


@cg.kernel
def call_at(x: ints, n: cg.i32):
    for i in range(n):
        put_at(x, i)


@cg.kernel
def call_first(x: ints):
    for i in range(x.shape[0]):
        put_at(x, i // 8)


@cg.kernel
def call_down(x: ints, n: cg.i32):
    for i in range(1):
        x[i] = put_down(x, n)


# ---- memory ----


@program
def an_iteration_writes_behind():
    put(array(), 9)


@program
def an_iteration_writes_behind_an_array_of_the_host():
    put(np.zeros(8, np.int32), 9)


@program
def an_iteration_of_two_axes_writes_behind():
    put_square(cg.ndarray(cg.f32, (3, 3)), 4)


@program
def a_thread_writes_behind_shared_memory():
    put_shared(array())


@program
def an_iteration_uses_freed_memory():
    buffer = cg.Device().memory_resource.allocate(32, stream=S)
    buffer.fill(0, stream=S)

    class Borrowed:
        __cuda_array_interface__ = {  # noqa: RUF012
            "data": (int(buffer.handle), False), "shape": (8,), "typestr": "<i4", "version": 3
        }  # fmt: skip

    x = cg.from_dlpack(Borrowed())
    buffer.close(S)
    put(x, 8)


@program
def a_called_function_writes_behind():
    call_at(array(), 9)


@program
def a_recursive_function_writes_behind():
    call_down(array(), 8)


# ---- init ----


@program
def an_iteration_reads_managed_memory_that_nobody_wrote():
    take(unwritten(cg.ManagedMemoryResource(cg.Device())), array())


@program
def an_iteration_reads_pinned_memory_that_nobody_wrote():
    take(unwritten(cg.PinnedMemoryResource()), array())


@program
def an_iteration_reads_what_the_host_wrote():
    buffer = cg.ManagedMemoryResource(cg.Device()).allocate(32, stream=S)
    np.from_dlpack(buffer).view(np.int32)[:] = -1
    y = array()
    take(cg.from_dlpack(np.from_dlpack(buffer).view(np.int32)), y)
    assert (y.to_numpy() == -1).all()


@program
def an_iteration_reads_what_another_kernel_wrote():
    x = unwritten(cg.ManagedMemoryResource(cg.Device()))
    put(x, 8)
    take(x, array())


# ---- race ----


@program
def iterations_write_one_place():
    put_first(array())


@program
def iterations_read_what_their_neighbours_write():
    neighbours(array())


@program
def iterations_of_two_axes_write_one_place():
    n = array(1)
    n.fill(1)
    put_in_rows(cg.ndarray(cg.f32, (3, 1)), n)


@program
def nodes_of_kernels_without_an_edge():
    x, graph = array(), cg.GraphDef()
    graph.call(put, x, 8)
    graph.call(take, x, array())
    graph.instantiate().launch(S)


@program
def iterations_of_a_loop_on_the_device():
    x, count = cg.ndarray(cg.f32, 8), cg.ndarray(cg.i32, ())
    count.fill(3)
    smooth_in_place(x, count)


@program
def iterations_that_call_a_function_write_one_place():
    call_first(array())


@program
def called_functions_without_a_bug():
    x = array()
    call_at(x, 8)
    assert x.to_numpy().tolist() == [0, 3, 6, 9, 12, 15, 18, 21]
    call_down(x, 7)
    assert x.to_numpy().tolist() == [28, 1, 2, 3, 4, 5, 6, 7]


@program
def kernels_without_a_bug():
    bins, x = array(4), array(300)
    histogram(x, bins)
    assert bins.to_numpy().tolist() == [300, 0, 0, 0]
    a, b = cg.ndarray(cg.f32, (9, 9)), cg.ndarray(cg.f32, (9, 9))
    a.fill(1)
    average(a, b)
    assert b.to_numpy().sum() == 49
    ones = cg.ndarray(cg.f32, 500)
    ones.fill(1)
    assert total(ones) == 500
    numbers, turned = np.arange(96, dtype=np.int32), np.zeros(96, np.int32)
    reverse(numbers, turned)
    assert (turned.reshape(3, 32) == numbers.reshape(3, 32)[:, ::-1]).all()


@program
def tasks_of_a_graph_kernel_that_follow_each_other():
    x, y, count = cg.ndarray(cg.f32, 8), cg.ndarray(cg.f32, 8), cg.ndarray(cg.i32, ())
    x.from_numpy(np.arange(8, dtype=np.float32) ** 2)
    count.fill(2)
    wanted = x.to_numpy()
    for _ in range(2):
        wanted[1:-1] = (wanted[:-2] + wanted[2:]) / 2
    smooth(x, y, count)
    assert (x.to_numpy() == wanted).all()


@program
def nodes_of_kernels_with_an_edge():
    x, graph = array(), cg.GraphDef()
    graph.call(put, x, 8).call(take, x, array())
    graph.instantiate().launch(S)


@cg.kernel
def count_up(x: ints):
    x[0] += 1


def endless(x: ints):
    while cg.graph_while(x[0] >= 0):
        x[0] += 1


@program
def loops_that_are_cancelled():
    for loop in ("conditional", "resident", None):
        x, graph = array(1), cg.GraphDef()
        x.fill(0)
        if loop is None:
            graph.while_loop(lambda x: x[0] >= 0, args=(x,)).body.call(count_up, x)
        else:
            graph.call(cg.kernel(endless, graph=True, loop=loop), x)
        executable = graph.instantiate()
        executable.launch(S)
        executable.cancel()
        S.sync()


def found_in(name: str) -> str:
    """Returns the finding of the driver, or ""."""
    try:
        PROGRAMS[name]()
        cg.Device().sync()
    except cg.CUDAError as error:
        return f"{error.name}: {error.log}"
    return ""


if __name__ == "__main__":
    devices, found = len(cg.Device.get_all_devices()), {}
    for number, name in enumerate(sys.argv[1:]):
        device = cg.Device(number if devices > number else 0)
        device.set_current()
        S = device.default_stream
        found[name] = found_in(name)
    print(json.dumps(found))
