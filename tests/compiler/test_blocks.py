# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of blocks and warps: what threads do together gives what NumPy gives, for any number of threads, and the same on
the interpreter, as x86 code and as PTX."""

import re

import numpy as np
import pytest

from cuda_graphs.compiler import errors
from cuda_graphs.compiler.codegen.x86.x86_target import X86
from cuda_graphs.compiler.ir import types as t
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.pipeline import generate, lower
from cuda_graphs.native.units import assembly
from tests.compiler.rig import cg, function_of, ptx_target, run_all

SIZES = (1, 2, 31, 32, 33, 96, 256, 1024)


def kernel(body, **names):
    """def k(x, y, n): body"""
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    return function_of(f"def k(x: ndarray(), y: ndarray(), n: i32):\n{lines}\n", **names)


def run(body, x, y, n=0, fields=(), targets=None, **names):
    return run_all(kernel(body, **names), fields, targets=targets, x=x, y=y, n=n)["y"]


def numbers(count, dtype=np.float32):
    """Floats of small integers, whose sums are exact in any order, or integers."""
    return np.random.default_rng(count).integers(-50, 50, count).astype(dtype)


def tree(values, combine):
    """A reduction as it is defined: over lanes 16, 8, 4, 2, 1 apart, then over the warps in the same way."""

    def one(row):
        row = list(row) + [None] * (32 - len(row))
        for distance in (16, 8, 4, 2, 1):
            pairs = zip(row, row[distance:], strict=False)
            row = [a if b is None else combine(a, b) for a, b in pairs][:distance]
        return row[0]

    return one([one(values[i : i + 32]) for i in range(0, len(values), 32)])


@pytest.mark.parametrize("size", SIZES)
def test_a_block_sums_its_threads_for_any_size(size):
    blocks = 3
    x = numbers(blocks * size)
    found = run("for b, t in cg.blocks(n, SIZE):\n  y[b * SIZE + t] = cg.block.reduce_add(x[b * SIZE + t])",
                x, np.zeros_like(x), blocks, SIZE=size)  # fmt: skip
    np.testing.assert_array_equal(
        found.reshape(blocks, size), x.reshape(blocks, size).sum(1)[:, None].repeat(size, 1)
    )


@pytest.mark.parametrize(
    ("count", "size"), [(1, 32), (100, 32), (65, 64), (129, 128), (1000, 256), (40, 33), (0, 64)]
)
def test_the_last_block_of_a_range_may_have_fewer_threads(count, size):
    body = """
cg.loop_config(block_dim=SIZE)
for i in range(n):
    y[i] = cg.block.reduce_add(x[i])
    cg.block.sync()
    y[i] += cg.block.reduce_max(x[i]) * 1000 + cg.block.thread()
"""
    x = numbers(max(count, 1))
    found = run(body, x, np.zeros_like(x), count, SIZE=size)[:count]
    for start in range(0, count, size):
        part = x[start : min(start + size, count)]
        wanted = part.sum() + part.max() * 1000 + np.arange(len(part), dtype=np.float32)
        np.testing.assert_array_equal(found[start : start + len(part)], wanted)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_sums_of_floats_are_rounded_in_one_order_on_all_targets(dtype):
    x = np.random.default_rng(1).random(2 * 200).astype(dtype)
    found = run(
        "for b, t in cg.blocks(2, 200):\n  y[b] = cg.block.reduce_add(x[b * 200 + t])", x, np.zeros(2, dtype)
    )
    np.testing.assert_array_equal(
        found, [tree(part, lambda a, b: dtype(a + b)) for part in x.reshape(2, 200)]
    )


REDUCTIONS = {
    "reduce_add": (np.add, "f64 i32 u64 i8"),
    "reduce_min": (np.minimum, "f32 i32 u32 i64 u8"),
    "reduce_max": (np.maximum, "f64 i32 u32 u64 i16"),
    "reduce_and": (np.bitwise_and, "i32 u64 i8"),
    "reduce_or": (np.bitwise_or, "u32 i64 u16"),
    "reduce_xor": (np.bitwise_xor, "i32 u64 u8"),
}


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("scope", ["block", "warp"])
def test_each_reduction_gives_all_threads_what_numpy_gives(name, scope):
    combine, types = REDUCTIONS[name]
    for kind in types.split():
        dtype = np.dtype(t.SCALARS[kind].dtype)
        x = np.random.default_rng(2).integers(-100, 100, 80).astype(dtype)
        found = run(f"for b, t in cg.blocks(1, 80):\n  y[t] = cg.{scope}.{name}(x[t])", x, np.zeros_like(x))
        for start in range(0, 80, 80 if scope == "block" else 32):
            part = slice(start, start + (80 if scope == "block" else 32))
            np.testing.assert_array_equal(found[part], combine.reduce(x[part], dtype=dtype), err_msg=kind)


def test_the_least_and_greatest_of_floats_are_numbers_if_there_is_one():
    x = np.full(96, np.nan, np.float32)
    x[[3, 5]], x[40] = (2, -1), 7
    body = "for b, t in cg.blocks(1, 96):\n  y[t] = cg.warp.reduce_min(x[t])"
    found = run(body, x, np.zeros_like(x))
    np.testing.assert_array_equal(found.reshape(3, 32)[:, 9], [-1, 7, np.nan])


def test_any_all_and_ballot_ask_each_lane():
    x = np.random.default_rng(3).integers(0, 2, 70).astype(np.int32)
    x[32:64] = 1
    body = """
