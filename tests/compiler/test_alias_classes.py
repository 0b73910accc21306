# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws: two arrays may alias exactly where the language says so; LLVM gets these facts and uses them; and the code
assumes nothing about arrays that share memory."""

import itertools
import re

import numpy as np
import pytest

from cuda_graphs.compiler.codegen.x86.x86_target import X86
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir import types as t
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.passes.alias_classes import assign_alias_classes, may_alias
from cuda_graphs.compiler.pipeline import generate, lower
from cuda_graphs.native import llvm
from tests.compiler.rig import Field, function_of, ptx_target

ARRAYS = {
    "x": ir.Array("x", t.f32, 1),
    "y": ir.Array("y", t.f32, 2),
    "of vectors": ir.Array("v", t.f32, 2, inner=(3,)),
    "n": ir.Array("n", t.i32, 1),
    "field": ir.Array("field", t.f32, 1, ir.Space.FIELD, (4,)),
    "other field": ir.Array("other", t.f32, 1, ir.Space.FIELD, (4,)),
    "temporary": ir.Array("s.0", t.f32, 0, ir.Space.TEMP, ()),
    "other temporary": ir.Array("s.1", t.f32, 0, ir.Space.TEMP, ()),
    "a field called as a temporary": ir.Array("s.0", t.f32, 0, ir.Space.FIELD, ()),
    "shared": ir.Array("shared", t.f32, 1, ir.Space.SHARED, (4,)),
}
PARAMETERS = {"x", "y", "of vectors"}
FIELDS = {"field", "other field", "a field called as a temporary"}


@pytest.mark.parametrize(("a", "b"), list(itertools.product(ARRAYS, ARRAYS)))
def test_aliasing_is_as_the_language_says(a, b):
    together = {a, b} <= PARAMETERS | FIELDS and not {a, b} <= FIELDS
    wanted = a == b or together
    assert may_alias(ARRAYS[a], ARRAYS[b]) == wanted


def test_tasks_say_the_alias_classes_that_arrays_share():
    program = ir.Program(
        ir.Kernel("k", (), tuple(ARRAYS.values()), ir.Block()), (ir.Task("k_0", ir.Block(), None),), (0,)
    )
    (task,) = assign_alias_classes(program).tasks
    said = {name: task.alias_classes.get(array) for name, array in ARRAYS.items()}
    assert said["x"] == said["y"] == said["of vectors"] == ("f32",)
    assert said["n"] == ("i32",)
    assert said["field"] == ("f32", "field")
    assert said["temporary"] == ("temporary", "s.0")
    assert said["shared"] is None


def code(source, target, **arguments):
    kernel = function_of(source, table=Field(np.zeros(64, "i4"), "table"))
    program, _ = lower(kernel, specialise(kernel, arguments), verify_ir=True)
    return generate(program, target, {}).llvm


LOOP = """
def k(x: ndarray({kind}, 1), y: ndarray(i32, 1), n: i32):
    cg.loop_config(serialize=True)
    for j in range(n):
        {target}[j] += cg.bit_cast({source}[0], cg.i32)
"""
# elements of x, what is read in a loop that writes to what, whether they may be the same memory
LOOPS = [
    ("f32", "x", "y", False),
    ("i32", "x", "y", True),
    ("i32", "x", "table", True),
    ("i32", "table", "y", True),
    ("f32", "x", "table", False),
]


@pytest.mark.parametrize(("kind", "source", "target", "may"), LOOPS)
def test_llvm_asks_at_run_time_only_where_arrays_may_be_the_same_memory(kind, source, target, may):
    arguments = {"x": np.zeros(3, kind.replace("32", "4")), "y": np.zeros(3, "i4"), "n": 3}
    text = code(LOOP.format(kind=kind, source=source, target=target), X86(), **arguments)
    assert ("memcheck" in str(llvm._optimised(text, llvm.this_cpu()))) == may
    untold = re.sub(r", !tbaa !\d+", "", text)
    assert "memcheck" in str(llvm._optimised(untold, llvm.this_cpu()))


def test_a_gpu_is_told_too():
    arguments = {"x": np.zeros(3, "f4"), "y": np.zeros(3, "i4"), "n": 3}
    text = code(LOOP.format(kind="f32", source="x", target="y"), ptx_target(), **arguments)
    tags = dict(re.findall(r"(load \w+|store \w+), .*!tbaa (!\d+)", text))
    assert tags["load float"] != tags["load i32"]
    assert len(tags) >= 2


def test_arrays_of_one_type_are_not_assumed_to_differ():
    text = code(
        "def k(a: ndarray(i32, 1), b: ndarray(i32, 1)):\n    a[0] = 1\n    b[0] = 2\n    b[1] = a[0]\n", X86(),
        a=np.zeros(2, "i4"), b=np.zeros(2, "i4"),
    )  # fmt: skip
    stores = re.findall(r"store i32 .*!tbaa (!\d+)", text)
    assert len(set(stores)) == 1
