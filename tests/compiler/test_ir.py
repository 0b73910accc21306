# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the IR: the checker finds what breaks one, the printer says what there is, passes keep the meaning."""

import re

import numpy as np
import pytest

from cuda_graphs.compiler import compile_kernel
from cuda_graphs.compiler.codegen.ptx.ptx_target import Ptx
from cuda_graphs.compiler.codegen.x86.x86_target import X86
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir import types as t
from cuda_graphs.compiler.ir.interpreter import interpret
from cuda_graphs.compiler.ir.printer import text
from cuda_graphs.compiler.ir.verifier import IRError, verify
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.pipeline import PASSES, lower
from tests.compiler.rig import cg, run_all

X, M, OTHER = ir.Array("x", t.f32, 1), ir.Array("m", t.i32, 2), ir.Array("other", t.f32, 1)
N, A = ir.Param("n", t.i32), ir.Param("a", t.f32)
ZERO, ONE, HALF = ir.Const(0, t.i32), ir.Const(1, t.i32), ir.Const(0.5, t.f32)


def kernel(*body, returns=()):
    return ir.Kernel("k", (N, A), (X, M), ir.Block(list(body)), returns)


def loop(*body, parallel=False, begin=ZERO, end=N, step=1):
    index = ir.LoopIndex("i", begin.type)
    return ir.For(
        (ir.Axis(index, begin, end, step),),
        ir.Block([s(index) if callable(s) else s for s in body]),
        parallel,
    )


ADD = ir.Op("add", (N, ONE), t.i32)
LOAD = ir.Load(X, (ZERO,))
LOCAL, FLAG = ir.Local("v", t.i32), ir.Const(True, t.bool_)
GET = ir.Get(LOCAL)

# (number of the law, what breaks it)
CONDITION, UNSIGNED = ir.Condition("c"), ir.Const(1, t.u32)


def region(condition=None, *body):
    return ir.Conditional("while", condition or ir.Condition("r"), (ir.Block(list(body)),))


BROKEN = [
    (1, [ir.Store(M, (ADD, ZERO), ONE), ADD]),
    (1, [ir.If(FLAG, ir.Block([ADD]), ir.Block()), ir.Set(LOCAL, ADD)]),
    (1, [ir.Store(X, (ir.LoopIndex("i"),), HALF)]),
    (1, [ir.Set(LOCAL, ir.Param("stranger", t.i32))]),
    (2, [ADD, ADD]),
    (2, [ADD, ir.If(FLAG, ir.Block([ADD]), ir.Block())]),
    (3, [ir.Op("add", (N, A), t.i32)]),
    (3, [ir.Op("add", (N, ONE), t.f32)]),
    (3, [ir.Op("sin", (N,), t.i32)]),
    (3, [ir.Op("nonsense", (N,), t.i32)]),
    (3, [ir.Op("less", (N, ONE), t.i32)]),
    (4, [GET]),
    (4, [ir.If(FLAG, ir.Block([ir.Set(LOCAL, ONE)]), ir.Block()), GET]),
    (4, [ir.Set(LOCAL, HALF)]),
    (5, [ir.Load(M, (ZERO,))]),
    (5, [ir.Load(X, (HALF,))]),
    (5, [ir.Store(X, (ZERO,), ONE)]),
    (5, [ir.Atomic("and", X, (ZERO,), HALF)]),
    (5, [ir.Atomic("cas", M, (ZERO, ZERO), ONE)]),
    (5, [ir.Atomic("add", M, (ZERO, ZERO), ONE, ONE)]),
    (6, [loop(begin=HALF, end=HALF)]),
    (6, [loop(end=ir.Const(3, t.i64))]),
    (6, [loop(step=0)]),
    (6, [ir.If(ONE, ir.Block(), ir.Block())]),
    (6, [ir.While(ir.Block(), ONE, ir.Block())]),
    (6, [ir.Assert(ONE, ())]),
    (7, [ir.Break()]),
    (7, [ir.If(FLAG, ir.Block([ir.Continue()]), ir.Block())]),
    (7, [loop(ir.Break(), parallel=True)]),
    (8, [ir.If(FLAG, ir.Block([loop(parallel=True)]), ir.Block())]),
    (8, [loop(loop(parallel=True))]),
    (8, [loop(region())]),
    (8, [ir.If(FLAG, ir.Block([region()]), ir.Block())]),
    (8, [region(CONDITION), region(CONDITION)]),
    (8, [loop(ir.SetCondition(CONDITION, UNSIGNED), parallel=True)]),
    (8, [ir.SetCondition(CONDITION, ONE)]),
    (9, [region(CONDITION, ir.Return((N,)))]),
    (9, [ir.Return((N,)), ADD]),
    (9, [ir.If(FLAG, ir.Block([ir.Return((N,))]), ir.Block())]),
    (9, [ir.Return((A,))]),
    (9, []),
    (10, [ir.Load(OTHER, (ZERO,))]),
]