for b, t in cg.blocks(1, 70):
    y[t, 0] = cg.warp.ballot(x[t])
    y[t, 1] = cg.cast(cg.warp.any(x[t] > 0), cg.u32) + 2 * cg.cast(cg.warp.all(x[t] == 1), cg.u32)
    y[t, 2] = cg.cast(cg.block.any(x[t] > 1), cg.u32) + 2 * cg.cast(cg.block.all(x[t] < 2), cg.u32)
"""
    found = run(body, x, np.zeros((70, 3), np.uint32))
    for warp in range(3):
        lanes = x[32 * warp : 32 * warp + 32]
        rows = found[32 * warp : 32 * warp + 32]
        assert set(rows[:, 0]) == {sum(int(v) << i for i, v in enumerate(lanes))}
        assert set(rows[:, 1]) == {int(lanes.any()) + 2 * int(lanes.all())}
        assert set(rows[:, 2]) == {2}


SOURCES = {
    "shuffle": lambda lane, k: k % 32,
    "shuffle_up": lambda lane, k: lane - k % 32,
    "shuffle_down": lambda lane, k: lane + k % 32,
    "shuffle_xor": lambda lane, k: lane ^ k % 32,
}


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("kind", ["f32", "f64", "i8", "u16", "i64", "f16"])
def test_a_shuffle_reads_another_lane_or_the_own_where_there_is_none(name, kind):
    size = 50
    x = np.random.default_rng(4).integers(0, 100, size).astype(t.SCALARS[kind].dtype)
    body = f"""
for b, t in cg.blocks(1, {size}):
    y[t, 0] = cg.warp.{name}(x[t], 3)
    y[t, 1] = cg.warp.{name}(x[t], t * 7)
    y[t, 2] = cg.warp.{name}(x[t], n)
"""
    found = run(body, x, np.zeros((size, 3), x.dtype), -3)
    for thread in range(size):
        for column, k in enumerate((3, thread * 7, -3)):
            lane, first = thread % 32, thread - thread % 32
            source = SOURCES[name](lane, k)
            place = first + source if 0 <= source < 32 and first + source < size else thread
            assert found[thread, column] == x[place], (thread, k)


def test_a_warp_meets_under_an_if_without_those_who_are_not_there():
    body = """
for b, t in cg.blocks(1, 64):
    v = x[t]
    if t % 3 == 0:
        v = cg.warp.reduce_add(v) + cg.warp.shuffle(v, t + 1)
        if t > 40:
            v += cg.warp.reduce_max(x[t]) * 1000
    elif t % 3 == 1:
        v = cg.cast(cg.warp.ballot(v > 0), cg.f32)
    y[t] = v
"""
    x = numbers(64)
    found = run(body, x, np.zeros_like(x))
    for thread in range(64):
        first = thread // 32 * 32
        lanes = np.arange(first, first + 32)
        if thread % 3 == 0:
            here = lanes[lanes % 3 == 0]
            source = first + (thread + 1) % 32
            wanted = x[here].sum() + (x[source] if source % 3 == 0 else x[thread])
            if thread > 40:
                wanted += x[here[here > 40]].max() * 1000
        elif thread % 3 == 1:
            wanted = np.float32(sum(1 << int(i - first) for i in lanes[lanes % 3 == 1] if x[i] > 0))
        else:
            wanted = x[thread]
        assert found[thread] == np.float32(wanted), thread


def test_a_tile_is_transposed_through_shared_memory():
    body = """
