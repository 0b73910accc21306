# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The compilation pipeline, from a function to code.

The frontend infers types, inlines functions and unrolls static loops: from there on every value has a type. Then the
passes run in the order of the list. From `offload` on the program consists of tasks. The emitter of the target writes
LLVM's text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from cuda_graphs.compiler.codegen.ptx.ptx_target import Ptx
from cuda_graphs.compiler.codegen.x86.x86_target import X86
from cuda_graphs.compiler.frontend.free_values import FreeValues, of_the_program
from cuda_graphs.compiler.frontend.translate import translate
from cuda_graphs.compiler.ir import ir, printer
from cuda_graphs.compiler.ir.verifier import verify
from cuda_graphs.compiler.language.annotations import Spec
from cuda_graphs.compiler.language.lowerings import CHOICES, IN_MEMORY, LOWERINGS
from cuda_graphs.compiler.language.number_rules import USUAL, NumberRules
from cuda_graphs.compiler.passes.alias_classes import assign_alias_classes
from cuda_graphs.compiler.passes.check_sections import check_sections, disjoint_arrays, span
from cuda_graphs.compiler.passes.conditions_in_memory import conditions_in_memory
from cuda_graphs.compiler.passes.debug import check_bounds, without_asserts
from cuda_graphs.compiler.passes.demote_atomics import demote_atomics
from cuda_graphs.compiler.passes.fuse_tasks import NOTHING_AGAIN, Limits, fuse_tasks
from cuda_graphs.compiler.passes.fuse_tests import fuse_tests
from cuda_graphs.compiler.passes.gather_additions import Prices, gather_additions
from cuda_graphs.compiler.passes.limit_loops import limit_loops
from cuda_graphs.compiler.passes.limit_recursion import limit_recursion
from cuda_graphs.compiler.passes.lower_random import lower_random
from cuda_graphs.compiler.passes.make_resident import make_resident
from cuda_graphs.compiler.passes.mark_bins import mark_bins
from cuda_graphs.compiler.passes.mask_loops import mask_loops
from cuda_graphs.compiler.passes.offload import offload
from cuda_graphs.compiler.passes.privatise_atomics import privatise_atomics
from cuda_graphs.compiler.passes.propagate import propagate
from cuda_graphs.compiler.passes.report import AssertInfo, report_asserts
from cuda_graphs.compiler.passes.split_at_barriers import split_at_barriers
from cuda_graphs.compiler.passes.stop_loops import stop_loops
from cuda_graphs.native import llvm, trace

from .artifact import (
    Artifact,
    GradientInfo,
    Result,
    StackInfo,
    describe,
    describe_resident,
    exchanged_in,
    plan_of,
    size_of,
)
from .errors import CompileResidentError

__all__ = ["LOWERINGS", "MODES", "PASSES", "compile_kernel", "generate", "lower"]

# The first pass: with debug, and without.
DEBUG: dict[bool, Pass] = {
    True: (check_bounds, "each index is compared with its extent"),
    False: (without_asserts, "asserts are for debugging"),
}

# mode -> (function of autodiff/, description). A mode replaces the kernel. Only these modes import autodiff/. A mode
# with the number of a part, as in "reverse:3", replaces this part of the kernel.
MODES = {
    "plan": ("plan", "the order of the parts of a graph kernel"),
    "part": ("part", "the statements between two conditionals of a graph kernel"),
    "reverse": ("gradient", "its gradient"),
    "size": ("sizing", "a kernel that computes the capacities of the stacks where arrays determine them"),
    "count": ("counting", "a kernel that counts the capacities of the stacks of its gradient"),
    "forward": ("tangent", "the kernel, together with its action on dual numbers"),
    "second": ("second", "its gradient, together with its action on dual numbers"),
    "constant": ("constant", "the kernel with its action on dual numbers, if it reads only constants"),
}
GRADIENTS = ("reverse", "second")  # modes with a GradientInfo
EFFECTLESS = ("reverse", "count", "second")  # modes that write no arrays of the kernel and check nothing

Pass = tuple[Callable[..., Any], str]