@pytest.mark.parametrize(("law", "body"), BROKEN, ids=[f"{law}-{i}" for i, (law, _) in enumerate(BROKEN)])
def test_the_checker_finds_what_breaks_a_law(law, body):
    returns = (t.i32,) if law == 9 else ()
    with pytest.raises(IRError, match=f"^law {law}: "):
        verify(kernel(*body, returns=returns))


def test_laws_of_programs_are_checked():
    par = loop(parallel=True)
    tasks = {
        "loop": ir.Task("a", ir.Block([ir.Set(LOCAL, ONE)]), par),
        "none": ir.Task("a", ir.Block([par]), None),
        "local": ir.Task("a", ir.Block([ir.Set(LOCAL, ONE), ir.Atomic("add", LOCAL, (), ONE)]), None),
        "return": ir.Task("a", ir.Block([ir.Return(())]), None),
    }
    for task in tasks.values():
        with pytest.raises(IRError, match="law 11"):
            verify(ir.Program(kernel(), (task,), (0,)))
    shared = [ir.Task(name, ir.Block([ir.Set(LOCAL, ONE)]), None) for name in "ab"]
    with pytest.raises(IRError, match="law 11: v is used by a and b"):
        verify(ir.Program(kernel(), tuple(shared), (0, 1)))
    one = (ir.Task("a", ir.Block(), None),)
    twice = (ir.Branch("while", ir.Condition("c"), ((0,),)), 0)
    namesakes = tuple(ir.Array("t.0", t.i32, 0, ir.Space.TEMP, ()) for _ in range(2))
    with pytest.raises(IRError, match="law 10: two temporaries have one name"):
        verify(ir.Program(kernel(), one, (0,), namesakes))
    for plan in ((), (0, 0), (1,), twice):
        with pytest.raises(IRError, match="law 11: the plan"):
            verify(ir.Program(kernel(), one, plan))
    with pytest.raises(IRError, match="law 11"):
        verify(ir.Program(kernel(), (ir.Task("a", ir.Block([region()]), None),), (0,)))


def test_program_that_obeys_the_laws_passes():
    body = [
        ir.Set(LOCAL, ONE),
        loop(ADD, lambda i: ir.Store(X, (i,), HALF), parallel=True),
        ir.While(ir.Block([GET]), FLAG, ir.Block([ir.Set(LOCAL, GET), ir.Break()])),
        ir.Return((N,)),
    ]
    verify(kernel(*body, returns=(t.i32,)))


def plain(x: cg.ndarray(cg.f32, 1), n: cg.i32) -> cg.i32:
    s = 0
    for i in range(n):
        if i > 2:
            x[i] = 1.5
        s += i
    while s > 100:
        s -= 1
    print("s", s)
    return s


KERNEL = """kernel plain(n: i32, x: f32[:]) -> i32
  set s = 0
  parallel for i in 0 : n
    %0 = greater i, 2 : bool
    if %0
      store x[i] = 1.5:f32
    %1 = atomic add s, i : i32
  while
    %2 = get s : i32
    %3 = greater %2, 100 : bool
  do if %3
    %4 = get s : i32
    %5 = sub %4, 1 : i32
    set s = %5
  %6 = get s : i32
  print 's', ' ', %6, '\\n'
  %7 = get s : i32
  return %7"""


def signature(function, **arguments):
    return specialise(function, arguments)


def test_the_printer_shows_a_kernel():
    program, _ = lower(plain, signature(plain, x=np.zeros(3, "f"), n=3))
    assert text(program.kernel) == KERNEL


