# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`cg.interop.torch`: kernels that `torch.autograd` differentiates."""

import pytest

import cuda_graphs as cg

torch = pytest.importorskip("torch")

f64, i32 = cg.f64, cg.i32
ndarray = cg.types.ndarray


@pytest.fixture(scope="session", params=["cpu", pytest.param("cuda", marks=pytest.mark.cuda)])
def place(request):
    """Where tensors are. PyTorch goes back on a thread of its own, on which a device has its pool from then on."""
    x = torch.ones(3, dtype=torch.float64, device=request.param, requires_grad=True)
    orbits(x, x[0], 1).sum().backward()
    return request.param


@pytest.fixture
def tensor(place):
    """Makes tensors that want a gradient."""
    return lambda values: torch.tensor(values, dtype=torch.float64, device=place, requires_grad=True)


@cg.kernel
def orbit(x: ndarray(f64, 1), c: ndarray(f64, 0), n: i32, y: ndarray(f64, 1)):
    for i in x:
        v = x[i]
        for _ in range(n):
            v = cg.sin(v) + c[()]
        y[i] = v


@cg.kernel
def split(x: ndarray(f64, 1), total: ndarray(f64, 0), parts: ndarray(f64, 1), signs: ndarray(i32, 1)):
    for i in x:
        total[()] += x[i] * x[i]
        parts[i] = cg.exp(x[i])
        signs[i] = 1 if x[i] > 0 else -1


orbits = cg.interop.torch(orbit, out={"y": "x"})
splits = cg.interop.torch(
    split,
    out={
        "total": lambda x: x.new_zeros(()),
        "parts": "x",
        "signs": lambda x: torch.zeros(x.shape, dtype=torch.int32, device=x.device),
    },
)


def orbit_of(x, c, n):
    for _ in range(n):
        x = torch.sin(x) + c
    return x


def test_gradients_are_those_of_the_same_written_in_pytorch(tensor):
    x, c = tensor([0.3, 0.7, 1.1]), tensor(0.1)
    found = torch.autograd.grad((orbits(x, c, 5) ** 2).sum(), (x, c))
    wanted = torch.autograd.grad((orbit_of(x, c, 5) ** 2).sum(), (x, c))
    torch.testing.assert_close(orbits(x, n=5, c=c), orbit_of(x, c, 5))
    torch.testing.assert_close(found, wanted)


def test_pytorch_finds_gradients_right(tensor):
    x, c = tensor([0.3, 0.7, 1.1]), tensor(0.1)
    assert torch.autograd.gradcheck(lambda x, c: orbits(x, c, 3), (x, c))
    assert torch.autograd.gradcheck(lambda x: splits(x)[:2], (x,))


def test_several_outputs_and_outputs_of_integers(tensor):
    x = tensor([0.3, -0.7])
    total, parts, signs = splits(x)
    assert signs.tolist() == [1, -1]
    assert not signs.requires_grad
    (3 * total + parts.sum()).backward()
    torch.testing.assert_close(x.grad, (6 * x + x.exp()).detach())


def test_tensor_that_wants_no_gradient_gets_none(tensor):
    x, c = tensor([0.3, 0.7]), tensor(0.1).detach()
    orbits(x, c, 2).sum().backward()
    assert x.grad is not None
    assert c.grad is None
    assert not orbits(x.detach(), c, 2).requires_grad
    with torch.no_grad():
        assert not orbits(x, c, 2).requires_grad


def test_function_is_a_layer_among_others(tensor):
    x, c = tensor([[0.3, 0.7], [0.2, 0.9]]), tensor(0.1)
    columns = (2 * x)[:, 0]  # made by an operation, with gaps
    loss = torch.relu(orbits(columns, c, 4) - 0.2).sum()
    wanted = torch.relu(orbit_of((2 * x)[:, 0], c, 4) - 0.2).sum()
    torch.testing.assert_close(torch.autograd.grad(loss, (x, c)), torch.autograd.grad(wanted, (x, c)))


def test_an_optimiser_learns_with_it(tensor):
    x, c = tensor([0.1, 0.4, 0.8]).detach(), tensor(0.0)
    seen = orbit_of(x, torch.tensor(0.3, dtype=torch.float64, device=x.device), 3)
    optimiser = torch.optim.Adam([c], lr=0.05)
    for _ in range(150):
        optimiser.zero_grad()
        ((orbits(x, c, 3) - seen) ** 2).sum().backward()
        optimiser.step()
    assert c.item() == pytest.approx(0.3, abs=1e-3)


