# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Which particles of two clouds meet? The device makes a list whose length is not known in advance.

Both clouds drift at the same time, as sections of one graph. Then a kernel with checkpoints lists the pairs that are
close. If the list is too small for them, the kernel yields: the host makes a larger list, and the kernel resumes.

    drift a --+
              +-> join        FIND pairs --(too many? yield)--> COUNT the meetings of each particle
    drift b --+                    ^______ resume ______|

    python examples/close_pairs.py [--driver cuda|host] [--particles n] [--room n] [--steps n]
"""

from __future__ import annotations

import argparse
import enum

import numpy as np

import cuda_graphs as cg

REACH = 0.02
Cloud = cg.Array2[cg.f32]
Numbers = cg.Array1[cg.i32]
Number = cg.Array0[cg.i32]


class Stage(enum.IntEnum):
    FIND = 1
    COUNT = 2


@cg.kernel(graph=True)
def drift(a: Cloud, b: Cloud, dx: cg.f32, dy: cg.f32) -> None:
    with cg.graph_parallel():
        with cg.graph_section():
            for i in range(a.shape[0]):
                a[i, 0] += dx
        with cg.graph_section():
            for i in range(b.shape[0]):
                b[i, 1] -= dy


@cg.kernel(graph=True, checkpoints=True)
def meet(a: Cloud, b: Cloud, pairs: cg.Array2[cg.i32], count: Number, full: Number, met: Numbers) -> None:
    with cg.checkpoint(Stage.FIND, yield_on=full):
        for _ in range(1):
            count[()] = 0
        for i, j in cg.ndrange(a.shape[0], b.shape[0]):
            if (a[i, 0] - b[j, 0]) ** 2 + (a[i, 1] - b[j, 1]) ** 2 < REACH**2:
                at = cg.atomic_add(count[()], 1)
                if at < pairs.shape[0]:
                    pairs[at, 0] = i
                    pairs[at, 1] = j
        for _ in range(1):
            full[()] = 1 if count[()] > pairs.shape[0] else 0
    with cg.checkpoint(Stage.COUNT):
        for k in range(count[()]):
            met[pairs[k, 0]] += 1


def meetings(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the number of particles of b that are close to each particle of a, computed by NumPy."""
    x = a[:, None, 0] - b[None, :, 0]
    y = a[:, None, 1] - b[None, :, 1]
    return np.asarray(np.sum(x * x + y * y < np.float32(REACH**2), axis=1))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--driver", choices=["auto", "cuda", "host"], default="auto")
    parser.add_argument("--particles", type=int, default=400)
    parser.add_argument("--room", type=int, default=16)
    parser.add_argument("--steps", type=int, default=5)
    options = parser.parse_args()
    cg.use_driver(options.driver)
    cg.Device().set_current()

    random = np.random.default_rng(3)
    clouds = [random.uniform(0, 1, (options.particles, 2)).astype(np.float32) for _ in range(2)]
    a, b = cg.ndarray(cg.f32, clouds[0].shape), cg.ndarray(cg.f32, clouds[1].shape)
    a.from_numpy(clouds[0])
    b.from_numpy(clouds[1])
    met, wanted = cg.ndarray(cg.i32, options.particles), np.zeros(options.particles, np.int32)
    met.fill(0)
    count, full = cg.ndarray(cg.i32, ()), cg.ndarray(cg.i32, ())
    pairs = cg.ndarray(cg.i32, (options.room, 2))

    for step in range(options.steps):
        drift(a, b, 0.01, 0.02)
        status = meet(a, b, pairs, count, full, met)
        while status.yielded:
            said = f"{count[()]} pairs, room for {pairs.shape[0]}"
            print(f"step {step}: {said}: a larger list, and on at {Stage(status.label).name}")
            pairs = cg.ndarray(cg.i32, (2 * count[()], 2))
            status = meet.resume(a, b, pairs, count, full, met, from_checkpoint=status.label)
        wanted += meetings(a.to_numpy(), b.to_numpy()).astype(np.int32)

    verdict = "agrees" if np.array_equal(met.to_numpy(), wanted) else "differs"
    found, builds = met.to_numpy().sum(), meet.graph_stats.builds
    print(f"{found} meetings in {options.steps} steps, {builds} graph; NumPy {verdict}")


if __name__ == "__main__":
    main()