def test_the_printer_shows_tasks_and_temporaries():
    program, _ = lower(plain, signature(plain, x=np.zeros(3, "f"), n=3))
    lines = text(program).split("\n")
    assert lines[0] == "temporary s.0: i32[]"
    assert "task plain_0_serial" in lines
    assert "task plain_1_loop" in lines
    assert any(re.fullmatch(r"    %\d+ = atomic add s.0\[\], %\d+ : i32", line) for line in lines)


# Tasks


def tasks(function, **arguments):
    program, _ = lower(function, signature(function, **arguments), verify_ir=True)
    return [("loop" if task.loop else "serial") for task in program.tasks]


def bounds(x: cg.ndarray(cg.f32, 1), y: cg.ndarray(cg.f32, 1), n: cg.ndarray(cg.i32, 0)):
    size = x.shape[0]
    for i in range(size):
        x[i] = i
    for i in range(n[()] - 1):
        y[i] = x[i]
    half = y.shape[0] // 2
    for i in range(half):
        y[i] += 1.0


def test_bounds_need_no_task_of_their_own():
    arguments = {"x": np.zeros(9, "f"), "y": np.zeros(9, "f"), "n": np.array(7, "i4")}
    assert tasks(bounds, **arguments) == ["loop"] * 3
    assert run_all(bounds, **arguments)["y"].tolist() == [1, 2, 3, 4, 4, 5, 0, 0, 0]


def own_bound(n: cg.ndarray(cg.i32, 1), m: cg.ndarray(cg.i32, 1)):
    for i in range(n[0]):
        m[i] = 0


def test_a_bound_that_the_loop_may_change_is_read_before_it():
    """The two arrays may be one."""
    arguments = {"n": np.array([3, 5, 7], "i4"), "m": np.ones(4, "i4")}
    assert tasks(own_bound, **arguments) == ["serial", "loop"]
    assert run_all(own_bound, **arguments)["m"].tolist() == [0, 0, 0, 1]


def between(x: cg.ndarray(cg.i32, 1)):
    x[0] = 5
    x[1] = x[0] + 1
    for i in range(2):
        x[2 + i] = x[1] + i
    x[0] = x[3]
    if x[0] > 6:
        for _ in range(3):
            x[0] += 1


def test_statements_between_loops_are_one_serial_task():
    assert tasks(between, x=np.zeros(4, "i4")) == ["serial", "loop", "serial"]
    assert run_all(between, x=np.zeros(4, "i4"))["x"].tolist() == [10, 6, 6, 7]


