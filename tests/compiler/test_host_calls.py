# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws: the call of a host object is a step between the tasks of a graph kernel, which no access to memory crosses.

A class of the test stands for communicators: the compiler knows no driver and no library of messages.
"""

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.compiler.cache.artifact_cache import decoded, encoded, fingerprint
from cuda_graphs.compiler.cache.fingerprint import Fingerprint
from cuda_graphs.compiler.codegen.x86.x86_target import X86
from cuda_graphs.compiler.errors import (
    CompileArgumentError,
    CompileCheckpointError,
    CompileGradientError,
    CompileNameError,
    CompileResidentError,
    CompileSectionError,
    CompileSyntaxError,
    CompileTypeError,
)
from cuda_graphs.compiler.ir import ir, printer
from cuda_graphs.compiler.ir.interpreter import interpret
from cuda_graphs.compiler.ir.verifier import IRError, verify
from cuda_graphs.compiler.language.annotations import HostObjectSpec
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.pipeline import compile_kernel, lower

Vector = cg.types.ndarray(cg.f32, ndim=1)


class Host:
    """Records its calls. `double` doubles an array."""

    __cuda_graph_calls__ = ("double", "send", "group")
    __cuda_graph_numbers__ = ("rank",)

    def __init__(self):
        self.calls, self.rank = [], 3

    def double(self, x, how="twice"):
        self.calls.append(("double", x.tolist(), how))
        x *= 2

    def send(self, x, dest, out=None):
        self.calls.append(("send", dest, out))

    def group(self, *calls):
        for method, *args in calls:
            method(*args)

    def private(self):
        raise AssertionError("kernels do not call this")


def arguments(**more):
    found = {"x": np.arange(1, 4, dtype=np.float32), "y": np.zeros(3, np.float32), "host": Host(), "n": 2}
    return {**found, "host.rank": 3, **more}


def lowered(function, graph="conditional", **options):
    args = arguments()
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    spec = specialise(function, {name: args[name] for name in names})
    return lower(function, spec, graph=graph, verify_ir=True, fuse="call", **options)[0]


def steps_of(plan):
    """Return a plan with the names of calls."""
    return [
        step.method if isinstance(step, ir.HostStep)
        else step if isinstance(step, int)
        else [steps_of(inner) for inner in step.plans]
        for step in plan
    ]  # fmt: skip


# ---- the place of a call


def apart(x: Vector, y: Vector, host: Host):
    for i in x:
        x[i] += 1.0
    host.double(x)
    for i in x:
        y[i] = x[i]


def neighbours(x: Vector, y: Vector):
    for i in x:
        x[i] += 1.0
    for i in x:
        y[i] = x[i]


def test_loops_with_a_call_between_them_are_not_fused():
    assert steps_of(lowered(neighbours).plan) == [0]
    assert steps_of(lowered(apart).plan) == [0, "double", 1]


def value_before(x: Vector, y: Vector, host: Host):
    before = x[0]
    host.double(x)
    after = x[0]
    for i in y:
        y[i] = 100.0 * before + after


@pytest.mark.parametrize("as_tasks", [False, True])
@pytest.mark.parametrize(("function", "expected"), [(apart, [4, 6, 8]), (value_before, [102] * 3)])
def test_values_are_read_on_their_side_of_the_call(function, expected, as_tasks):
    args, program = arguments(), lowered(function)
    what = program if as_tasks else program.kernel
    interpret(what, args, args, objects=args)
    assert args["y"].tolist() == expected


def in_control_flow(x: Vector, y: Vector, host: Host, n: cg.i32):
    for i in x:
        y[i] = 0.0
    while cg.graph_while(y[0] < 20.0):
        for i in x:
            y[i] += x[i]
        host.double(y)
        if cg.graph_if(y[0] > 10.0):
            host.send(x, n + 1)
        else:
            host.group((host.send, y, n), (host.double, x, "again"))
    host.send(y, host.rank * 2 - 1, out=y)


def test_calls_stand_in_control_flow_and_run_in_the_order_of_the_source():
    for graph in ("conditional", "host", "embedded"):
        args, program = arguments(), lowered(in_control_flow, graph)
        assert steps_of(program.plan) == [0, 1, [[2, "double", 3, [["send"], ["group"]], 4]], "send"]
        if graph == "host":  # its conditions are in memory, which the host reads
            continue
        interpret(program, args, args, objects=args)
        names = [call[0] for call in args["host"].calls]
        assert names == ["double", "send", "double"] * 2 + ["double", "send", "send"]
        assert args["host"].calls[-1][:2] == ("send", 5) and args["host"].calls[-1][2] is args["y"]
        plain = arguments()
        interpret(program.kernel, plain, plain, objects=plain)
        assert str(plain["host"].calls) == str(args["host"].calls)


def test_an_optional_argument_has_the_value_of_its_default():
    (call,) = [step for step in lowered(apart).plan if isinstance(step, ir.HostStep)]
    assert call.args == (("array", "x", "f32", 1, ()), ("constant", "twice"))


def test_the_printed_ir_has_the_call_and_its_arguments():
    text = printer.text(lowered(in_control_flow).kernel)
    assert "host call host.double(y, 'twice')" in text
    assert "host call host.group((.send, y, n), (.double, x, 'again'))" in text


# ---- resident tasks


def before_a_loop(x: Vector, y: Vector, host: Host):
    host.double(x)
    while cg.graph_while(x[0] < 20.0):
        for i in x:
            x[i] += 1.0
    host.double(x)


def test_a_loop_beside_calls_is_resident_and_a_loop_around_a_call_is_not():
    kinds = [type(step) for step in lowered(before_a_loop, "resident").plan]
    assert kinds == [ir.HostStep, ir.Resident, ir.HostStep]
    with pytest.raises(CompileResidentError, match=r"host\.double is a node of the graph"):
        lowered(in_control_flow, "resident")
    args = arguments()
    spec = specialise(in_control_flow, {name: args[name] for name in ("x", "y", "host", "n")})
    artifact = compile_kernel(in_control_flow, spec, X86(), graph="resident or conditional", chain="light")
    assert artifact.lowering == "conditional" and "node of the graph" in artifact.why


# ---- loops of the host


def straight(x: Vector, y: Vector, host: Host):
    while cg.graph_while(x[0] < 20.0):
        for i in x:
            x[i] += 1.0
        host.double(x)


def with_blocks(x: Vector, y: Vector, host: Host):
    while cg.graph_while(x[0] < 20.0):
        for _, t in cg.blocks(2, 32):
            x[t % 3] = 21.0
        host.double(x)


def test_the_host_may_begin_passes_of_straight_bodies_in_advance():
    kinds = [step.kind for step in lowered(straight, "host").plan if isinstance(step, ir.Branch)]
    assert kinds == ["repeated"]
    for function in (in_control_flow, with_blocks):
        kinds = [step.kind for step in lowered(function, "host").plan if isinstance(step, ir.Branch)]
        assert kinds == ["while"]
    assert [s.kind for s in lowered(straight).plan if isinstance(s, ir.Branch)] == ["while"]


def test_a_task_of_such_a_body_does_nothing_once_the_condition_is_0():
    program = lowered(straight, "host")
    (loop,) = [step for step in program.plan if isinstance(step, ir.Branch)]
    numbers = list(ir.tasks_of(loop.plans[0]))
    assert len(numbers) == 2
    for number in numbers:
        task = program.tasks[number]
        stored = [each for each in ir.walk(task.body) if isinstance(each, ir.Store)]
        assert stored  # at the end of an If, or in a loop with an end that the condition selects
        if task.loop is None:
            assert all(isinstance(each, (ir.Load, ir.Op, ir.If)) for each in task.body.body)
        else:
            assert task.loop.axes[0].end.name == "select"


# ---- the artifact


def test_the_cache_on_disk_keeps_the_calls_and_knows_the_methods_of_the_class():
    args = arguments()
    spec = specialise(in_control_flow, {name: args[name] for name in ("x", "y", "host", "n")})
    artifact = compile_kernel(in_control_flow, spec, X86(), graph="conditional")
    _, functions = fingerprint(in_control_flow, spec, X86())
    assert decoded(encoded(artifact, functions), functions).plan == artifact.plan

    class Other(Host):
        def double(self, x, how="thrice"):
            pass

    def digest(cls):
        found = Fingerprint()
        found.add(HostObjectSpec(cls))
        return found.digest()

    assert digest(Host) == digest(Host) != digest(Other)


# ---- errors, with the line of the call


def unknown(x: Vector, host: Host):
    host.triple(x)


def not_for_kernels(x: Vector, host: Host):
    host.private()


def too_many(x: Vector, host: Host):
    host.double(x, "a", "b")


def element(x: Vector, host: Host):
    host.double(x[0])


def in_a_loop(x: Vector, host: Host):
    for _ in x:
        host.double(x)


def in_a_plain_if(x: Vector, host: Host):
    if x[0] > 0.0:
        host.double(x)


def in_an_expression(x: Vector, y: Vector, host: Host):
    y[0] = 1.0 + host.double(x)


def number_of_the_device(x: Vector, host: Host):
    host.send(x, cg.cast(x[0], cg.i32))


def in_a_section(x: Vector, host: Host):
    with cg.graph_parallel():  # noqa: SIM117  each is a statement of its own
        with cg.graph_section():
            host.double(x)


WRONG = {
    unknown: (CompileNameError, "host.triple does not exist: host is a Host"),
    not_for_kernels: (CompileNameError, "host.private is not for kernels"),
    too_many: (CompileArgumentError, "host.double: too many positional arguments"),
    element: (CompileTypeError, "host.double gets an element of 'x'"),
    in_a_loop: (CompileSyntaxError, "host.double is not at the kernel top level"),
    in_a_plain_if: (CompileSyntaxError, "host.double is not at the kernel top level"),
    in_an_expression: (CompileSyntaxError, "host.double returns nothing in a kernel"),
    number_of_the_device: (CompileTypeError, "host.send gets a number that is known on the device only"),
    in_a_section: (CompileSectionError, "host.double is in a section"),
}


@pytest.mark.parametrize("function", WRONG, ids=lambda function: function.__name__)
def test_wrong_calls_are_refused_with_their_line(function):
    kind, words = WRONG[function]
    with pytest.raises(kind, match=words) as caught:
        lowered(function)
    text = str(caught.value)
    assert "test_host_calls.py" in text and "host." in text.split("\n", 1)[1]


def test_a_kernel_that_is_no_graph_kernel_refuses_the_call():
    with pytest.raises(CompileSyntaxError, match="no graph kernel"):
        lowered(apart, None)


class Method:
    """A method of a host object, as communicators have them."""

    def __cuda_graph_check__(self, args):
        pass

    def __cuda_graph_emit__(self, node, args):
        pass


class Outside:
    double = Method()


outside = Outside()


def test_an_object_that_is_no_parameter_is_refused():
    def kernel(x: Vector):
        for i in x:
            x[i] += 1.0
        outside.double(x)

    with pytest.raises(
        CompileSyntaxError, match=r"outside\.double belongs to an object from outside"
    ) as caught:
        lowered(kernel)
    assert "pass the object as a parameter" in str(caught.value)


def test_a_kernel_with_checkpoints_refuses_the_call():
    def kernel(x: Vector, host: Host):
        with cg.checkpoint(1):
            for i in x:
                x[i] += 1.0
        host.double(x)

    with pytest.raises(CompileCheckpointError, match=r"host\.double is in a kernel with checkpoints"):
        lowered(kernel, checkpoints=True)


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("mode", ["reverse", "forward", "plan"])
def test_a_gradient_is_refused_at_the_call(mode):
    x = cg.ndarray(cg.f32, 3, needs_grad=True)
    spec = specialise(apart, {"x": x, "y": x, "host": Host()})
    with pytest.raises(CompileGradientError, match="the call of an object of the host has no gradient"):
        lower(apart, spec, graph="host", mode=mode)


def test_the_verifier_finds_a_call_in_a_loop():
    kernel = lowered(apart).kernel
    call = next(each for each in kernel.body.body if isinstance(each, ir.HostCall))
    loop = next(each for each in kernel.body.body if isinstance(each, ir.For))
    wrong = ir.replace(loop, body=ir.Block([*loop.body.body, call]))
    body = [wrong if each is loop else each for each in kernel.body.body if each is not call]
    with pytest.raises(IRError, match="law 8: only Conditionals may surround it"):
        verify(ir.replace(kernel, body=ir.Block(body)))
