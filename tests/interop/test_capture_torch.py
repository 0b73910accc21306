# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: what PyTorch does on the stream of a builder becomes nodes of its graph; a launch gives what PyTorch gives."""

import contextlib

import pytest

import cuda_graphs as cg

pytestmark = pytest.mark.cuda

BLOCK = cg.LaunchConfig(grid=1, block=32)


@pytest.fixture
def torch(device):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    with torch.no_grad():
        yield torch


@pytest.fixture
def model(torch):
    torch.manual_seed(7)
    layers = torch.nn
    return layers.Sequential(
        layers.Conv2d(3, 8, 3, padding=1), layers.ReLU(), layers.Flatten(), layers.Linear(8 * 64, 10)
    ).cuda().eval()  # fmt: skip


@pytest.fixture
def batches(torch):
    torch.manual_seed(8)
    return [torch.randn(4, 3, 8, 8, device="cuda") for _ in range(3)]


@pytest.fixture
def on(torch):
    """The stream of a builder as PyTorch's current one, and memory that only its graph has."""

    @contextlib.contextmanager
    def on(builder, pool=None):
        stream = torch.cuda.ExternalStream(builder.__cuda_stream__()[1])
        memory = torch.cuda.use_mem_pool(pool) if pool is not None else contextlib.nullcontext()
        with memory, torch.cuda.stream(stream):
            yield

    return on


def capture(torch, on, builder, pool, mode, work):
    """The first runs make handles, workspaces and plans, which may not be made while capturing."""
    torch.cuda.synchronize()
    for _ in range(3):
        with on(builder):
            work()
    torch.cuda.synchronize()
    with on(builder, pool):
        builder.begin_building(mode)
        result = work()
        builder.end_building()
    return result


def test_a_launch_infers_what_pytorch_infers(mode, torch, on, model, batches, builder, stream, kinds):
    x, pool = batches[0].clone(), torch.cuda.MemPool()
    y = capture(torch, on, builder, pool, mode, lambda: model(x))
    assert kinds(builder).count("KernelNode") >= 3
    graph = builder.complete()
    for batch in batches:
        x.copy_(batch)
        torch.cuda.synchronize()
        graph.launch(stream)
        stream.sync()
        assert torch.equal(y, model(batch))


def test_memory_of_the_graph_is_nobody_elses(torch, on, model, batches, builder, stream):
    x, pool = batches[0].clone(), torch.cuda.MemPool()
    y = capture(torch, on, builder, pool, "relaxed", lambda: model(x))
    graph = builder.complete()
    torch.cuda.empty_cache()
    others = [torch.full((4, 8, 8, 8), 7.0, device="cuda") for _ in range(32)]
    torch.cuda.synchronize()
    for _ in range(2):
        graph.launch(stream)
    stream.sync()
    assert all((other == 7).all() for other in others)
    assert torch.equal(y, model(x))


def test_the_graph_runs_between_work_of_pytorch(torch, on, model, batches, builder, stream):
    x, pool = batches[0].clone(), torch.cuda.MemPool()
    y = capture(torch, on, builder, pool, "relaxed", lambda: model(x))
    graph = builder.complete()
    with torch.cuda.stream(torch.cuda.ExternalStream(stream.handle)):
        results = []
        for batch in batches:  # all on one stream, without a wait
            x.copy_(batch)
            graph.launch(torch.cuda.current_stream())
            results.append(y * 2)
    stream.sync()
    for batch, result in zip(batches, results, strict=True):
        assert torch.equal(result, model(batch) * 2)


def test_work_of_both_is_in_order_and_tensors_are_arguments(torch, on, builder, kernels, stream):
    x = torch.zeros(32, dtype=torch.int32, device="cuda")
    torch.cuda.synchronize()
    with on(builder), builder:
        x += 1
        cg.launch(builder, BLOCK, kernels.add, x, 32, 100)
        x *= 2
        cg.launch(builder, BLOCK, kernels.add, x, 32, 1000)
    builder.complete().launch(stream)
    stream.sync()
    assert set(x.tolist()) == {(0 + 1 + 100) * 2 + 1000}


def test_a_body_of_a_loop_is_captured(torch, on, device, kernels, pinned, stream):
    x, left = torch.zeros(32, dtype=torch.int32, device="cuda"), pinned([5])
    torch.cuda.synchronize()
    with device.create_graph_builder() as builder:
        more = builder.create_condition(default_value=1)
        with builder.while_loop(more) as body:
            with on(body):
                x += 3
            cg.launch(body, cg.LaunchConfig(grid=1, block=1), kernels.count_down, more, left.ctypes.data)
    builder.complete().launch(stream)
    stream.sync()
    assert set(x.tolist()) == {15}


@pytest.mark.parametrize("how", ["item", "nonzero", "synchronize", "synchronize the device"])
def test_asking_the_host_spoils_and_the_lines_are_named(how, torch, stream, check_spoiled):
    x = torch.ones(32, device="cuda")
    torch.cuda.synchronize()
    ours = torch.cuda.ExternalStream(stream.handle)
    ask = {
        "item": lambda: x[0].item(),
        "nonzero": x.nonzero,
        "synchronize": ours.synchronize,
        "synchronize the device": torch.cuda.synchronize,
    }[how]

    def spoil():
        with torch.cuda.stream(ours), pytest.raises(RuntimeError, match="stream is capturing"):
            ask()

    check_spoiled(spoil)
    assert x.sum().item() == 32


@pytest.mark.parametrize(("how", "said"), [("cpu", "pinned"), ("random", "capture mode")])
def test_operation_that_pytorch_refuses_spoils_nothing(how, said, torch, on, builder, stream):
    x = torch.zeros(32, dtype=torch.int32, device="cuda")
    torch.cuda.synchronize()
    with on(builder), builder:
        x += 1
        with pytest.raises(RuntimeError, match=said):
            x.cpu() if how == "cpu" else torch.randn(4, device="cuda")
        x += 1
    builder.complete().launch(stream)
    stream.sync()
    assert set(x.tolist()) == {2}


def test_our_launches_are_nodes_of_a_graph_that_pytorch_captures(torch, kernels, stream):
    x = torch.zeros(32, dtype=torch.int32, device="cuda")
    torch.cuda.synchronize()
    cg.launch(stream, BLOCK, kernels.add, x, 32, 0)  # loads the code
    stream.sync()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        x += 1
        cg.launch(torch.cuda.current_stream(), BLOCK, kernels.add, x, 32, 100)
    graph.replay()
    graph.replay()
    torch.cuda.synchronize()
    assert set(x.tolist()) == {202}
