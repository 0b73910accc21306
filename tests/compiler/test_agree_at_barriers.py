# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of kernels whose threads promise to agree around barriers: what the compiler cannot know to be the same in all
threads is decided together, and kernels without the promise are refused."""

import numpy as np
import pytest

from cuda_graphs.compiler import errors
from cuda_graphs.compiler.language.number_rules import NumberRules
from tests.compiler.rig import function_of, run_all, targets_here

PROMISED = {"rules": NumberRules(agrees=True)}
WARPS = {**PROMISED, "has_warps": True}
SIZES = (16, 32, 96)
N = 3  # blocks
ON_GPUS = [each for each in targets_here() if each in ("ptx", "gpu")]


def kernel(body, size):
    """A loop of blocks of `size` threads: thread t of block b, with the shared array s, and y as a copy of x."""
    head = f"""def k(x: ndarray(), y: ndarray()):
    cg.loop_config(block_dim={size})
    for i in range({N * size}):
        b, t = i // {size}, i % {size}
        s = cg.block.shared_array(cg.i32, {size})
        y[i] = x[i]
        cg.block.sync()
"""
    return function_of(head + "\n".join(f"        {line}" for line in body.strip("\n").splitlines()) + "\n")


def run(body, x, size, lowering=PROMISED, **options):
    return run_all(kernel(body, size), x=x, y=np.zeros_like(x), lowering=lowering, **options)["y"]


# y[b * size] is the same in all threads of a block, but the loop writes y: so the compiler cannot know that.
BRANCH = """
first = y[b * {0}]
cg.block.sync()
if first > 0:
    s[t] = y[i]
    cg.block.sync()
    y[i] = s[{0} - 1 - t]
else:
    y[i] = -1
"""
LOOPS = """
count = y[b * {0}]
cg.block.sync()
for k in range(count):
    s[t] = y[i]
    cg.block.sync()
    y[i] = s[(t + 1) % {0}]
    cg.block.sync()
k = 0
while k < count:
    s[t] = y[i]
    cg.block.sync()
    y[i] = s[(t + 1) % {0}]
    cg.block.sync()
    if k + 2 > count:
        break
    k += 1
"""


def values(size):
    x = np.random.default_rng(size).integers(0, 100, N * size).astype(np.int32)
    x[::size] = [0, 3, 2]
    return x


@pytest.mark.parametrize("size", SIZES)
def test_threads_agree_on_branches_around_barriers(size):
    x = values(size)
    rows = x.reshape(N, size)
    expected = np.where(rows[:, :1] > 0, rows[:, ::-1], -1)
    np.testing.assert_array_equal(run(BRANCH.format(size), x, size), expected.ravel())


@pytest.mark.parametrize("size", SIZES)
def test_threads_agree_on_loops_around_barriers_and_on_their_exits(size):
    x = values(size)
    # The while loop makes one turn for a count of 1 or more, then `count - 1` more ones.
    turns = [2 * count for count in x[::size]]
    expected = [np.roll(row, -turn) for row, turn in zip(x.reshape(N, size), turns, strict=True)]
    np.testing.assert_array_equal(run(LOOPS.format(size), x, size), np.ravel(expected))


@pytest.mark.parametrize("body", [BRANCH, LOOPS], ids=["branch", "loops"])
def test_without_the_promise_such_kernels_are_refused(body):
    with pytest.raises(errors.CompileBarrierError):
        run(body.format(32), values(32), 32, lowering={})


def test_threads_that_disagree_all_take_the_branch_of_one_so_none_waits_for_ever():
    body = "mine = y[i] % 2\nif mine > 0:\n    s[t] = i\n    cg.block.sync()\n    y[i] = s[31 - t]"
    x = np.zeros(N * 32, np.int32)
    x[40] = 1  # one thread of the second block
    expected = x.copy()
    expected[32:64] = np.arange(63, 31, -1)
    machines = [each for each in targets_here() if each != "interpreter"]  # which runs the source
    np.testing.assert_array_equal(run(body, x, 32, targets=machines), expected)


OF_WARPS = """
count = y[i - i % 32]
cg.warp.sync()
for k in range(count):
    y[i] = cg.warp.shuffle(y[i], (t + 1) % 32) + k
if count > 1:
    left = count
    while left > 0:
        y[i] += cg.warp.reduce_add(1)
        left -= 1
"""


def test_lanes_of_each_warp_agree_where_warps_go_different_ways():
    x = values(32)
    expected = []
    for row, count in zip(x.reshape(N, 32), x[::32], strict=True):
        for k in range(count):
            row = np.roll(row, -1) + k
        expected.append(row + (32 * count if count > 1 else 0))
    found = run(OF_WARPS, np.tile(x, 3), 96, WARPS, targets=ON_GPUS)
    np.testing.assert_array_equal(found, np.tile(np.ravel(expected), 3))


def test_machines_that_run_one_thread_after_the_other_refuse_warps_that_go_different_ways():
    with pytest.raises(errors.CompileBarrierError, match="loop that threads of a block may leave"):
        run(OF_WARPS, np.tile(values(32), 3), 96)


def test_warp_operations_in_a_branch_without_loops_still_apply_to_its_lanes_only():
    body = "if y[i] % 2 == 1:\n    y[i] = cg.warp.reduce_add(1)"
    x = values(32)
    odd = x % 2 == 1
    counts = odd.reshape(N, 32).sum(1).repeat(32)
    np.testing.assert_array_equal(run(body, x, 32), np.where(odd, counts, x))
