# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a callable of `cg.interop.make_graphed_callable` computes what its module or function computes, with gradients,
random numbers and updates of buffers; each set of shapes has a graph, and what a graph cannot do is refused."""

import copy

import pytest

import cuda_graphs as cg

torch = pytest.importorskip("torch")

make = cg.interop.make_graphed_callable


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.cuda)])
def place(request, driver):
    if (request.param == "cuda") != (driver.kind == "cuda"):
        pytest.skip("tensors are where the driver is")
    torch.manual_seed(7)
    return request.param


@pytest.fixture
def model(place):
    layers = torch.nn
    return layers.Sequential(layers.Linear(4, 8), layers.GELU(), layers.Linear(8, 3)).to(place)


@pytest.fixture
def batch(place):
    return lambda n, grad=False: torch.randn(n, 4, device=place).requires_grad_(grad)


def gradients(result, *sources):
    return torch.autograd.grad(result.square().sum(), sources)


def test_calls_and_gradients_are_those_of_the_module_for_each_shape(model, batch):
    graphed = make(model, batch(5, grad=True))
    for n in (5, 2, 5, 7, 2):
        x = batch(n, grad=True)
        torch.testing.assert_close(graphed(x), model(x))
        sources = (x, *model.parameters())
        torch.testing.assert_close(gradients(graphed(x), *sources), gradients(model(x), *sources))
    assert graphed.captures == 3
    assert repr(graphed) == "<graphed Sequential for 3 of 8 shapes>"


def test_training_goes_as_without_a_graph(model, batch):
    x, wanted = batch(6), batch(6)[:, :3]
    plain = copy.deepcopy(model)
    graphed = make(model, x)
    losses = []
    for run, parameters in ((graphed, model.parameters()), (plain, plain.parameters())):
        optimiser, found = torch.optim.SGD(parameters, lr=0.1, momentum=0.5), []
        for _ in range(5):
            optimiser.zero_grad()
            loss = (run(x) - wanted).square().mean()
            loss.backward()
            optimiser.step()
            found.append(loss.detach())
        losses.append(torch.stack(found))
    torch.testing.assert_close(*losses)
    assert graphed.captures == 1


def test_gradients_of_several_calls_add_up(model, batch):
    plain, graphed = copy.deepcopy(model), make(model, batch(3))
    for _ in range(3):
        x = batch(3)
        graphed(x).square().sum().backward()
        plain(x).square().sum().backward()
    for found, wanted in zip(model.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(found.grad, wanted.grad)


def test_outputs_are_nobody_elses_memory(model, batch):
    graphed = make(model, batch(3))
    inputs = [batch(3) for _ in range(3)]
    outputs = [graphed(x) for x in inputs]
    for x, y in zip(inputs, outputs, strict=True):
        torch.testing.assert_close(y, model(x))


def test_function_passes_gradients_to_the_parameters_that_it_uses(model, batch, place):
    scale = torch.tensor(2.0, device=place, requires_grad=True)

    def work(x):
        return scale * model[0](x)

    graphed, x = make(work, batch(3)), batch(3)
    sources = (scale, model[0].weight, model[0].bias)
    torch.testing.assert_close(gradients(graphed(x), *sources), gradients(work(x), *sources))


def test_arguments_have_names_and_may_be_containers_and_constants(place):
    def work(x, pair, *, power=2, options=("add",)):
        first, second = pair["a"], pair["b"]
        result = x**power + (first if "add" in options else -first) * second
        return {"result": result, "power": power, "both": (first, None)}

    def tensors():
        return [torch.rand(3, device=place, requires_grad=True) for _ in range(3)]

    x, a, b = tensors()
    graphed = make(work, {"pair": {"a": a, "b": b}, "x": x})
    for keywords in ({}, {"power": 3}, {"options": ("sub",)}, {"power": 3, "options": ("sub",)}):
        x, a, b = tensors()
        found, wanted = (run(x, pair={"a": a, "b": b}, **keywords) for run in (graphed, work))
        torch.testing.assert_close(found, wanted)
        torch.testing.assert_close(gradients(found["result"], x, a, b), gradients(wanted["result"], x, a, b))
    assert graphed.captures == 4
    with pytest.raises(TypeError, match=r"must be tensors, or constants that can be hashed"):
        graphed(x, {"a": a, "b": b}, options={1})
    with pytest.raises(TypeError, match="missing a required argument: 'pair'"):
        graphed(x)


def test_graph_that_was_not_used_longest_goes(model, batch):
    graphed = make(model, batch(1), max_shapes=2)
    for n, captures in ((2, 2), (1, 2), (3, 3), (1, 3), (2, 4)):
        graphed(batch(n))
        assert graphed.captures == captures


def test_modes_have_graphs_of_their_own(model, batch, place):
    x = batch(3, grad=True)
    graphed = make(model, x)
    with torch.no_grad():
        assert not graphed(x).requires_grad
    with torch.inference_mode():
        torch.testing.assert_close(graphed(x), model(x))
    with torch.autocast(place, torch.bfloat16):
        found, wanted = graphed(x), model(x)
        assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found, wanted)
    torch.testing.assert_close(gradients(found, model[0].weight), gradients(wanted, model[0].weight))
    model.eval()
    graphed(x)
    assert graphed.captures == 5
    torch.testing.assert_close(graphed(x), model(x))


def test_results_of_earlier_passes_may_be_alive(model, batch):
    x = batch(3, grad=True)
    wanted = model(x)
    for function in (model, model.forward, lambda x: model(x)):
        graphed = make(function, x)
        for n in (3, 2, 3):
            x = batch(n, grad=True)
            found, wanted = graphed(x), model(x)
            torch.testing.assert_close(found, wanted)
            sources = (x, *model.parameters())
            torch.testing.assert_close(gradients(found, *sources), gradients(wanted, *sources))


def test_shared_parameters_have_the_sum_of_their_gradients(place, batch):
    layers = torch.nn
    first, last = layers.Linear(4, 4), layers.Linear(4, 4)
    last.weight = first.weight
    model = layers.Sequential(first, layers.Tanh(), last).to(place)
    x = batch(3, grad=True)
    graphed = make(model, x)
    for each in model.parameters():
        torch.testing.assert_close(gradients(graphed(x), each), gradients(model(x), each))


@pytest.mark.cuda
def test_function_whose_parameters_have_living_results_is_refused(place, batch):
    if place != "cuda":
        pytest.skip("the CPU captures nothing")
    x, weight = batch(3), torch.randn(4, 2, device=place, requires_grad=True)
    alive = x @ weight
    with pytest.raises(RuntimeError, match="are still alive: delete these results, or put the parameters"):
        make(lambda x: x @ weight, x)
    del alive
    graphed = make(lambda x: x @ weight, x)
    torch.testing.assert_close(gradients(graphed(x), weight), gradients(x @ weight, weight))


def test_random_numbers_are_drawn_in_each_call_and_follow_the_seed(batch, place):
    dropout = torch.nn.Dropout(0.5).to(place)
    x = torch.ones(4096, device=place)
    torch.manual_seed(3)
    before = torch.rand(4, device=place)
    torch.manual_seed(3)
    graphed = make(dropout, x)
    assert torch.equal(torch.rand(4, device=place), before), "to capture draws no numbers"

    def two():
        torch.manual_seed(3)
        return graphed(x), graphed(x)

    (first, second), again = two(), two()
    assert not torch.equal(first, second)
    assert torch.equal(first, again[0])
    assert torch.equal(second, again[1])
    assert set(first.unique().tolist()) == {0.0, 2.0}
    assert 0.4 < (first == 0).float().mean().item() < 0.6


def test_random_numbers_are_those_of_the_backward_pass(place):
    dropout = torch.nn.Dropout(0.5).to(place)
    graphed = make(dropout, torch.ones(256, device=place, requires_grad=True))
    x = torch.ones(256, device=place, requires_grad=True)
    for _ in range(2):
        y = graphed(x)
        assert torch.equal(torch.autograd.grad(y.sum(), x)[0], y.detach())


def test_buffers_change_with_calls_only(place):
    norm = torch.nn.BatchNorm1d(4).to(place)
    plain = copy.deepcopy(norm)
    graphed = make(norm, torch.randn(8, 4, device=place))
    for _ in range(3):
        x = torch.randn(8, 4, device=place)
        torch.testing.assert_close(graphed(x), plain(x))
    torch.testing.assert_close(dict(norm.named_buffers()), dict(plain.named_buffers()))


def test_parameters_in_other_memory_are_seen(model, batch):
    x = batch(3)
    graphed = make(model, x)
    with torch.no_grad():
        for each in model.parameters():
            each.data = torch.randn_like(each)
    torch.testing.assert_close(graphed(x), model(x))
    model[0].requires_grad_(False)
    graphed(x).sum().backward()
    assert model[0].weight.grad is None
    model[0].requires_grad_(True)
    torch.testing.assert_close(gradients(graphed(x), model[0].weight), gradients(model(x), model[0].weight))


def test_backward_pass_of_an_earlier_call_is_refused(model, batch):
    graphed = make(model, batch(3))
    first, second = graphed(batch(3)), graphed(batch(3))
    with pytest.raises(
        RuntimeError, match=r"was called again since this call: .* run the backward pass before"
    ):
        first.sum().backward()
    second.sum().backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="had its backward pass since this call"):
        second.sum().backward()
    graphed(batch(3)).sum().backward()


def test_function_that_writes_to_an_input_is_refused(place):
    x = torch.ones(3, device=place)
    with pytest.raises(RuntimeError, match="writes to tensor 0 of its arguments"):
        make(lambda x: x.add_(1), x)
    assert x.tolist() == [1, 1, 1]


def test_outputs_that_are_inputs_or_have_no_history(place):
    def work(x, y):
        return x, y.detach() * 2, (x * 3).round().int()

    x, y = (torch.tensor([1.0, 2.0], device=place, requires_grad=True) for _ in range(2))
    found = make(work, (x, y))(x, y)
    assert [each.requires_grad for each in found] == [True, False, False]
    assert found[2].tolist() == [3, 6]
    (found[0] ** 2).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    assert y.grad is None


def test_kernels_are_a_part_of_the_function(place, session_device):
    @cg.kernel
    def wave(x: cg.Array1[cg.f32], y: cg.Array1[cg.f32]):
        for i in x:
            y[i] = cg.sin(x[i])

    sine = cg.interop.torch(wave, out={"y": "x"})
    x = torch.rand(5, device=place, requires_grad=True)
    torch.autograd.grad(sine(x).sum(), x)  # compiles
    graphed = make(lambda x: 2 * sine(3 * x), x)
    for _ in range(2):
        x = torch.rand(5, device=place, requires_grad=True)
        torch.testing.assert_close(graphed(x), 2 * torch.sin(3 * x))
        torch.testing.assert_close(gradients(graphed(x), x), gradients(2 * torch.sin(3 * x), x))


@pytest.mark.cuda
def test_call_in_a_capture_is_a_part_of_it(place, model, batch):
    if place != "cuda":
        pytest.skip("the CPU captures nothing")
    x = batch(3)
    with torch.no_grad():
        graphed = make(model, x)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = graphed(x)
        x.copy_(batch(3))
        graph.replay()
        torch.testing.assert_close(y, model(x))


def test_what_cannot_be_graphed_is_refused(place, driver):
    with pytest.raises(TypeError, match="takes a module or a function"):
        make(3, ())
    with pytest.raises(ValueError, match="max_shapes must be a positive int"):
        make(torch.sin, torch.ones(2, device=place), max_shapes=0)
    with pytest.raises(ValueError, match="needs tensors of one device, got no tensors"):
        make(lambda: None, ())
    if driver.kind == "cuda":
        with pytest.raises(ValueError, match="are on cpu, but the driver is 'cuda': move them to the GPU"):
            make(lambda x: x, torch.ones(2))


@pytest.mark.cuda
def test_function_that_needs_a_result_on_the_host_is_refused(place):
    if place != "cuda":
        pytest.skip("the CPU captures nothing")
    with pytest.raises(RuntimeError):
        make(lambda x: x * x.sum().item(), torch.ones(2, device=place))
    assert torch.ones(2, device=place).sum().item() == 2
