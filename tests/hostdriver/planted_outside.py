# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Programs of cuda.core and cuda.bindings in pairs: one with a bug, and one like it without; test_check_outside.py
lists the finding of each bug. The script, with the host driver in the place of libcuda, runs the named programs, each
on a device of its own as far as there are devices. It writes JSON (error of the next wait, report) for both programs of
a pair, the one without the bug first.

    CUDA_GRAPHS_HOST_CHECK=race python -m cuda_graphs.hostdriver tests/hostdriver/planted_outside.py fills
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import tempfile
from collections.abc import Callable

import numpy as np
from cuda import core
from cuda.bindings import driver
from cuda.core import graph as g

# There before any memory of a device, whose addresses the process may be given again.
OF_THE_PROCESS = np.zeros(8, np.int32)

SOURCE = r"""#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void put(int* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = i;  // put
}
extern "C" __global__ void take(int* x, const int* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = y[i];  // take
}
extern "C" __global__ void add(int* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(x + i % 4, 1);  // add
}
extern "C" __global__ void put_first(int* x) {
    x[0] = blockIdx.x;  // put_first
}
extern "C" __global__ void put_shared(int* x, int shift) {
    extern __shared__ int s[];
    s[threadIdx.x + shift] = 1;  // put_shared
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void next(int* x, int* y, int waits) {
    cg::grid_group grid = cg::this_grid();
    x[grid.thread_rank()] = 1;
    if (waits) grid.sync(); else __syncthreads();
    y[grid.thread_rank()] = x[(grid.thread_rank() + blockDim.x) % grid.size()];  // next
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) other(int* x, int shift) {
    __shared__ int s[4];
    cg::cluster_group cluster = cg::this_cluster();
    s[threadIdx.x] = cluster.block_rank();
    cluster.sync();
    int* far = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
    x[blockIdx.x * blockDim.x + threadIdx.x] = far[threadIdx.x + shift];  // other
    cluster.sync();
}
extern "C" __global__ void flag(int* data, int* ready, int fences, int n) {
    if (blockIdx.x == 0) {
        data[threadIdx.x] = 1;
        if (fences) __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) atomicExch(ready, 1);
    } else {
        if (threadIdx.x == 0) while (atomicAdd(ready, 0) == 0) __nanosleep(20);
        __syncthreads();
        if (fences) __threadfence();
        if (data[threadIdx.x] != 1) ready[1] = 1;  // flag
    }
}
extern "C" __global__ void vector(int4* x, int shift) {
    *(int4*)((int*)x + shift) = make_int4(1, 2, 3, 4);  // vector
}
extern "C" __global__ void from_shared(int* x, int bytes) {
    __shared__ alignas(16) int s[32];
    s[threadIdx.x] = 1;
    __syncthreads();
    unsigned from = __cvta_generic_to_shared(s);
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                     :: "l"(x), "r"(from), "r"(bytes) : "memory");
}
extern "C" __global__ void to_shared(int* x, const int* y, int bytes) {
    __shared__ alignas(16) int s[8];
    __shared__ unsigned long long done;
    unsigned to = __cvta_generic_to_shared(s), bar = __cvta_generic_to_shared(&done);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(bar));
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(bar), "r"(bytes));
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     :: "r"(to), "l"(y), "r"(bytes), "r"(bar) : "memory");
    }
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void make(int** x, int n) { *x = (int*)malloc(n * sizeof(int)); }
extern "C" __global__ void drop(int** x) { free(*x); }
extern "C" __global__ void follow(int** x, int n) {
    if (threadIdx.x < n) (*x)[threadIdx.x] = 1;  // follow
}
extern "C" __global__ void fetch(int** x, int* y) {
    y[threadIdx.x] = (*x)[threadIdx.x];  // fetch
}
__device__ int table[4];
extern "C" __global__ void read_table(int* x, int i) {
    x[0] = table[i];  // read_table
}
"""

KERNELS = """put take add put_first put_shared next other flag vector read_table from_shared to_shared make drop follow
fetch""".split()
Program = Callable[[bool], object]
PROGRAMS: dict[str, Program] = {}


def program(run: Program) -> Program:
    PROGRAMS[run.__name__] = run
    return run