for bi, bj, i, j in cg.blocks((x.shape[0] // 8, x.shape[1] // 8), (8, 8)):
    tile = cg.block.shared_array(cg.f32, (8, 9))
    tile[i, j] = x[bi * 8 + i, bj * 8 + j]
    cg.block.sync()
    y[bj * 8 + i, bi * 8 + j] = tile[j, i]
"""
    x = numbers(24 * 40).reshape(24, 40)
    np.testing.assert_array_equal(run(body, x, np.zeros((40, 24), np.float32)), x.T)


def test_arrays_that_a_launch_must_ask_for_are_apart_and_beside_reductions():
    """60,000 bytes in two arrays, of which one begins behind the other, and what a reduction exchanges."""
    body = """
for b, t in cg.blocks(3, 64):
    wide = cg.block.shared_array(cg.f32, 10000)
    small = cg.block.shared_array(cg.u16, 10000)
    wide[t] = x[t] + b
    wide[9936 + t] = x[t] - b
    small[t] = cg.cast(t, cg.u16)
    small[9936 + t] = cg.cast(100 + t, cg.u16)
    cg.block.sync()
    total = cg.block.reduce_add(small[9999 - t])
    y[b * 128 + t] = wide[63 - t] + small[t] + total
    y[b * 128 + 64 + t] = wide[9999 - t] + small[9936 + t] + total
"""
    x = numbers(64)
    found = run(body, x, np.zeros(3 * 128, np.float32)).reshape(3, 2, 64)
    total, t = np.float32(sum(100 + k for k in range(64))), np.arange(64, dtype=np.float32)
    for b in range(3):
        np.testing.assert_array_equal(found[b, 0], x[::-1] + np.float32(b) + t + total)
        np.testing.assert_array_equal(found[b, 1], x[::-1] - np.float32(b) + (100 + t) + total)


@pytest.mark.parametrize("size", [32, 64, 128])
def test_a_tree_of_halves_sums_in_a_while_loop_with_a_barrier(size):
    body = """
for b, t in cg.blocks(n, SIZE):
    s = cg.block.shared_array(cg.f32, SIZE)
    s[t] = x[b * SIZE + t]
    cg.block.sync()
    stride = SIZE // 2
    while stride > 0:
        if t < stride:
            s[t] += s[t + stride]
        cg.block.sync()
        stride //= 2
    if t == 0:
        y[b] = s[0]
"""
    x = numbers(4 * size)
    np.testing.assert_array_equal(
        run(body, x, np.zeros(4, np.float32), 4, SIZE=size), x.reshape(4, size).sum(1)
    )


def test_shuffles_scan_a_block():
    body = """
for b, t in cg.blocks(1, 256):
    sums = cg.block.shared_array(cg.i32, 8)
    v = x[t]
    for k in cg.static(range(5)):
        other = cg.warp.shuffle_up(v, 1 << k)
        if cg.warp.lane() >= 1 << k:
            v += other
    if cg.warp.lane() == 31:
        sums[cg.warp.index()] = v
    cg.block.sync()
    before = 0
    for w in range(cg.warp.index()):
        before += sums[w]
    y[t] = before + v
"""
    x = numbers(256, np.int32)
    np.testing.assert_array_equal(run(body, x, np.zeros_like(x)), x.cumsum())


def test_a_histogram_counts_in_shared_bins():
    body = """
cg.loop_config(block_dim=128)
for i in range(x.shape[0]):
    bins = cg.block.shared_array(cg.i32, 16)
    t = cg.block.thread()
    k = t
    while k < 16:
        bins[k] = 0
        k += cg.block.dim()
    cg.block.sync()
    bins[x[i]] += 1
    old = cg.atomic_max(bins[15], 0)
    cg.block.sync()
    if t < 16:
        y[t] += bins[t]
"""
    x = np.random.default_rng(5).integers(0, 16, 128 * 5 + 77).astype(np.int32)
    np.testing.assert_array_equal(run(body, x, np.zeros(16, np.int32)), np.bincount(x, minlength=16))


def test_matrices_are_multiplied_tile_by_tile():
    body = """
for bi, bj, i, j in cg.blocks((y.shape[0] // 4, y.shape[1] // 4), (4, 4)):
    a, b = cg.block.shared_array(cg.f32, (4, 4)), cg.block.shared_array(cg.f32, (4, 4))
    total = cg.f32(0.0)
    row, column = bi * 4 + i, bj * 4 + j
    for tile in range(x.shape[1] // 4):
        a[i, j] = x[row, tile * 4 + j]
        b[i, j] = x[column, tile * 4 + i]
        cg.block.sync()
        for k in range(4):
            total += a[i, k] * b[k, j]
        cg.block.sync()
    y[row, column] = total
"""
    x = numbers(8 * 12).reshape(8, 12)
    np.testing.assert_array_equal(run(body, x, np.zeros((8, 8), np.float32)), x @ x.T)


def test_variables_keep_what_each_thread_gave_them_across_barriers():
    body = """
for b, t in cg.blocks(2, 40):
    s = cg.block.shared_array(cg.i32, 40)
    v, w = t, b * 100 + t
    for turn in range(n):
        s[t] = v
        cg.block.sync()
        v = s[(t + 1) % 40]
        if turn % 2 == 0:
            w += v
        cg.block.sync()
    y[b * 40 + t] = v * 1000 + w
"""
    found = run(body, np.zeros(1, np.int32), np.zeros(80, np.int32), 5)
    threads = np.arange(40)
    for block in range(2):
        w = block * 100 + threads + sum((threads + turn + 1) % 40 for turn in (0, 2, 4))
        np.testing.assert_array_equal(found[block * 40 : block * 40 + 40], (threads + 5) % 40 * 1000 + w)


def test_result_of_a_reduction_may_decide_a_loop_with_barriers():
    body = """
for b, t in cg.blocks(2, 64):
    v = x[b * 64 + t]
    turns = 0
    while cg.block.any(v > 0):
        v -= 7
        turns += 1
        if cg.block.reduce_max(v) > 20:
            v -= 1
        if turns == 9:
            break
    y[b * 64 + t] = v * 100 + turns
"""
    x = np.random.default_rng(6).integers(-5, 100, 128).astype(np.int32)
    x[:64] %= 30
    found = run(body, x, np.zeros_like(x))
    for block in range(2):
        v, turns = x[block * 64 : block * 64 + 64].copy(), 0
        while (v > 0).any():
            v -= 7
            turns += 1
            v -= int(v.max() > 20)
            if turns == 9:
                break
        np.testing.assert_array_equal(found[block * 64 : block * 64 + 64], v * 100 + turns)


def test_blocks_leave_together_and_threads_at_the_end():
    body = """
for b, t in cg.blocks(4, 32):
    if b == n:
        continue
    v = cg.block.reduce_add(t)
    if t > 5:
        continue
    y[b * 32 + t] = v
"""
    found = run(body, np.zeros(1, np.int32), np.zeros(128, np.int32), 2).reshape(4, 32)
    wanted = np.zeros((4, 32), np.int32)
    wanted[[0, 1, 3], :6] = 31 * 16
    np.testing.assert_array_equal(found, wanted)


@cg.func
def total(v):
    """Returns the value of the thread at the same distance from the other end of the block, plus the sum of the
    warp."""
    s = cg.block.shared_array(cg.f32, cg.block.dim())
    s[cg.block.thread()] = v
    cg.block.sync()
    return s[cg.block.dim() - 1 - cg.block.thread()] + cg.warp.reduce_add(v)


def test_functions_meet_where_they_are_called():
    body = "for b, t in cg.blocks(1, 64):\n  y[t] = total(x[t]) + total(x[t] * 2)"
    x = numbers(64)
    sums = x.reshape(2, 32).sum(1).repeat(32)
    np.testing.assert_array_equal(run(body, x, np.zeros_like(x), total=total), 3 * (x[::-1] + sums))


def test_vectors_are_shared_and_reduced_component_by_component():
    body = """
for b, t in cg.blocks(1, 48):
    s = cg.block.shared_array(cg.vec3, 48)
    s[t] = cg.vec3(x[t], x[t] * 2, 1.0)
    cg.block.sync()
    v = cg.block.reduce_add(s[47 - t])
    y[t] = v.x + v.y * 100 + v.z * 10000 + s[47 - t].y
"""
    x = numbers(48)
    found = run(body, x, np.zeros_like(x))
    np.testing.assert_array_equal(found, x.sum() + x.sum() * 200 + 480000 + 2 * x[::-1])


def test_statements_between_barriers_are_a_vector_loop_on_the_cpu():
    body = """
for b, t in cg.blocks(n, 256):
    s = cg.block.shared_array(cg.f32, 256)
    v = x[b * 256 + t] * 3
    s[t] = v
    cg.block.sync()
    y[b * 256 + t] = s[255 - t] * v
"""
    x = np.zeros(256, np.float32)
    program, _ = lower(kernel(body), specialise(kernel(body), {"x": x, "y": x, "n": 1}))
    assert len(re.findall(r"v?mulps", assembly(generate(program, X86(), {}).llvm))) >= 2


# What is refused

LOOP = "for b, t in cg.blocks(n, 64):\n"
SYNC = "cg.block.sync()"
REFUSED = {
    "outside of a parallel loop": ("cg.block.sync()", errors.CompileBlockError),
    "cg.warp.lane outside": ("y[0] = cg.warp.lane()", errors.CompileBlockError),
    "does not set its block size": ("for i in range(n):\n  cg.block.sync()", errors.CompileBlockError),
    "cg.warp.reduce_add in a loop that": (
        "for i in range(n):\n  y[i] = cg.warp.reduce_add(x[i])",
        errors.CompileBlockError,
    ),
    "cg.block.sync outside": (
        "cg.loop_config(serialize=True, block_dim=32)\nfor i in range(n):\n  cg.block.sync()",
        errors.CompileBlockError,
    ),
    "blocks of 2048 threads": ("for b, t in cg.blocks(n, 2048):\n  y[b] = 0", errors.CompileValueError),
    "blocks of 64 x 32": ("for b, i, j in cg.blocks(n, (64, 32)):\n  y[b] = 0", errors.CompileValueError),
    "known when compiling": ("for b, t in cg.blocks(4, n):\n  y[b] = 0", errors.CompileStaticError),
    "loop of its own": (
        "for i in range(n):\n  for b, t in cg.blocks(4, 32):\n    y[b] = 0",
        errors.CompileBlockError,
    ),
    "sets its block_dim": (
        "cg.loop_config(block_dim=32)\nfor b, t in cg.blocks(4, 32):\n  y[b] = 0",
        errors.CompileBlockError,
    ),
    "2 loop variables for 3": ("for b, t in cg.blocks((4, 4), 32):\n  y[b] = 0", errors.CompileLoopError),
    "numbers above 0": (
        LOOP + "  s = cg.block.shared_array(cg.f32, n)\n  s[t] = 0",
        errors.CompileStaticError,
    ),
    "elements of a shared array": (LOOP + "  s = cg.block.shared_array(3, 8)", errors.CompileTypeError),
    "227 KiB (232448) is the limit": (
        LOOP + "  s = cg.block.shared_array(cg.f64, 29057)\n  s[t] = 0",
        errors.CompileSharedMemoryError,
    ),
    "arrays of 200000, 40000": (
        LOOP
        + "  s = cg.block.shared_array(cg.f32, 50000)\n  r = cg.block.shared_array(cg.i32, 10000)\n  s[t] = r[t]",
        errors.CompileSharedMemoryError,
    ),
    "and 264 of reductions": (
        LOOP + "  s = cg.block.shared_array(cg.f32, 58112)\n  s[t] = cg.block.reduce_add(t)",
        errors.CompileSharedMemoryError,
    ),
    "index 64 is outside": (
        LOOP + "  s = cg.block.shared_array(cg.f32, 64)\n  s[64] = 0",
        errors.CompileIndexError,
    ),
    "cg.block.sync under an `if`": (LOOP + f"  if t < 3:\n    {SYNC}", errors.CompileBarrierError),
    "(line 3)": (LOOP + f"  if x[t] < 3:\n    {SYNC}", errors.CompileBarrierError),
    "cg.block.reduce_add under an `if`": (
        LOOP + "  if t < 3:\n    y[b] = cg.block.reduce_add(t)",
        errors.CompileBarrierError,
    ),
    "leave at different times": (LOOP + f"  for k in range(t):\n    {SYNC}", errors.CompileBarrierError),
    "cg.warp.shuffle in a loop that threads": (
        LOOP + "  for k in range(t):\n    y[t] = cg.warp.shuffle(x[t], 1)",
        errors.CompileBarrierError,
    ),
    "some threads would wait forever": (
        LOOP + f"  while x[t] > 0:\n    x[t] -= 1\n    {SYNC}",
        errors.CompileBarrierError,
    ),
    "different times (line 3)": (
        LOOP + f"  for k in range(n):\n    if x[t] > k:\n      break\n    {SYNC}",
        errors.CompileBarrierError,
    ),
    "in a loop under an `if`": (
        LOOP + "  if t < 3:\n    for k in range(n):\n      y[t] = cg.warp.any(t > k)",
        errors.CompileBarrierError,
    ),
    "do not reach cg.block.sync of line 5": (
        LOOP + f"  if t > 3:\n    continue\n  {SYNC}",
        errors.CompileBarrierError,
    ),
    "takes 1 values, got 2": (LOOP + "  y[t] = cg.warp.reduce_add(t, 1)", errors.CompileArgumentError),
    "does not take f32": (LOOP + "  y[t] = cg.warp.reduce_xor(x[t])", errors.CompileTypeError),
    "cannot be a f32": (LOOP + "  y[t] = cg.warp.any(x[t])", errors.CompileTypeError),
    "must be an integer": (LOOP + "  y[t] = cg.warp.shuffle(x[t], 1.5)", errors.CompileTypeError),
}


@pytest.mark.parametrize("message", REFUSED)
def test_misuse_is_refused_with_its_line_and_a_remedy(message):
    body, error = REFUSED[message]
    with pytest.raises(error) as caught:
        run(body, np.zeros(4, np.float32), np.zeros(4, np.float32))
    assert message in str(caught.value)
    assert "Remedy: " in str(caught.value)
    assert ", line " in str(caught.value)


def test_outside_of_kernels_the_functions_say_where_they_belong():
    for call in (cg.block.sync, cg.warp.lane, lambda: cg.blocks(1, 1), lambda: cg.warp.shuffle(1, 2)):
        with pytest.raises(RuntimeError, match=r"cg\.(block|warp|blocks)\S* has a meaning in kernels only"):
            call()


def test_control_flow_that_all_threads_take_together_is_seen():
    """Conditions on a parameter, an extent, the block, another reduction or a read-only array are uniform."""
    body = """
for b, t in cg.blocks(2, 32):
    s = cg.block.shared_array(cg.i32, 32)
    k = n
    if b > 0 and x[b] > 0:
        k = x[0]
    while k > 0:
        s[t] = k
        cg.block.sync()
        k -= x.shape[0]
        if k == 5:
            continue
        y[b * 32 + t] += s[31 - t]
        cg.block.sync()
"""
    found = run(body, np.array([15, 1, 3], np.int32), np.zeros(64, np.int32), 8)
    assert found.tolist() == [5 + 2] * 32 + [15 + 12 + 9 + 6 + 3] * 32


def test_blocks_that_write_shared_memory_first_see_nothing_of_other_blocks():
    """Two blocks that run one after the other do not see what the other has left, when both write before they read."""
    body = """
for b, t in cg.blocks(n, 32):
    s = cg.block.shared_array(cg.i32, 32)
    if b % 2 == 0:
        s[t] = b
    else:
        s[31 - t] = b * 100 + t
    cg.block.sync()
    y[b * 32 + t] = s[t]
"""
    found = run(body, np.zeros(1, np.int32), np.zeros(160, np.int32), 5).reshape(5, 32)
    wanted = [[b] * 32 if b % 2 == 0 else [b * 100 + 31 - t for t in range(32)] for b in range(5)]
    assert found.tolist() == wanted


@pytest.mark.parametrize(
    ("text", "is_full"), [("n * 64", True), ("64 * n * 3", True), ("n * 48", False), ("n", False)]
)
def test_shuffles_on_gpus_ask_for_active_lanes_only_where_the_last_block_may_have_others(text, is_full):
    body = f"cg.loop_config(block_dim=64)\nfor i in range({text}):\n  y[i] = cg.warp.shuffle_xor(x[i], 1)"
    x = numbers(64 * 3 * 2, np.int32)
    function, n = kernel(body), 2
    program, _ = lower(function, specialise(function, {"x": x, "y": x, "n": n}))
    assert (b"vote" in generate(program, ptx_target(), {}).code) is not is_full
    count = eval(text, {"n": n})
    found = run(body, x, np.zeros_like(x), n)
    expected = x.reshape(-1, 2)[:, ::-1].ravel().copy()
    expected[count:] = 0
    np.testing.assert_array_equal(found, expected)
