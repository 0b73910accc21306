# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: `torch.compile` takes functions of `cg.interop.torch` without a graph break, and computes what PyTorch computes;
a graph with a backward graph is such a function too."""

from dataclasses import dataclass

import pytest

import cuda_graphs as cg

torch = pytest.importorskip("torch")
# PyTorch warns of its own code when it loads the parts of its compiler.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")

f64, i32 = cg.f64, cg.i32
Vector, Number = cg.Array1[f64], cg.types.ndarray(f64, 0)


@pytest.fixture(scope="module", params=["cpu", pytest.param("cuda", marks=pytest.mark.cuda)])
def place(request):
    """Where tensors are. PyTorch goes back on a thread of its own, on which a device has its pool from then on."""
    x = torch.ones(3, dtype=torch.float64, device=request.param, requires_grad=True)
    waves(x, x[0], 1.0)[0].sum().backward()
    waves(x, x[0].detach(), 1.0)[0].sum().backward()
    return request.param


@pytest.fixture
def tensor(place):
    return lambda values: torch.tensor(values, dtype=torch.float64, device=place, requires_grad=True)


@pytest.fixture
def compiled():
    """compiled(function): compiles without a graph break, and traces it with fake tensors."""
    torch.compiler.reset()
    yield lambda function, backend="aot_eager": torch.compile(function, fullgraph=True, backend=backend)
    torch.compiler.reset()


@cg.kernel
def wave(x: Vector, c: Number, a: f64, y: Vector, signs: cg.Array1[i32]):
    for i in x:
        y[i] = a * cg.sin(x[i]) + c[()]
        signs[i] = 1 if x[i] > 0 else -1


waves = cg.interop.torch(
    wave,
    out={"y": "x", "signs": lambda x, c, a: torch.zeros(x.shape, dtype=torch.int32, device=x.device)},
)


def with_kernel(x, c):
    y, signs = waves(2 * x, c, a=1.5)
    return (torch.relu(y) * signs).sum()


def with_pytorch(x, c):
    doubled = 2 * x
    return (torch.relu(1.5 * torch.sin(doubled) + c) * torch.sign(doubled)).sum()


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compiled_code_gives_what_pytorch_gives(tensor, compiled, backend):
    run = compiled(with_kernel, backend)
    for values in ([0.3, -0.7, 1.1], [0.2, 0.4, -0.6, 0.8, 0.1], [0.5]):  # the second shape is dynamic
        x, c = tensor(values), tensor(0.25)
        torch.testing.assert_close(run(x, c), with_pytorch(x, c))
        found = torch.autograd.grad(run(x, c), (x, c))
        torch.testing.assert_close(found, torch.autograd.grad(with_pytorch(x, c), (x, c)))


def test_tensors_without_gradients_and_with_gaps(tensor, compiled):
    x, c = tensor([[0.3, 1.0], [-0.7, 2.0]]), tensor(0.25).detach()
    run = compiled(lambda x: with_kernel(x.t()[0], c))
    torch.testing.assert_close(
        torch.autograd.grad(run(x), x), torch.autograd.grad(with_pytorch(x.t()[0], c), x)
    )
    with torch.no_grad():
        assert not run(x).requires_grad
    assert not run(x.detach()).requires_grad


@pytest.mark.filterwarnings("ignore:The .grad attribute")  # of opcheck itself
def test_pytorch_finds_the_operator_right(tensor):
    @cg.kernel
    def line(x: Vector, c: Number, a: f64, y: Vector, signs: cg.Array1[i32]):
        for i in x:
            y[i] = a * x[i] + c[()]
            signs[i] = 1 if x[i] > 0 else -1

    function = cg.interop.torch(line, out=waves.out)
    torch.library.opcheck(function.op, (tensor([0.3, -0.7]), tensor(0.25), 1.5))
    torch.library.opcheck(function.op, (tensor([0.3, -0.7]).detach(), tensor(0.25), 1.5))


def test_output_without_a_use_has_a_gradient_of_zero(tensor, compiled):
    @cg.kernel
    def both(x: Vector, double: Vector, triple: Vector):
        for i in x:
            double[i] = 2.0 * x[i]
            triple[i] = 3.0 * x[i]

    function = cg.interop.torch(both, out={"double": "x", "triple": "x"})
    x = tensor([1.0, 2.0])
    run = compiled(lambda x: function(x)[1].sum())
    assert torch.autograd.grad(run(x), x)[0].tolist() == [3.0, 3.0]


def test_two_kernels_of_one_name_are_two_operators(tensor, compiled):
    def make(factor):
        @cg.kernel
        def scaled(x: Vector, y: Vector):
            for i in x:
                y[i] = factor * x[i]

        return cg.interop.torch(scaled, out={"y": "x"})

    two, three = make(2.0), make(3.0)
    assert compiled(lambda x: two(x) + three(two(x)))(tensor([1.0])).item() == 8.0


def test_kernel_that_writes_an_input_is_refused(tensor, compiled):
    @cg.kernel
    def both(x: Vector, y: Vector):
        for i in x:
            y[i] = 2.0 * x[i]
            x[i] = 0.0

    function = cg.interop.torch(both, out={"y": "x"})
    x = tensor([1.0]).detach()
    with pytest.raises(ValueError, match=r"both\(\) writes 'x', which is not an output"):
        compiled(lambda x: function(x))(x)
    assert x.item() == 1.0


def test_kernel_with_other_parameters_has_no_operator(tensor):
    @dataclass
    class Line:
        slope: f64

    @cg.kernel
    def line(x: Vector, by: Line, y: Vector):
        for i in x:
            y[i] = by.slope * x[i]

    function = cg.interop.torch(line, out={"y": "x"})
    assert function.op is None
    assert function(tensor([2.0]), Line(3.0)).tolist() == [6.0]


# Graphs


@pytest.fixture
def square():
    @cg.kernel
    def square(x: Vector, scale: f64, y: Vector):
        for i in x:
            y[i] = scale * x[i] * x[i]

    return square


@pytest.fixture
def square_back():
    @cg.kernel
    def square_back(x: Vector, scale: f64, grad_y: Vector, grad_x: Vector):
        for i in x:
            grad_x[i] += 2.0 * scale * x[i] * grad_y[i]

    return square_back


def graph_of(kernel, **types):
    definition = cg.GraphDef()
    definition.call(kernel, *(definition.param(name, type_) for name, type_ in types.items()))
    return definition.instantiate()


@pytest.fixture
def squares(place, session_device, square, square_back):
    forward = graph_of(square, x=Vector, scale=f64, y=Vector)
    backward = graph_of(square_back, x=Vector, scale=f64, grad_y=Vector, grad_x=Vector)
    return cg.interop.torch(forward, out={"y": "x"}, backward=backward)


def test_graph_with_a_backward_graph_is_a_function_of_autograd(tensor, squares):
    x = tensor([1.0, -2.0, 3.0])
    torch.testing.assert_close(squares(x, 0.5), 0.5 * x * x)
    assert torch.autograd.gradcheck(lambda x: squares(3 * x, 0.5), (x,))
    other = tensor([4.0])
    assert torch.autograd.grad(squares(other, scale=2.0).sum(), other)[0].item() == 16.0


def test_graph_is_compiled_without_a_graph_break(tensor, squares, compiled):
    run = compiled(lambda x: torch.sin(squares(2 * x, 0.5)).sum())
    for values in ([1.0, -2.0, 3.0], [0.5, 0.25]):
        x = tensor(values)
        wanted = torch.sin(0.5 * (2 * x) ** 2).sum()
        torch.testing.assert_close(run(x), wanted)
        torch.testing.assert_close(torch.autograd.grad(run(x), x), torch.autograd.grad(wanted, x))


def test_graph_without_a_gradient_says_what_to_pass(tensor, session_device, square):
    forward = graph_of(square, x=Vector, scale=f64, y=Vector)
    function = cg.interop.torch(forward, out={"y": "x"})
    assert function(tensor([3.0]).detach(), 1.0).item() == 9.0
    with pytest.raises(ValueError, match="pass the graph of its gradient as backward="):
        function(tensor([3.0]), 1.0)
    partial = cg.interop.torch(
        forward, out={"y": "x"}, backward=graph_of(square, x=Vector, scale=f64, grad_y=Vector)
    )
    with pytest.raises(ValueError, match="has no parameter 'grad_x', but argument 'x' requires a gradient"):
        partial(tensor([3.0]), 1.0)


def test_wrong_graphs_are_refused(session_device, square):
    forward = graph_of(square, x=Vector, scale=f64, y=Vector)
    with pytest.raises(ValueError, match="parameter 'z' of the backward graph is neither an argument"):
        cg.interop.torch(forward, out={"y": "x"}, backward=graph_of(square, z=Vector, scale=f64, y=Vector))
    with pytest.raises(TypeError, match="backward must be a Graph"):
        cg.interop.torch(forward, out={"y": "x"}, backward=square)
    with pytest.raises(TypeError, match=r"the gradient of square\(\) comes from the kernel"):
        cg.interop.torch(square, out={"y": "x"}, backward=forward)
    definition = cg.GraphDef()
    definition.memset(definition.param("x", cg.pointer), 0, 4)
    with pytest.raises(ValueError, match=r"'x' of .* is a pointer"):
        cg.interop.torch(definition.instantiate(), out={"x": lambda: None})