class Setting:
    """A device with two streams, pools and the kernels. Buffers are of 8 ints."""

    def __init__(self, number: int) -> None:
        self.device = core.Device(number)
        self.device.set_current()
        self.one, self.two = self.device.create_stream(), self.device.create_stream()
        options = core.ProgramOptions(
            arch=f"sm_{self.device.arch}", std="c++17", lineinfo=True, name="bugs.cu"
        )
        options.include_path = INCLUDES
        code = core.Program(SOURCE, "c++", options).compile("ptx") if number == 0 else CODE[0]
        CODE.append(code)
        self.code = {name: code.get_kernel(name) for name in KERNELS}

    def pool(self) -> core.Buffer:
        return self.device.memory_resource.allocate(32, stream=self.one)

    def zeros(self) -> core.Buffer:
        found = self.pool()
        found.fill(np.uint32(0), stream=self.one)
        self.one.sync()
        return found

    def managed(self) -> core.Buffer:
        return core.ManagedMemoryResource().allocate(32, stream=self.one)


CODE: list[core.ObjectCode] = []


def includes() -> list[str]:
    from cuda import pathfinder

    return [
        path
        for path in (pathfinder.find_nvidia_header_directory(name) for name in ("cudart", "cccl"))
        if path
    ]


INCLUDES = includes()


def on(place, name: str, *arguments, grid=1, block=8, **config):
    """A launch, on a stream or behind a node."""
    values = [np.int32(a) if isinstance(a, int) and abs(a) < 1 << 31 else a for a in arguments]
    settings = core.LaunchConfig(grid=grid, block=block, **config)
    if isinstance(place, core.Stream):
        return core.launch(place, settings, S.code[name], *values)
    return place.launch(settings, S.code[name], *values)


def start(definition) -> None:
    definition.instantiate().launch(S.one)


def ok(result) -> None:
    assert result[0] == driver.CUresult.CUDA_SUCCESS, result


def address(buffer) -> int:
    return int(buffer.handle)


# ---- memory: one more than there is ----


@program
def pool_memory(bug):
    on(S.one, "put", S.pool(), 8 + bug, block=9)


@program
def managed_memory(bug):
    on(S.one, "put", S.managed(), 8 + bug, block=9)


@program
def memory_of_another_stream(bug):
    x = S.zeros()
    on(S.two, "put", x, 8 + 8 * bug, grid=2)
    S.two.sync()


@program
def reads_before(bug):
    y = S.zeros()
    on(S.one, "take", S.pool(), np.uint64(address(y) - 4 * bug), 8)


@program
def halves_of_a_vector(bug):
    on(S.one, "vector", S.pool(), 4 + 2 * bug, block=1)


@program
def shared_memory(bug):
    on(S.one, "put_shared", S.pool(), int(bug), shmem_size=32)


@program
def memory_of_the_cluster(bug):
    # The address right behind the other block's memory may belong to the first block; an address far behind it does
    # not.
    on(S.one, "other", S.pool(), 4096 * bug, grid=2, block=4)


@program
def a_bulk_copy(bug):
    on(S.one, "from_shared", S.pool(), 48 if bug else 32)


@program
def a_bulk_copy_into_shared_memory(bug):
    y = S.device.memory_resource.allocate(64, stream=S.one)
    y.fill(np.uint32(0), stream=S.one)
    on(S.one, "to_shared", S.pool(), y, 64 if bug else 32)


@program
def a_variable(bug):
    on(S.one, "read_table", S.pool(), 3 + bug, block=1)


@program
def freed_in_stream_order(bug):
    x = S.zeros()
    where = np.uint64(address(x))
    if bug:
        x.close(S.one)
    on(S.one, "put", where, 8)


@program
def freed_by_the_host(bug):
    status, where = driver.cuMemAlloc(32)
    assert status == 0
    if bug:
        ok(driver.cuMemFree(where))
    on(S.one, "put", np.uint64(int(where)), 8)


@program
def memory_of_a_kernels_malloc(bug):
    x = S.pool()
    on(S.one, "make", x, 8, block=1)
    on(S.one, "follow", x, 8 + bug, block=9)
    on(S.one, "fetch", x, S.pool())
    on(S.one, "drop", x, block=1)


@program
def freed_by_a_kernel(bug):
    x = S.pool()
    for _ in range(3):
        on(S.one, "make", x, 8, block=1)
        if bug:
            on(S.one, "drop", x, block=1)
        on(S.one, "follow", x, 8)
        on(S.one, "drop", x, block=1)


@program
def memory_of_a_graph(bug):
    definition = g.GraphDefinition()
    memory = definition.allocate(32)
    last = memory.deallocate(memory.dptr) if bug else memory
    node = on(last, "put", np.uint64(memory.dptr), 8)
    if not bug:
        node.deallocate(memory.dptr)
    start(definition)


