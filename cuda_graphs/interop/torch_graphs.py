# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Modules and functions of PyTorch whose calls are launches of graphs, one graph forward and one back.

PyTorch captures the graphs itself: only its own capture registers the generator of random numbers, and gives the
threads of a backward pass the memory pool of the graph. Kernels of this package that are called meanwhile become nodes
of these graphs (core/capture/borrowed_capture.cpp).

Each set of shapes has a Variant, with memory for its inputs. A call copies its inputs there, launches the graph, and
returns copies of the outputs. On the host driver a Variant calls the function itself instead, with the same rules.

Modules run with other tensors in the memory of their parameters (`with_views`). A parameter has one node that takes
its gradient, as long as any result refers to it, and the node belongs to the stream on which it was made: with results
of the caller alive, a captured backward pass would have to wait for a stream that is not captured.
"""

from __future__ import annotations

import inspect
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib import import_module
from threading import RLock
from typing import Any

from cuda_graphs.core.driver.choice import driver_info

from .torch_calls import is_tensor

__all__ = ["GraphedCallable", "make_graphed_callable"]

WARM_UPS = 3  # runs before a capture, in which PyTorch makes library handles and workspaces
# PyTorch warns of these things during a capture, where they do not matter.
EXPECTED = (
    "The CUDA Graph is empty",  # a backward pass that hands gradients on has no work
    # PyTorch's thread for backward passes takes the primary context, which is that of the tensors.
    "Attempting to run cuBLAS, but there was no current CUDA context",
)


def make_graphed_callable(
    function: Callable[..., Any], example_inputs: Any, max_shapes: int = 8
) -> GraphedCallable:
    """Return a callable that runs a module or function of PyTorch as CUDA graphs, forward and back.

        step = cg.interop.make_graphed_callable(model, (torch.randn(16, 256, device="cuda"),))
        loss = step(batch).square().mean()
        loss.backward()

    Args:
        function: A `torch.nn.Module`, or a function of tensors. It must be capturable: no results on the host, and no
            work that depends on them.
        example_inputs: Inputs for the first capture: a tensor, a sequence of arguments, or a mapping of arguments by
            name. Arguments may be tensors, containers of tensors, and constants that can be hashed.
        max_shapes: The most graphs to keep at a time. Calls with other shapes, strides, types, constants, or another
            mode of gradients, training or autocast have a graph of their own; the graph not used for the longest time
            goes.

    Returns:
        A callable with the arguments of `function`, by position or by name. Gradients flow to inputs and to all
        parameters that the function uses. Outputs are fresh tensors. Random numbers differ in each call.

    Raises:
        TypeError: `function` is not callable, an argument is neither a tensor nor hashable.
        ValueError: There is no tensor, tensors are on several devices, or not on the device of the driver.
        RuntimeError: The function cannot be captured, or writes to an input.
        ModuleNotFoundError: PyTorch is not installed.
    """
    if not callable(function):
        raise TypeError(f"make_graphed_callable() takes a module or a function of PyTorch, got {function!r}")
    if not isinstance(max_shapes, int) or max_shapes < 1:
        raise ValueError(f"max_shapes must be a positive int, got {max_shapes!r}")
    graphed = GraphedCallable(function, max_shapes)
    args, keywords = read_examples(example_inputs)
    graphed.prepare(*args, **keywords)
    return graphed


def read_examples(given: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(given, Mapping):
        return (), dict(given)
    return (given,) if is_tensor(given) else tuple(given), {}


class GraphedCallable:
    """The result of `make_graphed_callable`. Threads take turns.

    Attributes:
        function: The module or function.
        captures: The number of captures so far. It grows in each call if the shapes do not fit `max_shapes`.
    """

    def __init__(self, function: Callable[..., Any], max_shapes: int) -> None:
        self.function, self.max_shapes, self.captures = function, max_shapes, 0
        self._torch = import_module("torch")
        self._tree = import_module("torch.utils._pytree")
        self._modules = self._torch.nn.ModuleList(modules_of(self._torch, function))
        self._signature = inspect.signature(getattr(function, "forward", function))
        self._variants: OrderedDict[Any, Variant] = OrderedDict()
        self._lock = RLock()

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        leaves, spec = self._flatten(args, keywords)
        if self._is_captured(leaves):
            return self.function(*args, **keywords)
        with self._lock:
            variant = self._variant(leaves, spec)
            results = variant([each for each in leaves if is_tensor(each)])
        return self._tree.tree_unflatten(results, variant.result_spec)

    def prepare(self, *args: Any, **keywords: Any) -> None:
        """Capture the graphs for such arguments, if there are none, without running them."""
        with self._lock:
            self._variant(*self._flatten(args, keywords))

    def _flatten(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[list[Any], Any]:
        """Return the arguments as a flat list, and the structure to restore them."""
        bound = self._signature.bind(*args, **keywords)
        bound.apply_defaults()
        leaves, spec = self._tree.tree_flatten((bound.args, bound.kwargs))
        return leaves, spec

    def _is_captured(self, leaves: Sequence[Any]) -> bool:
        """Return True in a capture of other code: the work becomes a part of its graph."""
        is_cuda = any(is_tensor(each) and each.is_cuda for each in leaves)
        return is_cuda and bool(self._torch.cuda.is_current_stream_capturing())

    def _variant(self, leaves: list[Any], spec: Any) -> Variant:
        device = self._device(leaves)
        key = (tuple(map(description, leaves)), str(spec), *self._modes(device))
        try:
            found = self._variants.get(key)
        except TypeError as error:
            raise TypeError(
                f"arguments of {self!r} must be tensors, or constants that can be hashed: {error}"
            ) from None
        if found is not None and found.is_current():
            self._variants.move_to_end(key)
            return found
        self._variants.pop(key, None)
        made = Variant(self, leaves, spec, device)
        self.captures += 1
        self._variants[key] = made
        if len(self._variants) > self.max_shapes:
            _, gone = self._variants.popitem(last=False)
            gone.wait()
        return made

    def _device(self, leaves: list[Any]) -> Any:
        devices = {each.device for each in (*leaves, *self._state()) if is_tensor(each)}
        wanted = "cuda" if driver_info().kind == "cuda" else "cpu"
        if len(devices) != 1:
            found = ", ".join(sorted(map(str, devices))) or "no tensors"
            raise ValueError(f"{self!r} needs tensors of one device, got {found}: move them to one device")
        (device,) = devices
        if device.type != wanted:
            remedy = "move them to the GPU" if wanted == "cuda" else "unset CUDA_GRAPHS_DRIVER=host"
            raise ValueError(
                f"the tensors of {self!r} are on {device}, but the driver is {driver_info().kind!r}: {remedy}"
            )
        return device

    def _state(self) -> list[Any]:
        """Return the parameters and buffers of the modules."""
        return [*self._modules.parameters(), *self._modules.buffers()]

    def _modes(self, device: Any) -> tuple[Any, ...]:
        """Return what decides about the work of the function, apart from its arguments."""
        torch = self._torch
        return (
            torch.is_grad_enabled(),
            torch.is_inference_mode_enabled(),
            torch.is_autocast_enabled(device.type) and torch.get_autocast_dtype(device.type),
            tuple(each.training for each in self._modules.modules()),
            tuple((each.data_ptr(), each.requires_grad) for each in self._state()),
        )

    def __repr__(self) -> str:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return f"<graphed {name} for {len(self._variants)} of {self.max_shapes} shapes>"


def description(leaf: Any) -> Any:
    """Return what a graph depends on of an argument."""
    if not is_tensor(leaf):
        return type(leaf), leaf
    return tuple(leaf.shape), leaf.stride(), leaf.dtype, leaf.requires_grad


class Variant:
    """The graphs for one set of shapes, and the memory that they read and write."""

    def __init__(self, owner: GraphedCallable, leaves: list[Any], spec: Any, device: Any) -> None:
        self.torch, self.tree, self.device, self.name = owner._torch, owner._tree, device, repr(owner)
        self.with_gradients = self.torch.is_grad_enabled()
        self.calls, self.is_spent = 0, True
        self.around: list[Any] = []  # parameters of no module
        self.stream: Any = None  # of the last use
        copies = [self._static(each) if is_tensor(each) else each for each in leaves]
        self.inputs = [each for each in copies if is_tensor(each)]
        self.function = owner.function
        self.views: dict[int, Any] = {}  # id of a tensor in a parameter's memory -> the parameter
        if self.with_gradients:
            self.function, self.views = with_views(self.torch, owner.function, owner._modules)
        self.arguments = self.tree.tree_unflatten(copies, spec)
        recorder = Captures(self.torch, device) if device.type == "cuda" else Repetitions()
        with ExitStack() as entered:
            entered.enter_context(unchanged_state(self.torch, device, list(owner._modules.buffers())))
            entered.enter_context(without_autocast_cache(self.torch))
            self._record(recorder)

    def _static(self, given: Any) -> Any:
        """Return a copy of an input in memory of the graph."""
        copy = self.torch.empty_like(given, requires_grad=False)
        copy.copy_(given.detach())
        return copy.requires_grad_(given.requires_grad and self.with_gradients)

    def _record(self, recorder: Captures | Repetitions) -> None:
        tracked = [each for each in self.inputs if not each.is_inference()]
        versions = [each._version for each in tracked]
        recorder.warm_up(self._find_parameters_around, 1)
        if any(is_in_use(self.torch, each) for each in self.around):
            raise RuntimeError(
                f"{self.name} uses parameters that belong to no module around it, and results of earlier passes "
                "through them are still alive: delete these results, or put the parameters into a module"
            )
        recorder.warm_up(self._run_and_differentiate, WARM_UPS)
        self.forward = recorder.record(self._run)
        for number, (each, version) in enumerate(zip(tracked, versions)):
            if each._version != version:
                raise RuntimeError(
                    f"{self.name} writes to tensor {number} of its arguments, which would change only a copy: return a "
                    "new tensor, or keep the tensor outside of the arguments"
                )
        results = self.forward.results
        leaves = leaves_of(results, self.inputs)
        self.parameters = [self.views.get(id(each), each) for each in leaves]
        self.addresses = [each.data_ptr() for each in self.parameters]
        self.sources = [each for each in (*self.inputs, *leaves) if each.requires_grad]
        self.have_history = [has_history(each) for each in results if is_tensor(each)]
        self.adjoints = [self.torch.zeros_like(each) for each in results if has_history(each)]
        self.backward = recorder.record(self._differentiate) if self.adjoints else None
        self.forward.forget_history()

    def _run(self) -> list[Any]:
        args, keywords = self.arguments
        with self.torch.set_grad_enabled(self.with_gradients):
            results, self.result_spec = self.tree.tree_flatten(self.function(*args, **keywords))
        return list(results)

    def _differentiate(self) -> list[Any]:
        """Return the gradients of the sources."""
        outputs = [each for each in self.forward.results if has_history(each)]
        return list(self.torch.autograd.grad(outputs, self.sources, self.adjoints, allow_unused=True))

    def _find_parameters_around(self) -> None:
        leaves = leaves_of(self._run(), self.inputs)
        self.around = [each for each in leaves if id(each) not in self.views]

    def _run_and_differentiate(self) -> None:
        results = self._run()
        outputs = [each for each in results if has_history(each)]
        if outputs:
            leaves = leaves_of(results, self.inputs)
            sources = [each for each in (*self.inputs, *leaves) if each.requires_grad]
            adjoints = [self.torch.zeros_like(each) for each in outputs]
            self.torch.autograd.grad(outputs, sources, adjoints, allow_unused=True)

    def is_current(self) -> bool:
        """Return True while all parameters are in the memory that the graph reads, and require gradients."""
        return all(
            each.data_ptr() == address and each.requires_grad
            for each, address in zip(self.parameters, self.addresses)
        )

    def __call__(self, given: Sequence[Any]) -> list[Any]:
        """Return the results for these tensors, as a flat list."""
        if self.backward is None:
            return self.launch(given)
        found = iter(call_class().apply(self, *given, *self.parameters))
        return [next(found) if is_tensor(each) else each for each in self.forward.results]

    def launch(self, given: Sequence[Any]) -> list[Any]:
        """Run the forward graph, and return its results; tensors are copies."""
        self._order()
        with self.torch.no_grad():
            for static, each in zip(self.inputs, given, strict=True):
                static.copy_(each)
        self.forward.replay()
        self.calls, self.is_spent = self.calls + 1, False
        return [each.detach().clone() if is_tensor(each) else each for each in self.forward.results]

    def launch_backward(self, call: int, adjoints: Sequence[Any]) -> Iterator[Any]:
        """Run the backward graph, and return the gradients of the inputs, then of the parameters."""
        if call != self.calls or self.is_spent:
            what = "was called again" if call != self.calls else "had its backward pass"
            raise RuntimeError(
                f"{self.name} {what} since this call: its graph keeps intermediate results for one backward pass of "
                "the last call; run the backward pass before the next call, or make another graphed callable"
            )
        self._order()
        with self.torch.no_grad():
            for static, each in zip(self.adjoints, adjoints, strict=True):
                static.zero_() if each is None else static.copy_(each)
        assert self.backward is not None
        self.backward.replay()
        self.is_spent = True
        found = iter(self.backward.results)
        for source in (*self.inputs, *self.parameters):
            gradient = next(found) if source.requires_grad else None
            yield None if gradient is None else gradient.detach().clone()

    def _order(self) -> None:
        """Let PyTorch's current stream wait for the last use on another stream."""
        if self.device.type == "cuda":
            current = self.torch.cuda.current_stream(self.device)
            if self.stream is not None and self.stream != current:
                current.wait_stream(self.stream)
            self.stream = current

    def wait(self) -> None:
        """Wait for the last use."""
        if self.stream is not None:
            self.stream.synchronize()