def axpy(
    x: cg.ndarray(cg.f32, 1), y: cg.ndarray(cg.f32, 1), z: cg.ndarray(cg.f32, 2), w: cg.ndarray(cg.i32, 1)
):
    for i in range(x.shape[0]):
        y[i] += 2.0 * x[i]
    for i, j in z:
        z[i, j] += 1.0
    for i in range(x.shape[0]):
        w[i // 2] += 1
    for i, j in z:
        y[i] += z[i, j]
    for i in range(x.shape[0] - 1):
        y[i] += x[i]
        y[i + 1] += x[i]


def test_only_elements_of_one_iteration_are_changed_without_atomics():
    arguments = {
        "x": np.ones(6, "f"),
        "y": np.ones(6, "f"),
        "z": np.ones((6, 2), "f"),
        "w": np.zeros(3, "i4"),
    }
    program, _ = lower(axpy, signature(axpy, **arguments))
    atomics = [any(isinstance(s, ir.Atomic) for s in ir.walk(task.body)) for task in program.tasks]
    assert atomics == [False, False, True, True, True]
    found = run_all(axpy, **arguments)
    assert found["y"].tolist() == [3 + 4 + 1] + [3 + 4 + 2] * 4 + [3 + 4 + 1]
    assert found["w"].tolist() == [2, 2, 2]


# Captured values, and the printed form


FACTOR = 3


def captured(out: cg.ndarray(cg.i32, 1)):
    out[0] = FACTOR
    out[1] = helper(2)


@cg.func
def helper(x):
    return x * OFFSET


OFFSET = 4


def test_captured_values_are_told():
    _, found = lower(captured, signature(captured, out=np.zeros(2, "i4")))
    assert found[captured]["FACTOR"] == 3
    assert found[helper.__cuda_graphs_func__]["OFFSET"] == 4


class Settings:
    dt, shape = 0.5, [2, 3]


WEIGHTS = [1, 2, 3]
settings = Settings()


def deep(out: cg.ndarray(cg.f32, 1), k: cg.template):
    out[0] = settings.dt * WEIGHTS[1]
    out[1] = cg.static(sum(w * settings.shape[0] for w in WEIGHTS))
    out[2] = k.dt


def test_attributes_and_what_containers_hold_are_captured_as_they_are_now():
    _, found = lower(deep, signature(deep, out=np.zeros(3, "f"), k=settings))
    assert found[deep]["settings.dt"] == 0.5
    assert found[deep]["settings.shape"] == [2, 3]
    assert found[deep]["WEIGHTS"] == WEIGHTS
    assert found[deep]["WEIGHTS"] is not WEIGHTS
    assert "k.dt" not in found[deep]
    assert run_all(deep, out=np.zeros(3, "f"), k=settings)["out"].tolist() == [1.0, 12.0, 0.5]


ABSENT, ASKED = None, []


def asked():
    ASKED.append(1)
    return settings


def careful(out: cg.ndarray(cg.f32, 1)):
    out[0] = cg.static(ABSENT.dt if ABSENT is not None else 7.0)
    out[1] = cg.static(asked().dt)


def test_static_reads_each_attribute_once_and_only_those_that_it_comes_to():
    ASKED.clear()
    _, found = lower(careful, signature(careful, out=np.zeros(2, "f")))
    assert ASKED == [1]
    assert found[careful]["ABSENT"] is None
    assert "ABSENT.dt" not in found[careful]
    assert run_all(careful, out=np.zeros(2, "f"))["out"].tolist() == [7.0, 0.5]


class Turning:
    """Something that another thread changes all the time."""

    def __init__(self):
        self.turns = 0

    @property
    def step(self):
        self.turns += 1
        return self.turns


turning = Turning()


@cg.func
def turned():
    return turning.step


def inconstant(out: cg.ndarray(cg.i32, 1)):
    out[0] = turning.step
    out[1] = turning.step + cg.static(turning.step)
    out[2] = turned()
    out[3] = turned()


def test_a_function_has_one_value_of_what_it_reads_twice():
    """The one that is guarded."""
    turning.turns = 0
    arguments = {"out": np.zeros(4, "i4")}
    program, found = lower(inconstant, signature(inconstant, **arguments))
    step, other = found[inconstant]["turning.step"], found[turned.__cuda_graphs_func__]["turning.step"]
    interpret(program, arguments, {})
    assert arguments["out"].tolist() == [step, 2 * step, other, other]


LEVELS = {
    0: [],
    1: ["ms"],
    2: ["offload: parallel loops"],
    3: ["IR after offload", "store out[0] = 3"],
    4: ["define void @"],
    5: [".section"],
}


@pytest.mark.parametrize("level", range(6))
def test_debug_levels_write_more_and_more(level, monkeypatch, capsys):
    monkeypatch.setenv("CUDA_GRAPHS_DEBUG", str(level))
    compile_kernel(captured, signature(captured, out=np.zeros(2, "i4")), X86())
    written = capsys.readouterr().err
    for at, words in LEVELS.items():
        for word in words:
            assert (word in written) == (at <= level), (at, word)


def test_debug_shows_each_pass_in_its_order(monkeypatch, capsys):
    monkeypatch.setenv("CUDA_GRAPHS_DEBUG", "3")
    compile_kernel(
        captured, signature(captured, out=np.zeros(2, "i4")), X86(), debug=True, reports=True, fuse="call"
    )
    written = capsys.readouterr().err
    steps = [
        "frontend",
        "check_bounds",
        *(step.__name__ for step, _ in PASSES),
        "stop_loops",
        "report_asserts",
    ]
    assert re.findall(r"^\[cuda_graphs\] IR after (\w+)$", written, re.MULTILINE) == steps
    for step, why in PASSES:
        assert f"[cuda_graphs] {step.__name__}: {why}\n" in written
    assert "atomic cas debug.report[0:i64]" in written


def test_a_gpu_shows_its_ptx(monkeypatch, capsys):
    monkeypatch.setenv("CUDA_GRAPHS_DEBUG", "5")
    artifact = compile_kernel(captured, signature(captured, out=np.zeros(2, "i4")), Ptx())
    assert artifact.code.decode() in capsys.readouterr().err
    assert artifact.code.startswith(b"//")
    assert b".entry captured_0_serial" in artifact.code