@program
def memory_of_the_process(bug):
    x = S.zeros()
    on(S.one, "put", np.uint64(OF_THE_PROCESS.ctypes.data if bug else address(x)), 8)
    S.one.sync()


@program
def a_node_in_a_body(bug):
    definition, x = g.GraphDefinition(), S.zeros()
    body = definition.if_then(definition.create_condition(default_value=1)).then
    on(body, "put", x, 8 + bug, block=9)
    start(definition)


@program
def a_node_of_a_child(bug):
    definition, child, x = g.GraphDefinition(), g.GraphDefinition(), S.zeros()
    on(child, "put", x, 8 + bug, block=9)
    definition.embed(child)
    start(definition)


@program
def a_captured_kernel(bug):
    x, builder = S.zeros(), S.device.create_graph_builder().begin_building()
    core.launch(builder, core.LaunchConfig(grid=1, block=9), S.code["put"], x, np.int32(8 + bug))
    builder.end_building().complete().launch(S.one)


@program
def freed_before_a_copy(bug):
    x, y, definition = S.zeros(), S.zeros(), g.GraphDefinition()
    definition.memcpy(address(y), address(x), 32)
    graph = definition.instantiate()
    if bug:
        x.close(S.one)
    graph.launch(S.one)


# ---- init ----


@program
def reads_of_the_pool(bug):
    y = S.pool() if bug else S.zeros()
    on(S.one, "take", S.pool(), y, 8)


@program
def reads_of_a_kernels_malloc(bug):
    x = S.pool()
    on(S.one, "make", x, 8, block=1)
    if not bug:
        on(S.one, "follow", x, 8)
    on(S.one, "fetch", x, S.pool())


@program
def reads_of_managed_memory(bug):
    y = S.managed()
    if not bug:
        np.from_dlpack(y).view(np.int32)[:] = np.arange(8)
    on(S.one, "take", S.pool(), y, 8)


@program
def the_last_is_not_written(bug):
    x = S.pool()
    on(S.one, "put", x, 8 - bug)
    on(S.one, "take", S.pool(), x, 8)


@program
def an_atomic(bug):
    on(S.one, "add", S.pool() if bug else S.zeros(), 8)


@program
def a_bulk_copy_of_nothing(bug):
    on(S.one, "to_shared", S.pool(), S.pool() if bug else S.zeros(), 32)


@program
def a_copy_of_nothing(bug):
    x = S.pool() if bug else S.zeros()
    S.pool().copy_from(x, stream=S.one)


@program
def memory_that_came_again(bug):
    x = S.zeros()
    x.close(S.one)
    y = S.pool() if bug else S.zeros()
    on(S.one, "take", S.pool(), y, 8)


@program
def memory_of_a_node(bug):
    definition, x = g.GraphDefinition(), S.zeros()
    memory = definition.allocate(32)
    node = memory if bug else memory.memset(memory.dptr, 0, 32)
    on(node, "take", x, np.uint64(memory.dptr), 8).deallocate(memory.dptr)
    start(definition)


@program
def rows_that_were_not_filled(bug):
    x = S.pool()
    ok(driver.cuMemsetD2D32Async(address(x), 16, 0, 2 if bug else 4, 2, S.one.handle))  # rows of 16 bytes
    on(S.one, "take", S.pool(), x, 8)


# ---- race ----


@program
def nodes(bug):
    definition, x = g.GraphDefinition(), S.zeros()
    first = on(definition, "put", x, 8)
    on(definition if bug else first, "take", S.zeros(), x, 8)
    start(definition)


@program
def nodes_far_apart(bug):
    definition, x = g.GraphDefinition(), S.zeros()
    first = on(definition, "put", x, 8)
    node = definition if bug else first
    for _ in range(5):
        node = on(node, "put", S.zeros(), 8)
    on(node, "put", x, 8)
    start(definition)


@program
def fills(bug):
    definition, x = g.GraphDefinition(), S.zeros()
    first = definition.memset(address(x), np.uint32(1), 8)
    on(definition if bug else first, "put", x, 8)
    start(definition)


@program
def copies(bug):
    definition, x, y = g.GraphDefinition(), S.zeros(), S.zeros()
    first = on(definition, "put", x, 8)
    (definition if bug else first).memcpy(address(y), address(x), 32)
    start(definition)


@program
def a_body_and_a_node(bug):
    definition, x = g.GraphDefinition(), S.zeros()
    first = definition.if_then(definition.create_condition(default_value=1))
    on(first.then, "put", x, 8)
    on(definition if bug else first, "put_first", x, block=1)
    start(definition)