class Captures:
    """Captures graphs with one private pool."""

    def __init__(self, torch: Any, device: Any) -> None:
        self.torch, self.device = torch, device
        self.stream, self.pool = torch.cuda.Stream(device), torch.cuda.graph_pool_handle()

    def warm_up(self, run: Callable[[], None], times: int) -> None:
        self.torch.cuda.synchronize(self.device)
        with expected_warnings(), self.torch.cuda.stream(self.stream):
            for _ in range(times):
                run()
        self.torch.cuda.synchronize(self.device)

    def record(self, run: Callable[[], list[Any]]) -> Capture:
        graph = self.torch.cuda.CUDAGraph()
        with (
            expected_warnings(),
            self.torch.cuda.device(self.device),
            self.torch.cuda.graph(
                graph, pool=self.pool, stream=self.stream, capture_error_mode="thread_local"
            ),
        ):
            results = run()
        return Capture(graph, results)


class Capture:
    """A graph of PyTorch. Its results are in its memory."""

    def __init__(self, graph: Any, results: list[Any]) -> None:
        self.graph, self.results = graph, results

    def forget_history(self) -> None:
        """Free PyTorch's record of the pass, whose nodes of parameters belong to the stream of the capture."""
        self.results = [each.detach() if is_tensor(each) else each for each in self.results]

    def replay(self) -> None:
        self.graph.replay()  # sets the state of the random generator, and launches on the current stream


