# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Programs with one bug each, and programs like them without it. The script runs the named programs in a process of its
own, each on a device of its own if there are enough, and writes the findings of the host driver as JSON.

    CUDA_GRAPHS_HOST_CHECK=race python tests/hostdriver/planted_bugs.py two_nodes_write

The kernels have lines of an imagined file bugs.cu.
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Callable

import numpy as np

import cuda_graphs as cg

ENTRY = """
.visible .entry {name}(.param .u64 a, .param .u64 b, .param .u32 n)
{{
  .reg .pred %p<4>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<9>;
  .shared .align 4 .b32 own[4];
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra DONE;
  mul.wide.u32 %rd3, %r5, 4;
  add.u64 %rd4, %rd1, %rd3;
  add.u64 %rd5, %rd2, %rd3;
{body}
DONE:
  ret;
}}
"""

# Element i is that of the thread: %rd4 in a, %rd5 in b.
BODIES = {
    "put": ".loc 1 10 3\n  st.global.u32 [%rd4], 7;",
    "take": ".loc 1 20 3\n  ld.global.u32 %r6, [%rd5];\n  .loc 1 21 3\n  st.global.u32 [%rd4], %r6;",
    "put_first": ".loc 1 30 3\n  st.global.u32 [%rd1], %r5;",
    "count": ".loc 1 40 3\n  atom.global.add.u32 %r6, [%rd1], 1;",
    "put_shared": "mov.u32 %r6, own;\n  mad.lo.u32 %r6, %r4, 4, %r6;\n  .loc 1 50 3\n  st.shared.u32 [%r6], 7;",
    # The last of two blocks reads what the other wrote: correct, with a fence before the ticket is drawn.
    "last_block": """  st.global.u32 [%rd4], 7;
  {fence}
  atom.global.inc.u32 %r6, [%rd2], 1000;
  mov.u32 %r7, %nctaid.x;
  sub.u32 %r7, %r7, 1;
  setp.ne.u32 %p2, %r6, %r7;
  @%p2 bra DONE;
  sub.u32 %r7, %r7, %r2;
  mul.wide.u32 %rd3, %r7, 4;
  add.u64 %rd6, %rd1, %rd3;
  .loc 1 60 3
  ld.global.u32 %r6, [%rd6];""",
    "plain": "st.global.u32 [%rd4], 7;",  # no .loc
    "put_pair": ".loc 1 70 3\n  st.global.v2.u32 [%rd4], {%r5, %r5};",
    "put_shared_pair": (
        "mov.u32 %r6, own;\n  mad.lo.u32 %r6, %r4, 4, %r6;\n  .loc 1 80 3\n  st.shared.v2.u32 [%r6], {%r5, %r5};"
    ),
}
BODIES["last_block_fenced"] = BODIES["last_block"].format(fence="membar.gl;")
BODIES["last_block"] = BODIES["last_block"].format(fence="")

UNTIL_THREE = """
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry until_three(.param .u64 a, .param .u64 condition)
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  .param .b64 handle;
  .param .b32 value;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [condition];
  ld.global.u32 %r1, [%rd1];
  add.u32 %r1, %r1, 1;
  st.global.u32 [%rd1], %r1;
  setp.lt.u32 %p1, %r1, 3;
  selp.u32 %r2, 1, 0, %p1;
  st.param.b64 [handle], %rd2;
  st.param.b32 [value], %r2;
  call cudaGraphSetConditional, (handle, value);
  ret;
}
"""

PTX = (
    '.version 8.0\n.target sm_90\n.address_size 64\n.file 1 "bugs.cu"\n'
    + "".join(ENTRY.format(name=name, body=body) for name, body in BODIES.items())
    + UNTIL_THREE
)

DO_NOTHING = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: None)

Program = Callable[[], None]
PROGRAMS: dict[str, Program] = {}


def program(run: Program) -> Program:
    PROGRAMS[run.__name__] = run
    return run


class Setting:
    """The objects that programs work with; buffers have 8 ints."""

    def __init__(self, number: int = 0) -> None:
        self.device = cg.Device(number)
        self.device.set_current()
        self.code = cg.ObjectCode.from_ptx(PTX.encode())
        self.kernel = {name: self.code.get_kernel(name) for name in BODIES}
        self.stream = self.device.create_stream()
        self.other = self.device.create_stream()
        self.memory = self.device.memory_resource

    def buffer(self) -> cg.Buffer:
        return self.memory.allocate(32, stream=self.stream)

    def zeros(self) -> cg.Buffer:
        """Returns a buffer whose zeros are written."""
        found = self.buffer()
        found.fill(0, stream=self.stream)
        self.stream.sync()
        return found