PASSES: tuple[Pass, ...] = (
    (limit_recursion, "functions that call themselves count how deep they are"),
    (limit_loops, "loops between tasks count their iterations, if their number has a limit"),
    (check_sections, "sections that may run at the same time are independent of each other, or refused"),
    (lower_random, "random numbers are operations on counters, the same on all machines"),
    (
        propagate,
        "locals that are written once become their values, and constants are folded, so that bounds are visible",
    ),
    (gather_additions, "each iteration of a gradient sums up what is added to its own element"),
    (
        demote_atomics,
        "atomics on an element of one iteration alone become plain, so that loops vectorise",
    ),
    (
        offload,
        "parallel loops and the code between them become tasks, which read the bounds of their loops themselves",
    ),
    (fuse_tasks, "neighbouring tasks over the same elements become one pass over memory"),
    (privatise_atomics, "each thread first accumulates its contributions to an element of all iterations"),
    (
        mark_bins,
        "each chunk of a CPU loop first accumulates its own contributions to elements of a small array",
    ),
    (assign_alias_classes, "tasks record which arrays may be the same memory, so that LLVM need not check"),
    (
        split_at_barriers,
        "code between barriers becomes regions, which each thread of a block executes alone",
    ),
)


def lower(
    function: Callable[..., Any],
    signature: Mapping[str, Spec],
    *,
    debug: bool = False,
    verify_ir: bool = False,
    graph: str | None = None,
    chain: str | None = None,
    fuse: str | None = None,
    contracts: bool = False,
    most_again: Limits = NOTHING_AGAIN,
    prices: Prices | None = None,
    mode: str | None = None,
    checkpoints: bool = False,
    rules: NumberRules = USUAL,
    finds_overflow: bool | None = None,
    exchanges: tuple[str, ...] = (),
    early: tuple[str, ...] | None = None,
    has_warps: bool = False,
) -> tuple[ir.Program, FreeValues]:
    """Return the function as tasks, and the free values that it depends on: {function: {name: value}}.

    `debug` keeps asserts, checks indices, and checks integer results unless `finds_overflow` is False. `graph`, one of
    LOWERINGS, is for graph kernels. With `chain`, consecutive tasks become one launch: "all" tasks, or only "light"
    ones. `fuse`, one of FUSIONS, fuses neighbouring tasks, but not those of a mode; `contracts` is True if the code
    generator may contract floats; `most_again` is the work that an iteration may do again; with
    `prices`, gradients with `fuse` have sums in place of scattered additions. `mode`, one of MODES, is for
    gradients. `checkpoints` is for kernels that have checkpoints. `rules` are those for numbers of the source.
    `exchanges` are the objects whose all_reduce may be inside a resident loop. `early` makes all tasks early, and names
    the arrays that they may read before they wait. `has_warps`: warps of a block may go different ways. `verify_ir`,
    like CUDA_GRAPHS_DEBUG=2, checks the IR's laws
    after each pass (verifier.py).
    """
    with trace.timed("frontend"):
        kernel, free_values = translate(
            function,
            dict(signature),
            graph,
            checkpoints,
            rules,
            debug if finds_overflow is None else finds_overflow,
            mode is None,
        )
    show("frontend", "types are inferred, functions inlined, static loops unrolled", kernel, verify_ir)
    found: Any = kernel
    if mode is not None:
        from . import autodiff

        name, number = split_mode(mode)
        make, why = MODES[name]
        with trace.timed("gradient"):
            found = propagate(without_asserts(kernel) if name in EFFECTLESS else kernel)
            if number is not None:
                found = autodiff.part(found, number)
            if name != "part":
                found = getattr(autodiff, make)(found)
        show(mode, why, found, verify_ir)
    compared = {"fuse": fuse if mode is None else None}
    is_reverse = mode is not None and split_mode(mode)[0] == "reverse"
    options: dict[Any, dict[str, Any]] = {
        demote_atomics: compared,
        gather_additions: {"prices": prices if fuse is not None and is_reverse else None},
        fuse_tasks: {"fuse": fuse, "contracts": contracts, "most_again": most_again},
        privatise_atomics: compared,
        split_at_barriers: {"agrees": rules.agrees, "has_warps": has_warps},
    }
    for step, why in (DEBUG[debug], *PASSES):
        if step is fuse_tasks and (fuse is None or mode is not None):
            continue
        with trace.timed(step.__name__):
            found = step(found, **options.get(step, {}))
        show(step.__name__, why, found, verify_ir)
    # A host object ends the loops of its graphs. Loops of the host end by the exceptions of its calls.
    own = graph == "embedded" or (graph != "host" and has_host_calls(found.plan))
    found = stop_loops(found, own)
    show("stop_loops", "the launching code can end loops", found, verify_ir)
    if graph in IN_MEMORY:
        found = conditions_in_memory(found)
        show("conditions_in_memory", "conditions are read where they are needed", found, verify_ir)
    if graph == "host" and has_host_calls(found.plan):
        found = mask_loops(found)
        show(
            "mask_loops",
            "the host may begin iterations before it knows whether they are needed",
            found,
            verify_ir,
        )
    waits = early is not None or graph not in (None, "host")
    found = ir.replace(found, early=waits, early_loads=frozenset(early or ()))
    if graph == "conditional" and not chain:
        found = fuse_tests(found)
        show("fuse_tests", "the test of a loop is in the last task of its body", found, verify_ir)
    if graph == "resident" or chain:
        found = make_resident(found, graph == "resident", chain, exchanges)
        show("make_resident", "tasks become one launch, whose threads stay", found, verify_ir)
    return found, free_values