class Repetitions:
    """Repeats functions on the CPU, in place of captures."""

    def warm_up(self, run: Callable[[], None], times: int) -> None:
        pass

    def record(self, run: Callable[[], list[Any]]) -> Repetition:
        return Repetition(run)


class Repetition:
    """A function that runs again. Its results are those of the last run."""

    def __init__(self, run: Callable[[], list[Any]]) -> None:
        self.run, self.results = run, run()

    def forget_history(self) -> None:
        """Keep the record: a repeated backward pass goes through it."""

    def replay(self) -> None:
        self.results = self.run()


@cache
def call_class() -> Any:
    """Return the subclass of torch.autograd.Function that launches the graphs of a Variant."""
    autograd = import_module("torch.autograd")
    ways = {
        "forward": staticmethod(forward),
        "backward": staticmethod(autograd.function.once_differentiable(backward)),
    }
    return type("GraphedCall", (autograd.Function,), ways)


def forward(context: Any, variant: Variant, *given: Any) -> tuple[Any, ...]:
    results = variant.launch(given[: len(variant.inputs)])
    tensors = [each for each in results if is_tensor(each)]
    context.variant, context.call = variant, variant.calls
    context.set_materialize_grads(False)
    context.mark_non_differentiable(
        *(each for each, known in zip(tensors, variant.have_history, strict=True) if not known)
    )
    return tuple(tensors)


