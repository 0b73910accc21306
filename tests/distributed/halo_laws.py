# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of halos, which laws.py runs on all ranks. NumPy pads and cuts the whole array for the expected blocks."""

import numpy as np

import cuda_graphs as cg
from tests.distributed.kernel_laws import in_a_body, in_a_call, in_a_capture, in_a_definition
from tests.distributed.law_rig import launch, law, raised


def blocks_of(comm, halo_axes, grid, shape, width, periodic):
    """Return the block of this rank with its ghost layers, before and after the exchange, by NumPy."""
    ranks = [grid[halo_axes.index(i)] if i in halo_axes else 1 for i in range(len(shape))]
    whole = np.random.default_rng(3).random([n * count for n, count in zip(shape, ranks, strict=True)])
    pads = [(width, width) if i in halo_axes else (0, 0) for i in range(len(shape))]
    padded = np.pad(whole, pads, mode="wrap" if periodic else "constant")
    position = np.unravel_index(comm.rank, grid)
    place = [position[halo_axes.index(i)] if i in halo_axes else 0 for i in range(len(shape))]
    block = zip(place, shape, pads, strict=True)
    after = padded[tuple(slice(p * n, p * n + n + sum(pad)) for p, n, pad in block)].copy()
    own = tuple(slice(width, -width) if i in halo_axes else slice(None) for i in range(len(shape)))
    before = np.zeros_like(after)
    before[own] = after[own]
    return before, after


def halo_cases(comm):
    """Yield (axes, grid, shape of a block, width, periodic)."""
    for periodic in (False, True):
        yield (0,), (comm.size,), (4, 3), 1, periodic
        yield (1,), (comm.size,), (3, 4, 2), 2, periodic
        yield (0, 1), (1, comm.size), (3, 4), 1, periodic
        if comm.size == 4:
            yield (0, 1), (2, 2), (3, 4), 1, periodic
            yield (0, 2), (2, 2), (3, 2, 4), 1, periodic


@law
def a_halo_holds_the_layers_of_the_neighbours(comm):
    for axes, grid, shape, width, periodic in halo_cases(comm):
        if periodic:
            shape = tuple(max(n, width) for n in shape)
        before, after = blocks_of(comm, axes, grid, shape, width, periodic)
        ways = ("at once", "definition", "body") + ("capture",) * (
            comm.size > 1 or periodic
        )  # the others have no work
        for way in ways:
            x = cg.array(before)
            halo = comm.halo(x, width, axes, grid, periodic)
            if way == "at once":
                halo()
            elif way == "capture":
                with cg.capture() as builder:
                    halo()
                launch(builder.complete())
            else:
                g = cg.GraphDef()
                place = g if way == "definition" else g.if_then(cg.array([1], cg.i32)).then
                place.call(halo)
                assert g.check().findings == ()
                launch(g.instantiate())
            np.testing.assert_array_equal(x.to_numpy(), after, err_msg=f"{way} {axes} {grid} {periodic}")


@cg.kernel
def average(
    u: cg.types.ndarray(cg.f64, ndim=2),
    v: cg.types.ndarray(cg.f64, ndim=2),
    i0: cg.i64,
    i1: cg.i64,
    j0: cg.i64,
    j1: cg.i64,
):
    for i, j in cg.ndrange((i0, i1), (j0, j1)):
        v[i, j] = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]


@law
def overlapped_work_sees_the_layers_of_the_neighbours(comm):
    for grid, shape in (((comm.size, 1), (5, 4)), ((1, comm.size), (1, 2)), ((1, comm.size), (3, 1))):
        before, after = blocks_of(comm, (0, 1), grid, shape, 1, False)
        x, y = cg.array(before), cg.zeros(before.shape, cg.f64)
        halo = comm.halo(x, axes=(0, 1), grid=grid)
        covered = np.zeros(before.shape, int)
        for box in (halo.inner, *halo.borders):
            covered[tuple(slice(*each) if each[0] < each[1] else slice(0) for each in box)] += 1
        np.testing.assert_array_equal(covered[1:-1, 1:-1], 1)
        g = cg.GraphDef()
        g.call(halo.overlap, average, x, y)
        launch(g.instantiate())
        expected = after[:-2, 1:-1] + after[2:, 1:-1] + after[1:-1, :-2] + after[1:-1, 2:]
        np.testing.assert_array_equal(y.to_numpy()[1:-1, 1:-1], expected)