def on(place, name: str, a, b=0, n: int = 8, blocks: int = 1, threads: int = 8):
    """A launch, in a graph or on a stream."""
    config = cg.LaunchConfig(grid=blocks, block=threads)
    arguments = (a, b, np.uint32(n))
    if isinstance(place, cg.Stream):
        return cg.launch(place, config, S.kernel[name], *arguments)
    return place.launch(config, S.kernel[name], *arguments)


def run(graph: cg.GraphDef) -> None:
    graph.instantiate().launch(S.stream)


# ---- memory ----


@program
def kernel_writes_behind():
    on(S.stream, "put", S.buffer(), n=9, blocks=3, threads=4)


@program
def kernel_writes_where_the_next_memory_might_be():
    a, b = (S.memory.allocate(512, stream=S.stream) for _ in range(2))
    on(S.stream, "put", a, n=129, threads=129)
    on(S.stream, "put", b, n=128, threads=128)


@program
def kernel_writes_without_lines():
    on(S.stream, "plain", S.buffer(), n=9, blocks=3, threads=4)


@program
def kernel_reads_across_the_end():
    a = S.zeros()
    on(S.stream, "take", S.zeros(), int(a.handle) + 30, n=1)


@program
def kernel_uses_freed():
    a = S.zeros()
    address = int(a.handle)
    a.close(S.stream)
    on(S.stream, "put", address)


@program
def kernel_uses_memory_that_the_host_freed():
    a = cg.SynchronousMemoryResource(S.device.device_id).allocate(32)
    address = int(a.handle)
    a.close()
    on(S.stream, "put", address)


@program
def kernel_uses_host_memory():
    host = np.zeros(8, np.uint32)
    on(S.stream, "put", host.ctypes.data)
    S.stream.sync()


@program
def kernel_writes_behind_shared_memory():
    on(S.stream, "put_shared", S.zeros(), threads=8)


@program
def kernel_writes_between_two_elements():
    a = S.zeros()
    on(S.stream, "put", int(a.handle) + 2, n=1)
    S.stream.sync()


@program
def kernel_writes_a_pair_from_an_odd_element_on():
    on(S.stream, "put_pair", S.zeros(), n=2)


@program
def kernel_writes_a_pair_in_shared_memory_from_an_odd_element_on():
    on(S.stream, "put_shared_pair", S.zeros(), n=2)


@program
def node_uses_memory_after_its_free():
    graph = cg.GraphDef()
    alloc = graph.alloc(32)
    freed = alloc.free(alloc.dptr)
    on(freed, "put", alloc.dptr)
    run(graph)


@program
def node_copies_freed_memory():
    a, b = S.zeros(), S.zeros()
    graph = cg.GraphDef()
    graph.memcpy(b, int(a.handle), 32)
    executable = graph.instantiate()
    a.close(S.stream)
    executable.launch(S.stream)


# ---- init ----


@program
def kernel_reads_what_nobody_wrote():
    on(S.stream, "take", S.zeros(), S.buffer())


@program
def kernel_reads_more_than_was_written():
    a = S.buffer()
    on(S.stream, "put", a, n=7)
    on(S.stream, "take", S.zeros(), a)


@program
def copy_reads_what_nobody_wrote():
    S.zeros().copy_from(S.buffer(), stream=S.stream)


@program
def kernel_reads_what_a_copy_took_along():
    a, b = S.buffer(), S.buffer()
    on(S.stream, "put", a, n=7)
    b.copy_from(a, stream=S.stream)
    on(S.stream, "take", S.buffer(), b)


@program
def copy_takes_along_what_nobody_wrote():
    a = S.buffer()
    on(S.stream, "put", a, n=7)
    S.buffer().copy_from(a, stream=S.stream)


@program
def copy_reads_what_native_code_wrote():
    @cg.kernel
    def fill(x: cg.types.ndarray(cg.i32, 1)):
        for i in range(x.shape[0]):
            x[i] = 1

    x = cg.ndarray(cg.i32, 8)
    fill(x)
    assert (x.to_numpy() == 1).all()


@program
def kernel_reads_what_was_written():
    a = S.buffer()
    on(S.stream, "put", a)
    on(S.stream, "take", S.buffer(), a)


@program
def kernel_reads_what_was_filled_and_copied():
    a, b = S.buffer(), S.buffer()
    a.fill(1, stream=S.stream)
    b.copy_from(a, stream=S.stream)
    on(S.stream, "take", S.buffer(), b)


# ---- race ----


@program
def two_nodes_write():
    a, graph = S.zeros(), cg.GraphDef()
    on(graph, "put", a)
    on(graph, "put_first", a, n=1)
    run(graph)


@program
def two_nodes_write_one_after_the_other():
    a, graph = S.zeros(), cg.GraphDef()
    on(on(graph, "put", a), "put_first", a, n=1)
    run(graph)


@program
def nodes_with_a_path_over_others():
    a, graph = S.zeros(), cg.GraphDef()
    first, aside = on(graph, "put", a), on(graph, "put", S.zeros())
    on(first.join(aside), "take", S.zeros(), a)
    run(graph)


