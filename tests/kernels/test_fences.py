# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: what a thread writes before `cg.fence()` is seen by each thread that sees what it writes after."""

import numpy as np
import pytest

import cuda_graphs as cg

Numbers = cg.types.ndarray(cg.i64, ndim=1)
Words = cg.types.ndarray(cg.i32, ndim=1)
BLOCK = 64


@cg.kernel
def total(x: Numbers, parts: Numbers, done: Words, out: Numbers):
    """The last block to end adds the parts of all blocks."""
    for b, t in cg.blocks(parts.shape[0], BLOCK):
        i = b * BLOCK + t
        part = cg.block.reduce_add(x[i] if i < x.shape[0] else cg.i64(0))
        ticket = cg.block.shared_array(cg.i32, 1)
        if t == 0:
            parts[b] = part
            cg.fence()
            ticket[0] = cg.atomic_add(done[0], 1)
        cg.block.sync()
        if t == 0 and ticket[0] == parts.shape[0] - 1:
            cg.fence()
            found = cg.i64(0)
            for k in range(parts.shape[0]):
                found += parts[k]
            out[0] = found


@pytest.mark.parametrize("n", [1, 63, 64, 1000, 50_000])
def test_last_block_sees_the_parts_of_all_blocks(device, n):
    x = np.random.default_rng(n).integers(-(2**40), 2**40, n)
    blocks = -(-n // BLOCK)
    given, out = cg.array(x), cg.zeros(1, cg.i64)
    for _ in range(5):
        parts, done = cg.zeros(blocks, cg.i64), cg.zeros(1, cg.i32)
        out.fill(0)
        total(given, parts, done, out)
        assert out[0] == x.sum()


def test_atomics_before_a_fence_are_not_done_later(device):
    @cg.kernel
    def count(sums: Words, seen: Words, out: Words):
        for _ in range(out.shape[0]):
            cg.atomic_add(sums[0], 1)
            cg.fence()
            cg.atomic_add(seen[0], 1)

    sums, seen, out = cg.zeros(1, cg.i32), cg.zeros(1, cg.i32), cg.zeros(1000, cg.i32)
    count(sums, seen, out)
    assert (sums[0], seen[0]) == (1000, 1000)
    body = str(count.inspect(sums, seen, out).ir).partition("parallel for")[2]
    assert body.index("atomic add sums") < body.index("fence") < body.index("atomic add seen")


def test_fences_stand_in_loops_that_no_block_runs_and_in_functions_that_are_called(device):
    @cg.func(inline=False)
    def publish(x, ready, i):
        x[i] = i
        cg.fence()
        ready[i] = 1
        return i

    @cg.kernel
    def fill(x: Words, ready: Words, seen: Words):
        for i in x:
            publish(x, ready, i)
        for i in x:
            if ready[i] == 1:
                cg.fence()
                seen[i] = x[i]

    x, ready, seen = (cg.zeros(100, cg.i32) for _ in range(3))
    fill(x, ready, seen)
    assert seen.to_numpy().tolist() == list(range(100))


def test_a_fence_has_no_gradient(device):
    @cg.kernel
    def half(x: cg.types.ndarray(cg.f32, ndim=1)):
        for i in x:
            x[i] *= 0.5
            cg.fence()

    x = cg.ndarray(cg.f32, 3, needs_grad=True)
    with pytest.raises(cg.CompileError, match="gradient"):
        half.grad(x)


def test_the_host_does_not_fence():
    with pytest.raises(RuntimeError, match=r"cg\.fence has a meaning in kernels only"):
        cg.fence()