@program
def a_child_and_a_node(bug):
    definition, child, x = g.GraphDefinition(), g.GraphDefinition(), S.zeros()
    on(child, "put", x, 8)
    first = definition.embed(child)
    on(definition if bug else first, "put_first", x, block=1)
    start(definition)


@program
def streams(bug):
    x = S.zeros()
    on(S.one, "put", x, 8)
    if not bug:
        S.two.wait(S.one)
    on(S.two, "put_first", x, block=1)
    S.two.sync()


@program
def an_event_that_was_recorded_too_early(bug):
    x = S.zeros()
    early = S.one.record()
    on(S.one, "put", x, 8)
    S.two.wait(early if bug else S.one.record())
    on(S.two, "put_first", x, block=1)
    S.two.sync()


@program
def launches_of_a_graph(bug):
    definition, x = g.GraphDefinition(), S.zeros()
    on(definition, "put", x, 8)
    start(definition)
    if not bug:
        S.two.wait(S.one)
    on(S.two, "put_first", x, block=1)
    S.two.sync()


@program
def a_free_and_a_kernel(bug):
    x = S.zeros()
    on(S.two, "put", x, 8)
    if bug:
        # The free must not come before the kernel, whose accesses would then be those of freed memory. No call of the
        # driver orders the two.
        while (ctypes.c_int * 8).from_address(int(x.handle))[:] != [*range(8)]:
            pass
    else:
        S.one.wait(S.two)
    x.close(S.one)
    S.two.sync()


@program
def blocks(bug):
    on(S.one, "put_first" if bug else "add", S.zeros(), *([] if bug else [16]), grid=4, block=4)


@program
def blocks_and_a_barrier_of_the_grid(bug):
    on(S.one, "next", S.zeros(), S.zeros(), int(not bug), grid=2, block=4, is_cooperative=True)


@program
def blocks_and_a_flag(bug):
    on(S.one, "flag", S.zeros(), S.zeros(), int(not bug), 0, grid=2, block=4, is_cooperative=True)


@program
def rows_of_a_copy(bug):
    """8 bytes of each 16: the second half of each row, or the first, which the kernel writes."""
    x, y = S.zeros(), S.zeros()
    copy = driver.CUDA_MEMCPY2D()
    copy.srcMemoryType = copy.dstMemoryType = driver.CUmemorytype.CU_MEMORYTYPE_DEVICE
    copy.srcDevice, copy.dstDevice = address(y), address(x)
    copy.srcPitch = copy.dstPitch = 16
    copy.dstXInBytes = 0 if bug else 8
    copy.WidthInBytes, copy.Height = 8, 2
    on(S.one, "put", x, 2)
    ok(driver.cuMemcpy2DAsync(copy, S.two.handle))
    S.two.sync()


@program
def a_box_of_a_copy(bug):
    x, y = S.zeros(), S.zeros()
    copy = driver.CUDA_MEMCPY3D()
    copy.srcMemoryType = copy.dstMemoryType = driver.CUmemorytype.CU_MEMORYTYPE_DEVICE
    copy.srcDevice, copy.dstDevice = address(y), address(x)
    copy.srcPitch = copy.dstPitch = 8
    copy.srcHeight = copy.dstHeight = 2
    copy.dstXInBytes = 0 if bug else 4
    copy.WidthInBytes, copy.Height, copy.Depth = 4, 2, 2
    on(S.one, "put_first", x, block=1)
    ok(driver.cuMemcpy3DAsync(copy, S.two.handle))
    S.two.sync()


def outcome(name: str, bug: bool, stderr) -> tuple[str, str]:
    """(the error of the program's next wait or "", what was written to standard error)."""
    stderr.seek(0)
    stderr.truncate()
    error = ""
    try:
        PROGRAMS[name](bug)
        S.one.sync()
    except Exception as found:
        error = str(found)
    stderr.seek(0)
    return error, stderr.read()


if __name__ == "__main__":
    outcomes = {}
    with tempfile.TemporaryFile("w+") as stderr:
        usual, devices = os.dup(2), len(core.Device.get_all_devices())
        for number, name in enumerate(sys.argv[1:]):
            S = Setting(number if devices > number else 0)
            os.dup2(stderr.fileno(), 2)
            outcomes[name] = [outcome(name, bug, stderr) for bug in (False, True)]
            os.dup2(usual, 2)
    print(json.dumps(outcomes))