def split_mode(mode: str) -> tuple[str, int | None]:
    """Return the name of a mode, and the number of the part that it is for, or None for the whole kernel."""
    name, _, number = mode.partition(":")
    return name, int(number) if number else None


def show(step: str, why: str, found: ir.Kernel | ir.Program, verify_ir: bool) -> None:
    """Print the result of a step if CUDA_GRAPHS_DEBUG asks for it, and check its laws."""
    trace.show(trace.PASSES, f"{step}: {why}")
    if trace.level() >= trace.IR:
        trace.show(trace.IR, f"IR after {step}", printer.text(found))
    if verify_ir or trace.level() >= trace.PASSES:
        verify(found)


def compile_kernel(
    function: Callable[..., Any],
    signature: Mapping[str, Spec],
    target: X86 | Ptx,
    *,
    debug: bool = False,
    verify_ir: bool = False,
    reports: bool = False,
    graph: str | None = None,
    chain: str | None = None,
    fuse: str | None = None,
    mode: str | None = None,
    checkpoints: bool = False,
    rules: NumberRules = USUAL,
    exchanges: tuple[str, ...] = (),
    early: tuple[str, ...] | None = None,
) -> Artifact:
    """Return the code of one specialisation of a kernel for one target.

    Args:
        signature: The Spec of each parameter by name (signature.py makes it from arguments).
        debug: True keeps asserts and compares each index with its extent.
        reports: True records a failed assertion for the caller (passes/report.py). Otherwise a failed assertion of
            debug code ends the launch as the driver does that.
        graph: For graph kernels, one of LOWERINGS or CHOICES.
        chain: Makes consecutive tasks one launch: "all" tasks, or only "light" ones.
        fuse: Fuses neighbouring tasks: one of FUSIONS.
        mode: For gradients, one of MODES.
        checkpoints: True for graph kernels that have checkpoints.
        rules: The rules for numbers of the source.
        exchanges: The paths of objects of the host whose small `all_reduce` a GPU may do inside a resident loop.
        early: Makes entries for programmatic edges: they may begin before the kernels that they follow have ended, and
            read these arrays, by path, before they wait.

    Raises:
        CompileError: The kernel contains an unsupported construct. The error has the source position and a remedy.
    """
    llvm.preload()
    options = {
        "debug": debug,
        "verify_ir": verify_ir,
        "fuse": fuse,
        "contracts": target.fast_math,
        "most_again": target.most_again,
        "prices": target.prices,
        "mode": mode,
        "checkpoints": checkpoints,
        "rules": rules,
        "exchanges": exchanges if target.name == "ptx" else (),
        "early": early,
        "has_warps": target.name == "ptx",
    }
    graph, why, (program, free_values) = choose_lowering(function, signature, graph, chain, options)
    asserts: tuple[AssertInfo, ...] = ()
    if reports or not debug:  # without debug, only limits of recursion are left
        program, asserts = report_asserts(program)
        show("report_asserts", "a failed assertion is recorded for the caller", program, verify_ir)
    return replace(
        generate(program, target, free_values),
        asserts=asserts,
        lowering=actual_lowering(program.plan, graph),
        why=why,
        gradient=gradient_info(program, target) if mode and split_mode(mode)[0] in GRADIENTS else None,
        parts=program.kernel.parts,
    )


LOC_FIELDS = ("file", "line", "column", "end_column", "function")  # fields of an ir.Loc


