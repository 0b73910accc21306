# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: CUDA_GRAPHS_HOST_SCHEDULE=random:<seed> runs an order that is legal, the same for the same seed, and another for
others: of nodes, of blocks, of the threads of a block between its barriers."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent

# Each thread takes a ticket, waits for its block, and takes another one: `out` gets who had which.
PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry tickets(.param .u64 counter, .param .u64 out)
{
  .reg .b32 %r<9>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [counter];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  atom.global.add.u32 %r5, [%rd1], 1;
  mul.wide.u32 %rd3, %r5, 4;
  add.u64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r4;
@BARRIER@
  ret;
}
"""
BARRIER = """
  bar.sync 0;
  atom.global.add.u32 %r5, [%rd1], 1;
  mul.wide.u32 %rd3, %r5, 4;
  add.u64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r4;
"""

PROGRAM = f"""
import json
import numpy as np
import cuda_graphs as cg
device = cg.Device(); device.set_current(); stream = device.create_stream()

def tickets(ptx, count):
    kernel = cg.ObjectCode.from_ptx(ptx.encode()).get_kernel("tickets")
    memory = cg.ManagedMemoryResource(device)
    counter, out = memory.allocate(4, stream=stream), memory.allocate(4 * count, stream=stream)
    counter.fill(0, stream=stream)
    cg.launch(stream, cg.LaunchConfig(grid=4, block=8), kernel, counter, out)
    stream.sync()
    return np.from_dlpack(out).view(np.uint32).tolist()

ran = []
graph = cg.GraphDef()
first = graph.callback(lambda: ran.append("first"))
middle = [first.callback(lambda i=i: ran.append(i)) for i in range(6)]
middle[0].join(*middle[1:]).callback(lambda: ran.append("last"))
graph.instantiate().launch(stream)
stream.sync()
plain = {PTX!r}
alone = tickets(plain.replace("@BARRIER@", ""), 32)
print(json.dumps([ran, alone, tickets(plain.replace("@BARRIER@", {BARRIER!r}), 64)]))
"""


def run(**environment: str) -> list[list]:
    environment = {"CUDA_GRAPHS_DRIVER": "host", "PYTHONPATH": str(ROOT), **environment}
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def in_blocks(tickets: list[int], each: int) -> list[list[int]]:
    return [tickets[i : i + each] for i in range(0, len(tickets), each)]


def check_is_legal(nodes: list, plain: list[int], with_barrier: list[int]) -> None:
    assert nodes[0] == "first" and nodes[-1] == "last"
    assert sorted(nodes[1:-1]) == list(range(6))
    assert sorted(plain) == list(range(32))
    for both in in_blocks(with_barrier, 16):
        block = sorted(both[:8])
        assert block == list(range(block[0], block[0] + 8)) and block[0] % 8 == 0
        assert sorted(both[8:]) == block  # no thread passes the barrier before all are there


def test_orders_are_legal_the_same_for_a_seed_and_others_for_others():
    drawn = [run(CUDA_GRAPHS_HOST_SCHEDULE=f"random:{seed}") for seed in (1, 1, 2)]
    for orders in drawn:
        check_is_legal(*orders)
    assert drawn[0] == drawn[1]
    for one, other in zip(drawn[0], drawn[2], strict=True):
        assert one != other


def test_blocks_nodes_and_threads_are_all_drawn():
    nodes, plain, with_barrier = run(CUDA_GRAPHS_HOST_SCHEDULE="random:4")
    assert nodes[1:-1] != list(range(6))
    blocks = in_blocks(plain, 8)
    assert [block[0] // 8 for block in blocks] != [0, 1, 2, 3]
    assert all(block != sorted(block) for block in blocks)
    first, second = with_barrier[:8], with_barrier[8:16]
    assert first != sorted(first) and second != sorted(second) and first != second
