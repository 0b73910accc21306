# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: `cg.set_condition` sets a condition parameter in the interpreter, in PTX and on x86, in each lowering."""

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.compiler.codegen.ptx.ptx_target import Ptx
from cuda_graphs.compiler.codegen.x86.x86_target import X86
from cuda_graphs.compiler.ir.interpreter import interpret
from cuda_graphs.compiler.language import intrinsics
from cuda_graphs.compiler.language.annotations import ArraySpec, ConditionSpec, ScalarSpec
from cuda_graphs.compiler.pipeline import generate, lower

SPECS = {"c": ConditionSpec(), "x": ArraySpec(cg.f32, 1), "n": ScalarSpec(cg.i64)}
LOWERINGS = [None, "conditional", "resident", "host"]


def in_a_loop(c: cg.Condition, x: cg.types.ndarray(cg.f32, ndim=1), n: cg.i64):
    for i in x:
        if x[i] > 2:
            cg.set_condition(c, n)


def after_a_loop(c: cg.Condition, x: cg.types.ndarray(cg.f32, ndim=1), n: cg.i64):
    for i in x:
        x[i] += 1
    cg.set_condition(c, x[0] > n)


def keep(c: cg.Condition, x: cg.types.ndarray(cg.f32, ndim=1), n: cg.i64):
    intrinsics.keep_condition(c, x[0] > n)


def interpreted(function, lowering, values, n):
    program, _ = lower(function, SPECS, graph=lowering, verify_ir=True)
    arrays = {"c": np.array(77, "u4"), "x": np.array(values, "f")}
    interpret(program, arrays, {"n": n})
    return int(arrays["c"])


@pytest.mark.parametrize("lowering", LOWERINGS)
def test_the_interpreter_writes_the_u32_of_the_value(lowering):
    assert interpreted(in_a_loop, lowering, [1, 2, 3], 5) == 5
    assert interpreted(in_a_loop, lowering, [1, 2, 2], 5) == 77
    assert interpreted(in_a_loop, lowering, [3], 1 << 32) == 2**32 - 1
    assert interpreted(after_a_loop, lowering, [1], 1) == 1
    assert interpreted(after_a_loop, lowering, [1], 2) == 0
    assert interpreted(keep, lowering, [3], 2) == 77
    assert interpreted(keep, lowering, [2], 2) == 0


@pytest.mark.parametrize("lowering", LOWERINGS)
@pytest.mark.parametrize(
    ("target", "call"), [(Ptx("sm_90"), "cudaGraphSetConditional"), (X86(), "cgh_set_conditional")]
)
@pytest.mark.parametrize("function", [in_a_loop, after_a_loop, keep])
def test_both_targets_call_the_driver_with_an_8_byte_handle(function, target, call, lowering):
    program, free_values = lower(function, SPECS, graph=lowering)
    artifact = generate(program, target, free_values)
    slots = [slot for task in artifact.tasks for slot in task.slots if slot.kind == "condition"]
    assert [(slot.path, slot.size) for slot in slots] == [("c", 8)]
    assert f"call void @{call}(" in artifact.llvm