@program
def two_nodes_read():
    a, graph = S.zeros(), cg.GraphDef()
    on(graph, "take", S.zeros(), a)
    on(graph, "take", S.zeros(), a)
    run(graph)


@program
def node_reads_what_another_writes():
    a, graph = S.zeros(), cg.GraphDef()
    on(graph, "put", a)
    on(graph, "take", S.zeros(), a)
    run(graph)


@program
def fill_and_kernel():
    a, graph = S.zeros(), cg.GraphDef()
    graph.memset(a, 0, 8)
    on(graph, "put", a)
    run(graph)


@program
def copy_and_kernel():
    a, b, graph = S.zeros(), S.zeros(), cg.GraphDef()
    graph.memcpy(b, a)
    on(graph, "put", a)
    run(graph)


@program
def host_node_and_kernel():
    pinned = cg.PinnedMemoryResource().allocate(32, stream=S.stream)
    S.stream.sync()
    graph = cg.GraphDef()
    graph.callback(DO_NOTHING, user_data=int(pinned.handle))
    on(graph, "put", pinned)
    run(graph)


@program
def node_inside_a_child_and_one_beside():
    a, graph, child = S.zeros(), cg.GraphDef(), cg.GraphDef()
    on(child, "put", a)
    graph.embed(child)
    on(graph, "put_first", a, n=1)
    run(graph)


@program
def node_inside_a_body_and_one_beside():
    a, graph = S.zeros(), cg.GraphDef()
    node = graph.if_then(graph.create_condition(default_value=1))
    on(node.then, "put", a)
    on(graph, "put_first", a, n=1)
    run(graph)


@program
def node_frees_what_another_uses():
    graph = cg.GraphDef()
    alloc = graph.alloc(32)
    on(alloc, "put", alloc.dptr)
    alloc.free(alloc.dptr)
    run(graph)


@program
def passes_of_a_loop():
    a, graph = S.zeros(), cg.GraphDef()
    condition = graph.create_condition(default_value=1)
    loop = graph.while_loop(condition)
    config = cg.LaunchConfig(grid=1, block=1)
    loop.body.launch(config, S.code.get_kernel("until_three"), a, condition)
    run(graph)


@program
def blocks_write_one_place():
    on(S.stream, "put_first", S.zeros(), blocks=2, threads=4)


@program
def blocks_count_with_atomics():
    on(S.stream, "count", S.zeros(), blocks=2, threads=4)


@program
def last_block_without_a_fence():
    on(S.stream, "last_block", S.zeros(), S.zeros(), n=2, blocks=2, threads=1)


@program
def last_block_with_a_fence():
    on(S.stream, "last_block_fenced", S.zeros(), S.zeros(), n=2, blocks=2, threads=1)


@program
def two_streams():
    a = S.zeros()
    on(S.stream, "put", a)
    on(S.other, "put_first", a, n=1)
    S.other.sync()


@program
def stream_frees_what_another_uses():
    a = S.zeros()
    on(S.other, "put", a)
    a.close(S.stream)
    S.other.sync()


@program
def two_streams_and_an_event():
    a = S.zeros()
    on(S.stream, "put", a)
    S.other.wait(S.stream.record())
    on(S.other, "put_first", a, n=1)
    S.other.sync()


@program
def default_stream_and_one_that_does_not_wait_for_it():
    a = S.zeros()
    on(S.device.default_stream, "put", a)
    on(S.stream, "put_first", a, n=1)
    S.device.sync()


@program
def default_stream_and_one_that_waits_for_it():
    a = S.zeros()
    blocking = S.device.create_stream(options=cg.StreamOptions(nonblocking=False))
    on(blocking, "put", a)
    on(S.device.default_stream, "put", a)
    on(blocking, "put_first", a, n=1)
    S.device.sync()


@program
def two_streams_and_the_host():
    a = S.zeros()
    on(S.stream, "put", a)
    S.stream.sync()
    on(S.other, "put_first", a, n=1)
    S.other.sync()


@program
def launches_of_one_graph():
    a, graph = S.zeros(), cg.GraphDef()
    on(graph, "put", a)
    executable = graph.instantiate()
    executable.launch(S.stream)
    executable.launch(S.other)
    S.other.sync()


def found_in(name: str) -> str:
    """Returns the finding of the driver, or ""."""
    try:
        PROGRAMS[name]()
        S.stream.sync()
    except cg.CUDAError as error:
        return f"{error.name}: {error.log}"
    return ""


if __name__ == "__main__":
    devices, found = len(cg.Device.get_all_devices()), {}
    for number, name in enumerate(sys.argv[1:]):
        S = Setting(number if devices > number else 0)
        found[name] = found_in(name)
    print(json.dumps(found))