def test_inputs_that_were_changed_before_the_way_back_are_pytorchs_error(tensor):
    x, c = tensor([0.3, 0.7]), tensor(0.1)
    doubled = 2 * x
    y = orbits(doubled, c, 2)
    doubled.mul_(3)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_tape_passes_over_what_is_the_business_of_pytorch(tensor):
    x, c, y = tensor([0.3, 0.7]), tensor(0.1), cg.ndarray(f64, (), needs_grad=True)
    with cg.ad.Tape(loss=y):
        orbits(x, c, 2).sum().backward()
    torch.testing.assert_close(x.grad, torch.autograd.grad(orbit_of(x, c, 2).sum(), x)[0])


def test_matrices_transposed_and_the_same_twice(tensor):
    @cg.kernel
    def product(a: ndarray(f64, 2), b: ndarray(f64, 2), c: ndarray(f64, 2)):
        for i, j in c:
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]

    function = cg.interop.torch(product, out={"c": lambda a, b: a.new_zeros(a.shape[0], b.shape[1])})
    a, b = tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), tensor([[0.5, -1.0], [2.0, 1.5], [-0.5, 3.0]])
    torch.testing.assert_close(function(a.t(), b), a.t() @ b)
    assert torch.autograd.gradcheck(lambda a, b: function(a.t(), b), (a, b))
    assert torch.autograd.gradcheck(lambda b: function(b[:2], b[:2]), (b,))
    empty = tensor([[0.0, 0.0]])[:0]
    assert function(empty, b[:2]).shape == (0, 2)


def test_there_are_no_second_derivatives(tensor):
    x, c = tensor([0.3, 0.7]), tensor(0.1)
    (first,) = torch.autograd.grad((orbits(x, c, 2) ** 2).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()


def test_kernels_that_write_their_inputs_are_refused_where_gradients_are_wanted(tensor):
    @cg.kernel
    def both(x: ndarray(f64, 1), y: ndarray(f64, 1)):
        for i in x:
            y[i] = 2.0 * x[i]
        for i in x:
            x[i] = 0.0

    function = cg.interop.torch(both, out={"y": "x"})
    with pytest.raises(ValueError, match=r"both\(\) writes 'x', which is not an output"):
        function(tensor([1.0, 2.0]))


def test_kernel_without_a_gradient_is_refused_in_the_call(tensor):
    @cg.kernel
    def greatest(x: ndarray(f64, 1), y: ndarray(f64, 0)):
        for i in x:
            cg.atomic_max(y[()], x[i])

    function = cg.interop.torch(greatest, out={"y": lambda x: x.new_zeros(())})
    assert function(tensor([1.0, 2.0]).detach()).item() == 2
    with pytest.raises(cg.CompileGradientError, match="atomic max has no derivative"):
        function(tensor([1.0, 2.0]))


@pytest.mark.parametrize(
    ("kernel", "out", "kind", "words"),
    [
        (lambda x: x, {"y": "x"}, TypeError, r"takes a cg\.kernel"),
        (orbit, "y", TypeError, 'as in out={"y": "x"}'),
        (orbit, {}, ValueError, "needs an output"),
        (orbit, {"z": "x"}, ValueError, "has no parameter 'z'"),
        (orbit, {"y": "z"}, ValueError, "'z', which is not an input"),
        (orbit, {"y": 3}, TypeError, "got 3"),
    ],
)
def test_outputs_are_parameters_of_a_kernel(kernel, out, kind, words):
    with pytest.raises(kind, match=words):
        cg.interop.torch(kernel, out=out)


def test_calls_take_what_is_no_output(tensor):
    x, c = tensor([0.3]), tensor(0.1)
    for args, keywords in (((x, c), {}), ((x, c, 1, x), {}), ((x, c), {"m": 1}), ((x, c, 1), {"n": 1})):
        with pytest.raises(TypeError, match=r"orbit\(\) takes x, c, n and returns y"):
            orbits(*args, **keywords)
    with pytest.raises(TypeError, match="like 'n', which is not a tensor"):
        cg.interop.torch(orbit, out={"y": "n"})(x, c, 2)
    with pytest.raises(TypeError, match="its function returned None"):
        cg.interop.torch(orbit, out={"y": lambda x, c, n: None})(x, c, 2)
    assert repr(orbits) == "<orbit(x, c, n) -> y for torch.autograd>"