def backward(context: Any, *adjoints: Any) -> tuple[Any, ...]:
    given = [each for each, known in zip(adjoints, context.variant.have_history, strict=True) if known]
    return None, *context.variant.launch_backward(context.call, given)


def has_history(value: Any) -> bool:
    return is_tensor(value) and value.requires_grad


def leaves_of(results: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
    """Return the tensors that require gradients and from which the results were computed, without the inputs."""
    known, found = {id(each) for each in inputs}, []
    ahead = [each.grad_fn for each in results if has_history(each)]
    seen = set()
    while ahead:
        node = ahead.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        ahead.extend(each for each, _ in node.next_functions)
        leaf = getattr(node, "variable", None)  # of a node that adds to the gradient of a leaf
        if leaf is not None and id(leaf) not in known:
            known.add(id(leaf))
            found.append(leaf)
    return found


def modules_of(torch: Any, function: Callable[..., Any]) -> list[Any]:
    """Return the module, the module of a method, or the modules that a function refers to."""
    owner = getattr(function, "__self__", function)
    names = inspect.getclosurevars(function) if inspect.isfunction(function) else None
    around = [] if names is None else [*names.nonlocals.values(), *names.globals.values()]
    return [each for each in (owner, *around) if isinstance(each, torch.nn.Module)]


def with_views(
    torch: Any, function: Callable[..., Any], modules: Any
) -> tuple[Callable[..., Any], dict[int, Any]]:
    """Return the function on other tensors in the memory of the modules' parameters, and id of tensor -> parameter."""
    inner = torch.nn.Module()
    inner.used, inner.forward = modules, lambda *args, **keywords: function(*args, **keywords)
    parameters = {name: each for name, each in inner.named_parameters() if each.requires_grad}
    views = {name: each.detach().requires_grad_() for name, each in parameters.items()}

    def run(*args: Any, **keywords: Any) -> Any:
        return torch.func.functional_call(inner, views, args, keywords)

    return run, {id(views[name]): each for name, each in parameters.items()}


def is_in_use(torch: Any, leaf: Any) -> bool:
    """Return True while a result refers to the node that takes the leaf's gradient. The node keeps its marks."""
    torch.autograd.graph.get_gradient_edge(leaf).node.metadata["in use"] = True
    return "in use" in torch.autograd.graph.get_gradient_edge(leaf).node.metadata


@contextmanager
def expected_warnings() -> Iterator[None]:
    """Leave out the warnings of PyTorch that do not matter to a capture. Others are shown."""
    with warnings.catch_warnings():
        for message in EXPECTED:
            warnings.filterwarnings("ignore", message=message, category=UserWarning)
        yield


@contextmanager
def unchanged_state(torch: Any, device: Any, buffers: Sequence[Any]) -> Iterator[None]:
    """Restore the generators of random numbers, and the buffers of a module."""
    kept = [(each, each.detach().clone()) for each in buffers]
    try:
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            yield
    finally:
        with torch.no_grad():
            for each, before in kept:
                each.copy_(before)


@contextmanager
def without_autocast_cache(torch: Any) -> Iterator[None]:
    """Let autocast convert parameters in the graph, not before it."""
    before = torch.is_autocast_cache_enabled()
    torch.clear_autocast_cache()
    torch.set_autocast_cache_enabled(False)
    try:
        yield
    finally:
        torch.set_autocast_cache_enabled(before)