@cg.kernel
def add_neighbours(
    u: cg.types.ndarray(cg.f64, ndim=2),
    v: cg.types.ndarray(cg.f64, ndim=2),
    i0: cg.i64,
    i1: cg.i64,
    j0: cg.i64,
    j1: cg.i64,
):
    for i, j in cg.ndrange((i0, i1), (j0, j1)):
        v[i, j] += u[i - 1, j] + u[i + 1, j]


@law
def check_finds_no_conflict_between_the_boxes_of_overlapped_work(comm):
    for axes, grid, shape, width, periodic in halo_cases(comm):
        if len(shape) != 2:
            continue
        x, y = (
            cg.zeros([n + 2 * width * (i in axes) for i, n in enumerate(shape)], cg.f64) for _ in range(2)
        )
        halo = comm.halo(x, width, axes, grid, periodic)
        for kernel in (average, add_neighbours):  # the second also reads what it writes
            g = cg.GraphDef()
            g.if_then(cg.array([1], cg.i32)).then.call(halo.overlap, kernel, x, y)
            assert g.check().findings == ()


@law
def check_still_finds_work_beside_an_overlap(comm):
    x, y = (cg.zeros((6, 6), cg.f64) for _ in range(2))
    halo = comm.halo(x, 1, (0,), periodic=True)
    g = cg.GraphDef()
    g.call(halo.overlap, average, x, y)
    g.memset(y, 0.0)  # beside all of it
    assert {each.kind for each in g.check().findings} == {"unordered"}
    g = cg.GraphDef()
    g.call(halo.overlap, average, x, y)
    g.call(halo)  # beside the boxes that read the ghost layers
    assert "unordered" in {each.kind for each in g.check().findings}


@law
def wrong_halos_are_refused(comm):
    x = cg.zeros((4, 5), cg.f64)
    for kind, args, words in (
        (TypeError, (np.zeros(4),), "must be an NDArray"),
        (ValueError, (x, 0), "width must be 1"),
        (ValueError, (x, 1, (2,)), "axes must be"),
        (ValueError, (x, 1, ()), "axes must be"),
        (ValueError, (x, 1, (0, 0)), "axes must be"),
        (ValueError, (x, 1, (0,), (comm.size + 1,)), "number of ranks"),
        (ValueError, (x, 2), "at least 6"),
    ):
        assert words in raised(kind, comm.halo, *args)
    halo = comm.halo(x)
    assert "no arguments" in raised(TypeError, cg.GraphDef().call, halo, x)
    assert "a kernel and its arguments" in raised(TypeError, cg.GraphDef().call, halo.overlap)


@cg.kernel(graph=True)
def smooth(u: cg.Array2[cg.f64], v: cg.Array2[cg.f64], left: cg.Array1[cg.i32], halo: cg.distributed.Halo):
    while cg.graph_while(left[0] > 0):
        halo.exchange(u)
        for i, j in cg.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
            v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
        for i, j in cg.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
            u[i, j] = v[i, j]
        left[0] -= 1


def smoothed(whole, passes):
    """Return the whole array, periodic on axis 0 and with zeros around axis 1, after some passes."""
    for _ in range(passes):
        padded = np.pad(np.pad(whole, ((1, 1), (0, 0)), mode="wrap"), ((0, 0), (1, 1)))
        whole = 0.25 * (padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:])
    return whole


@law
def a_graph_kernel_exchanges_a_halo_in_every_pass(comm):
    passes, rows = 5, 4
    whole = np.random.default_rng(4).random((rows * comm.size, 6))
    mine = slice(rows * comm.rank, rows * (comm.rank + 1))
    for way in WAYS:
        kernel = cg.kernel(graph=True, loop="host" if way == "host" else "auto")(smooth.__wrapped__)
        u, v = cg.array(np.pad(whole[mine], 1)), cg.zeros((rows + 2, 8), cg.f64)
        left, halo = cg.array([passes], cg.i32), comm.halo(u, axes=(0,), periodic=True)
        WAYS[way](kernel, u, v, left, halo)
        np.testing.assert_allclose(u.to_numpy()[1:-1, 1:-1], smoothed(whole, passes)[mine], atol=1e-15)
        kernel.forget()


WAYS = {
    "call": in_a_call,
    "host": in_a_call,
    "definition": in_a_definition,
    "capture": in_a_capture,
    "body": in_a_body,
}


@law
def the_exchange_of_another_array_is_refused_and_changes_nothing(comm):
    u, other, left = cg.ones((6, 6), cg.f64), cg.ones((6, 6), cg.f64), cg.array([1], cg.i32)
    halo = comm.halo(other, axes=(0,))
    assert "is not the array of <Halo" in raised(ValueError, smooth, u, cg.zeros((6, 6), cg.f64), left, halo)
    assert left[0] == 1
    smooth.forget()
