# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws: gradients of stencils, as users call them, are those without fusion, whose iterations add atomically; calls
repeat their bits; and `explain` says which loops are gathered, and why others are not."""

import numpy as np
import pytest

import cuda_graphs as cg

f32, f64, i32 = cg.f32, cg.f64, cg.i32
planes = cg.types.ndarray(f32, 2)
states = cg.types.ndarray(cg.vec2, 3)
N, STEPS = 300, 3  # elements for several threads, in rows of tiles and a rest


def flow(x, v, t):
    """One step of a nonlinear flow between neighbours; rows and columns at the ends have fewer of them."""
    for i, j in cg.ndrange(x.shape[1], x.shape[2]):
        here = x[t, i, j]
        force = cg.vec2(0.0)
        if i > 0:
            force += (x[t, i - 1, j] - here) * 0.2
        if i < x.shape[1] - 1:
            force += (x[t, i + 1, j] - here) * here.x
        if j > 0:
            force += (x[t, i, j - 1] - here) * 0.1
        if j < x.shape[2] - 1:
            force += x[t, i, j + 1] * here * 0.3
        speed = v[t, i, j] * 0.9 + force
        v[t + 1, i, j] = speed
        x[t + 1, i, j] = here + speed * 0.1


flow.__annotations__ = {"x": states, "v": states, "t": i32}
gathered, apart = cg.kernel(flow), cg.kernel(fuse=False)(flow)


@cg.kernel
def size(x: states, loss: cg.types.ndarray(f32, 0), t: i32):
    for i, j in cg.ndrange(x.shape[1], x.shape[2]):
        loss[()] += 0.5 * x[t, i, j].dot(x[t, i, j])


@cg.kernel(graph=True)
def sweeps(x: planes, y: planes, count: cg.types.ndarray(i32, 0)):
    while cg.graph_while(count[()] > 0, max_iterations=5):
        count[()] -= 1
        for i, j in cg.ndrange((1, x.shape[0] - 1), (1, x.shape[1] - 1)):
            y[i, j] = x[i - 1, j] * 0.3 + x[i + 1, j] * 0.2 + x[i, j - 1] * x[i, j + 1]
        for i, j in x:
            x[i, j] = y[i, j]


def arrays():
    rng = np.random.default_rng(2)
    made = tuple(cg.ndarray(cg.vec2, (STEPS + 1, N, N), needs_grad=True) for _ in range(2))
    for array in made:
        array.from_numpy(0.3 * rng.standard_normal((STEPS + 1, N, N, 2)).astype("f4"))
    return made


def steps_of(kernel, x, v, loss):
    for t in range(STEPS):
        kernel(x, v, t)
    size(x, loss, STEPS)


def gradient_of(kernel):
    (x, v), loss = arrays(), cg.ndarray(f32, (), needs_grad=True)
    with cg.ad.Tape(loss=loss):
        steps_of(kernel, x, v, loss)
    return x.grad.to_numpy(), v.grad.to_numpy()


def test_gradients_of_steps_are_those_of_scattered_additions():
    for found, wanted in zip(gradient_of(gathered), gradient_of(apart), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
        assert np.abs(wanted[0]).max() > 0.01


def test_gathered_gradients_repeat_their_bits():
    first = gradient_of(gathered)
    for _ in range(3):
        for found, wanted in zip(gradient_of(gathered), first, strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_captured_tapes_gather(stream):
    (x, v), loss = arrays(), cg.ndarray(f32, (), needs_grad=True)
    with cg.capture() as builder, cg.ad.Tape(loss=loss):
        steps_of(gathered, x, v, loss)
    graph = builder.complete()
    for _ in range(2):
        graph.launch(stream)
        stream.sync()
        for found, wanted in zip((x, v), gradient_of(gathered), strict=True):
            np.testing.assert_array_equal(found.grad.to_numpy(), wanted)


def test_bodies_of_graph_loops_gather():
    rng, size = np.random.default_rng(3), (40, 70)
    x, y = (cg.ndarray(f32, size, needs_grad=True) for _ in range(2))
    count, loss = cg.ndarray(i32, ()), cg.ndarray(f32, (), needs_grad=True)
    start, weight = (0.5 * rng.standard_normal(size).astype("f4") for _ in range(2))

    @cg.kernel
    def measure(x: planes, weight: planes, loss: cg.types.ndarray(f32, 0)):
        for i, j in x:
            loss[()] += x[i, j] * weight[i, j]

    x.from_numpy(start)
    y.fill(0)
    count.fill(3)
    weights = cg.ndarray(f32, size)
    weights.from_numpy(weight)
    with cg.ad.Tape(loss=loss):
        sweeps(x, y, count)
        measure(x, weights, loss)
    values, wanted = [start.astype("f8")], weight.astype("f8")
    for _ in range(3):
        old, new = values[-1], np.zeros(size)
        new[1:-1, 1:-1] = old[:-2, 1:-1] * 0.3 + old[2:, 1:-1] * 0.2 + old[1:-1, :-2] * old[1:-1, 2:]
        values.append(new)
    for old in reversed(values[:-1]):
        inner, wanted = wanted[1:-1, 1:-1], np.zeros(size)
        wanted[:-2, 1:-1] += inner * 0.3
        wanted[2:, 1:-1] += inner * 0.2
        wanted[1:-1, :-2] += inner * old[1:-1, 2:]
        wanted[1:-1, 2:] += inner * old[1:-1, :-2]
    np.testing.assert_allclose(x.grad.to_numpy(), wanted, rtol=1e-4, atol=1e-5)


@cg.kernel
def two(x: planes, y: planes, at: cg.types.ndarray(i32, 1)):
    for i, j in cg.ndrange((1, x.shape[0] - 1), x.shape[1]):
        y[i, j] = x[i - 1, j] + x[i + 1, j]
    for i, j in x:
        y[i, j] += x[at[i], j]


def test_explanation_says_which_loops_are_gathered_and_why_others_are_not():
    x, y = (cg.ndarray(f32, (8, 8), needs_grad=True) for _ in range(2))
    at = cg.ndarray(i32, 8)
    found = two.grad.explain(x, y, at)
    assert [each.is_gathered for each in found.gathers] == [True, False]
    first, second = found.gathers
    assert (first.why, str(first)) == ("", f"{first.source}: gathered")
    assert "'x.grad' are not all at fixed distances" in second.why
    assert str(second) == f"{second.source}: not gathered: {second.why}"
    lines = [int(each.source.rpartition(":")[2]) for each in found.gathers]
    assert lines[1] - lines[0] == 2
    assert "additions to neighbours:" in str(found)
    assert "not all at fixed distances" in found._repr_html_()
    assert two.explain(x, y, at).gathers == ()
    assert "additions to neighbours" not in str(two.explain(x, y, at))


def test_fuse_false_gathers_nothing():
    x, v = arrays()
    assert [each.is_gathered for each in gathered.grad.explain(x, v, 0).gathers] == [True]
    assert apart.grad.explain(x, v, 0).gathers == ()


def test_code_on_disk_knows_what_is_gathered(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_GRAPHS_CACHE_DIR", str(tmp_path))
    x, v = arrays()
    found = []
    for _ in range(2):
        cg.reset()
        found.append(gathered.grad.explain(x, v, 0).gathers)
    assert found[0] == found[1] != ()


@pytest.mark.parametrize("calls", [1, 4])
def test_direct_calls_of_a_gradient_add_to_the_gradients(calls):
    x, y = (cg.ndarray(f32, (9, 70), needs_grad=True) for _ in range(2))

    @cg.kernel
    def spread(x: planes, y: planes):
        for i, j in cg.ndrange((1, x.shape[0] - 1), x.shape[1]):
            y[i, j] += x[i - 1, j] * 2.0 + x[i + 1, j]

    x.fill(1)
    y.grad.fill(1)
    for _ in range(calls):
        spread.grad(x, y)
    wanted = np.zeros((9, 70), "f4")
    wanted[:-2] += 2 * calls
    wanted[2:] += calls
    np.testing.assert_array_equal(x.grad.to_numpy(), wanted)
    np.testing.assert_array_equal(y.grad.to_numpy(), np.ones((9, 70), "f4"))


class Tensor:
    """An array whose gradient is any other array, as in PyTorch."""

    requires_grad = is_leaf = True

    def __init__(self, values, grad):
        self.values, self.grad = values, grad
        self.__cuda_array_interface__ = values.__cuda_array_interface__
        self.shape, self.dtype = values.shape, values.dtype

    def detach(self):
        return self.values


def test_gradient_of_an_array_that_is_written_is_that_of_no_other_array():
    """The sums of neighbours read it, and the gradient clears it."""
    lines = cg.types.ndarray(f32, 1)

    @cg.kernel
    def spread(x: lines, w: lines, y: lines):
        for i in range(1, x.shape[0] - 1):
            y[i] = x[i - 1] + x[i + 1] + 2.0 * w[i]

    x, w, y, g, h, whole = (cg.zeros(16, f32) for _ in range(6))
    spread.grad(Tensor(x, g), Tensor(w, h), Tensor(y, whole))
    spread.grad(Tensor(x, g), Tensor(w, g), Tensor(y, whole))
    with pytest.raises(ValueError, match="'y', which the kernel writes, and of 'w' share memory"):
        spread.grad(Tensor(x, g), Tensor(w, whole), Tensor(y, whole))
