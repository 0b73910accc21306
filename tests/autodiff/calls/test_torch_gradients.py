# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the gradient of a tensor of PyTorch is in the tensor's `grad`."""

import numpy as np
import pytest

import cuda_graphs as cg
from tests.autodiff.calls.gradient_kernels import START, sines, squares

torch = pytest.importorskip("torch")

f64 = cg.f64
ndarray = cg.types.ndarray


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.cuda)])
def tensor(request):
    """Makes tensors that want a gradient."""
    return lambda values: torch.tensor(values, dtype=torch.float64, device=request.param, requires_grad=True)


def numbers(tensor):
    return tensor.detach().cpu().numpy()


def test_tensors_that_want_a_gradient_are_arguments_as_others_are(tensor):
    x, y = tensor(START), tensor(0.0)
    squares(x, y)
    assert y.item() == pytest.approx(np.sum(np.square(START)))
    assert x.grad is None


def test_gradients_are_added_to_those_of_tensors(tensor):
    x, y = tensor(START), tensor(0.0)
    squares(x, y)
    y.grad = torch.ones_like(y)
    squares.grad(x, y)
    first = x.grad
    np.testing.assert_allclose(numbers(first), 2 * np.array(START))
    squares.grad(x, y)
    assert x.grad is first
    np.testing.assert_allclose(numbers(first), 4 * np.array(START))
    assert y.grad.item() == 1


def test_a_tape_goes_through_tensors_and_arrays_of_ours(tensor):
    x, y = tensor(START), tensor(0.0)
    z = cg.ndarray(f64, 3, needs_grad=True)
    x.grad = torch.full_like(x, 7.0)
    for _ in range(2):
        with cg.ad.Tape(loss=y):
            sines(x, z)
            squares(z, y)
        np.testing.assert_allclose(numbers(x.grad), np.sin(2 * np.array(START)))
        assert y.item() == pytest.approx(np.sum(np.sin(START) ** 2))


def test_a_tensor_twice_has_one_gradient(tensor):
    @cg.kernel
    def product(a: ndarray(f64, 1), b: ndarray(f64, 1), y: ndarray(f64, 0)):
        for i in a:
            y[()] += a[i] * b[i]

    x, y = tensor(START), tensor(0.0)
    with cg.ad.Tape(loss=y):
        product(x, x, y)
    np.testing.assert_allclose(numbers(x.grad), 2 * np.array(START))


def test_parameters_without_gradients_and_tensors_that_want_none_get_none(tensor):
    @cg.kernel
    def product(
        a: ndarray(f64, 1), b: ndarray(f64, 1, needs_grad=False), c: ndarray(f64, 1), y: ndarray(f64, 0)
    ):
        for i in a:
            y[()] += a[i] * b[i] * c[i]

    a, b, y = tensor(START), tensor([1.0, 2.0, 3.0]), tensor(0.0)
    c = tensor([4.0, 5.0, 6.0]).detach()
    with cg.ad.Tape(loss=y):
        product(a, b, c, y)
    np.testing.assert_allclose(numbers(a.grad), [4, 10, 18])
    assert b.grad is None
    assert c.grad is None


def test_vectors_and_f32(tensor):
    @cg.kernel
    def lengths(x: ndarray(cg.vec3, 1), y: ndarray(cg.f32, 0)):
        for i in x:
            y[()] += x[i].norm()

    values = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], np.float32)
    x = tensor(values.tolist()).detach().float().requires_grad_()
    y = tensor(0.0).detach().float().requires_grad_()
    with cg.ad.Tape(loss=y):
        lengths(x, y)
    np.testing.assert_allclose(
        numbers(x.grad), values / np.linalg.norm(values, axis=1, keepdims=True), rtol=1e-6
    )


def test_validation_sees_what_becomes_of_tensors(tensor):
    x, n, y = tensor(START), tensor([1.0, 2.0, 3.0]), tensor(0.0)

    @cg.kernel
    def weighted(n: ndarray(f64, 1, needs_grad=False), x: ndarray(f64, 1), y: ndarray(f64, 0)):
        for i in x:
            y[()] += n[i] * x[i]

    def changes(factor):
        with cg.ad.Tape(loss=y, validation=True):
            weighted(n, x, y)
            n.detach().mul_(factor)

    changes(1.0)
    np.testing.assert_allclose(numbers(x.grad), [1, 2, 3])
    with pytest.raises(cg.ad.OverwrittenError, match=r"gradient of weighted\(\) needs the old values of 'n'"):
        changes(2.0)
    np.testing.assert_allclose(numbers(n), [2, 4, 6])


def test_tensor_that_keeps_no_gradient_is_refused(tensor):
    x, y = tensor(START), tensor(0.0)
    doubled = 2 * x
    squares(doubled, y)
    y.grad = torch.ones_like(y)
    with pytest.raises(
        ValueError, match="'x' is a tensor that an operation made, and such a tensor keeps no gradient"
    ):
        squares.grad(doubled, y)


def test_result_of_an_operation_has_the_gradient_that_the_program_sets(tensor):
    class Squares(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = torch.zeros((), dtype=x.dtype, device=x.device)
            ctx.save_for_backward(x, y)
            squares(x, y)
            return y

        @staticmethod
        def backward(ctx, gradient):
            x, y = ctx.saved_tensors
            y.grad, x.grad = gradient.contiguous(), torch.zeros_like(x)
            squares.grad(x, y)
            return x.grad

    x = tensor(START)
    Squares.apply(2 * x).backward()
    np.testing.assert_allclose(numbers(x.grad), 8 * np.array(START))


def test_a_tensor_with_gaps_is_read_where_it_is_copied():
    x = torch.tensor([[v, 9.0] for v in START], dtype=torch.float64)[:, 0].requires_grad_()
    y = cg.ndarray(f64, (), needs_grad=True)
    assert not x.is_contiguous()
    with cg.ad.Tape(loss=y):
        squares(x, y)
    np.testing.assert_allclose(numbers(x.grad), 2 * np.array(START))


@pytest.mark.parametrize(("shape", "wants"), [((3,), True), ((), False)])
def test_a_loss_is_one_number_that_wants_a_gradient(shape, wants):
    with pytest.raises(ValueError, match="one element" if wants else "requires_grad=True"):
        cg.ad.Tape(loss=torch.zeros(shape, dtype=torch.float64, requires_grad=wants))