def gradient_info(program: ir.Program, target: X86 | Ptx) -> GradientInfo:
    """Return the description of a gradient besides its code."""
    users: dict[ir.Array, set[int]] = {}
    for number, task in enumerate(program.tasks):
        for statement in ir.walk(task.body):
            users.setdefault(getattr(statement, "array", None), set()).add(number)  # type: ignore[arg-type]
    stacks = tuple(
        StackInfo(
            stack.array.path,
            stack.array.element.size * (1 + stack.with_duals),
            tuple(sorted(users.get(stack.array, ()))),
            max((target.workers(program.tasks[number]) for number in users.get(stack.array, ())), default=1),
            stack.capacity,
            None if stack.loc is None else tuple(getattr(stack.loc, name) for name in LOC_FIELDS),
        )
        for stack in program.kernel.stacks
    )
    arrays = tuple(
        (each.path, each.element.size * math.prod(each.inner), each.ndim - len(each.inner))
        for each in program.kernel.arrays
        if each.space is ir.Space.PARAM
    )
    kernel = program.kernel
    return GradientInfo(stacks, arrays, kernel.overwrites, kernel.repeats, kernel.gathered)


def actual_lowering(plan: ir.Plan, graph: str | None) -> str | None:
    """Return the actual lowering of a kernel, given the requested one."""
    if graph not in ("conditional", "resident"):
        return graph
    stay = any(isinstance(step, ir.Resident) for step in plan)
    return "resident" if stay and not any(isinstance(step, ir.Branch) for step in plan) else "conditional"


def choose_lowering(
    function: Callable[..., Any],
    signature: Mapping[str, Spec],
    graph: str | None,
    chain: str | None,
    options: Mapping[str, Any],
) -> tuple[str | None, str, tuple[ir.Program, FreeValues]]:
    """Return the lowering, the reason why it is not the first choice, and the result of `lower`."""
    if graph not in CHOICES:
        return graph, "", lower(function, signature, graph=graph, chain=chain, **options)
    try:
        found = lower(function, signature, graph="resident", chain=chain, **options)
    except CompileResidentError as error:
        if chain == "light":
            return choose_lowering(function, signature, graph, None, options)
        if chain is not None:  # the user asked for it, and gets an error if the tasks cannot share a launch
            return (
                CHOICES[graph],
                error.cause,
                lower(function, signature, graph=CHOICES[graph], chain=chain, **options),
            )
        why = error.cause
    else:
        if not has_sections(found[0].plan):
            return "resident", "", found
        why = "sections in loops are branches of a graph"
    return CHOICES[graph], why, lower(function, signature, graph=CHOICES[graph], **options)


def has_host_calls(plan: ir.Plan) -> bool:
    """Return whether host objects add nodes. These may give up waiting, and other code must then end the loops."""
    return any(isinstance(step, ir.HostStep) for step in ir.all_steps(plan))


def has_sections(plan: ir.Plan) -> bool:
    """Return whether a resident launch contains sections, which then do not run at the same time."""
    stay = [step.plan for step in plan if isinstance(step, ir.Resident)]
    return any(isinstance(step, ir.Fork) for inner in stay for step in ir.all_steps(inner))


def generate(program: ir.Program, target: X86 | Ptx, free_values: FreeValues) -> Artifact:
    """Return the artifact of a program."""
    with trace.timed("emission"):
        text = target.module(program)
    code = target.code(text)
    tasks = tuple(
        describe_resident(step, program.tasks)
        if isinstance(step, ir.Resident)
        else describe(program.tasks[step])
        for step in ir.steps_of(program.plan)
    )
    return Artifact(
        target.name,
        code,
        target.image(code, tasks),
        tasks,
        plan_of(program.plan),
        tuple((temp.path, size_of(temp)) for temp in program.temps),
        tuple(Result(array.path, array.element) for array in program.results),
        of_the_program(free_values),
        text,
        disjoint=disjoint_arrays(program.kernel),
        apart=tuple((span(one), span(other)) for one, other in program.apart),
        equal=program.equal,
        large_loops=program.large_loops,
        fusion=program.fusion,
        again=program.again,
        checkpoints=program.kernel.checkpoints,
        early=target.is_early(program),
        stack_bytes=program.kernel.stack_bytes,
        exchanged=exchanged_in(program.plan),
    )
