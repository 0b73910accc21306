# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a call of a kernel with checkpoints reports the checkpoint that ended it early, if any, and resume goes on
there. This holds in a graph, with the host in the loop, and with debug."""

import dataclasses
import enum
import subprocess
import sys

import numpy as np
import pytest

import cuda_graphs as cg
from tests.kernels.graph_kernels import array, i32_0d, i32_1d
from tests.thread_rig import side_by_side


class Stage(enum.IntEnum):
    GROW = 10
    CHECK = 5
    FINISH = 0


def steps(x: i32_1d, left: i32_0d, stop: i32_0d, total: i32_0d):
    """Rounds of two checkpoints, the first of which stops at a multiple of 3; then a last one."""
    while cg.graph_do_while(left):
        with cg.checkpoint(Stage.GROW, yield_on=stop):
            for i in x:
                x[i] += 1
            for _ in range(1):
                stop[()] = 1 if x[0] % 3 == 0 else 0
        with cg.checkpoint(Stage.CHECK):
            for _ in range(1):
                left[()] -= 1
    with cg.checkpoint(Stage.FINISH):
        for i in x:
            total[()] += x[i]


class Model:
    """The same in Python."""

    def __init__(self, size, left):
        self.x, self.left, self.stop, self.total = np.zeros(size, int), left, 0, 0

    def run(self, start=0):
        again = True
        while again and start < 3:
            if start <= 1:
                start = 0
                self.x += 1
                self.stop = int(self.x[0] % 3 == 0)
                if self.stop:
                    return (True, Stage.GROW)
            start = 0
            self.left -= 1
            again = self.left != 0
        self.total += self.x.sum()
        return (False, None)


KERNELS = {
    "conditional": cg.kernel(steps, graph=True, checkpoints=True, loop="conditional"),
    "auto": cg.kernel(steps, graph=True, checkpoints=True),
    "resident": cg.kernel(steps, graph=True, checkpoints=True, loop="resident"),
    "host": cg.kernel(steps, graph=True, checkpoints=True, loop="host"),
    "debug": cg.kernel(steps, graph=True, checkpoints=True, debug=True),
}
kernel = KERNELS["conditional"]


@pytest.fixture(autouse=True)
def all_forget():
    yield
    cg.Device(0).sync()
    for each in KERNELS.values():
        each.forget()


def arguments(size=5, left=4):
    return array(np.zeros(size), cg.i32), array(left, cg.i32), array(0, cg.i32), array(0, cg.i32)


def state(given):
    x, left, stop, total = (each.to_numpy() for each in given)
    return x.tolist(), int(left), int(stop), int(total)


def state_of(model):
    return model.x.tolist(), model.left, model.stop, model.total


@pytest.mark.parametrize("of", KERNELS)
def test_a_call_ends_early_and_a_resume_goes_on_until_it_is_done(of):
    kernel, given, model = KERNELS[of], arguments(5, 9), Model(5, 9)
    found, wanted = kernel(*given), model.run()
    rounds = 0
    while True:
        assert found == wanted
        assert isinstance(found, cg.CheckpointStatus)
        assert type(found.label) in (Stage, type(None))
        assert state(given) == state_of(model)
        if not found.yielded:
            break
        rounds += 1
        label = (Stage.CHECK, Stage.GROW)[rounds % 2]
        found = kernel.resume(*given, from_checkpoint=label)
        wanted = model.run({Stage.GROW: 1, Stage.CHECK: 2}[label])
    assert rounds > 1


def test_a_resume_at_the_last_checkpoint_skips_the_loops_before_it():
    given = arguments()
    assert kernel.resume(*given, from_checkpoint=Stage.FINISH) == (False, None)
    assert state(given) == ([0] * 5, 4, 0, 0)


def test_calls_and_resumes_replay_one_graph():
    before = kernel.graph_stats.builds
    for size in (3, 500, 1):
        given = arguments(size, 2)
        assert kernel(*given) == (False, None)
        assert kernel.resume(*given, from_checkpoint=Stage.FINISH) == (False, None)
        assert state(given)[3] == 4 * size
    assert kernel.graph_stats.builds == before + 1
    assert kernel.graph_stats.replayed


def test_a_checkpoint_is_a_gate_and_an_if_node():
    given = arguments()
    g = kernel.graph(*given)
    kinds = sorted(type(node).__name__ for node in g.nodes())
    assert kinds.count("IfNode") == 1  # the last; the others are in the loop
    (loop,) = [node for node in g.nodes() if isinstance(node, cg.WhileNode)]
    body = sorted(type(node).__name__ for node in loop.body.nodes())
    assert body.count("IfNode") == 2


def test_labels_are_ints_or_members_of_an_enum_and_come_back_as_such():
    @cg.kernel(graph=True, checkpoints=True)
    def mixed(x: i32_1d, stop: i32_1d, first: i32_0d, second: i32_0d):
        with cg.checkpoint(3, yield_on=first):
            for i in x:
                x[i] += 1
        for i in x:
            x[i] += 10
        with cg.checkpoint(Stage.GROW, yield_on=second):
            for i in x:
                x[i] += 100

    x, stop, first, second = array([0], cg.i32), array([0], cg.i32), array(1, cg.i32), array(1, cg.i32)
    found = mixed(x, stop, first, second)
    assert (found, type(found.label)) == ((True, 3), int)
    found = mixed.resume(x, stop, second=second, first=first, from_checkpoint=10)  # an int that is the member
    assert (found, type(found.label)) == ((True, Stage.GROW), Stage)
    assert x.to_numpy()[0] == 101
    assert (int(first.to_numpy()), int(second.to_numpy())) == (1, 1)  # flags are the user's
    first.fill(0)
    assert mixed(x, stop, first, second) == (True, Stage.GROW)
    mixed.forget()


def test_a_kernel_without_flags_says_that_it_did_not_yield():
    @cg.kernel(graph=True, checkpoints=True)
    def plain(x: i32_1d):
        for i in x:
            x[i] += 1

    x = array([0, 0], cg.i32)
    assert plain(x) == (False, None)
    with pytest.raises(
        ValueError, match=r"plain\.resume\(\): there is no checkpoint 1: no checkpoint has a label"
    ):
        plain.resume(x, from_checkpoint=1)
    assert x.to_numpy().tolist() == [1, 1]
    plain.forget()


def test_wrong_resume_is_refused_before_anything_runs(stream):
    given = arguments()
    with pytest.raises(
        ValueError, match=r"no checkpoint 7: the labels are <Stage.GROW: 10>, <Stage.CHECK: 5>"
    ):
        kernel.resume(*given, from_checkpoint=7)
    for wrong in ("GROW", None, True, 1.0):
        with pytest.raises(TypeError, match="from_checkpoint must be a label"):
            kernel.resume(*given, from_checkpoint=wrong)
    with pytest.raises(TypeError, match="from_checkpoint"):
        kernel.resume(*given)
    with pytest.raises(TypeError, match="misses arguments"):
        kernel.resume(*given[:2], from_checkpoint=Stage.GROW)
    with cg.Device(0).create_graph_builder() as builder, pytest.raises(RuntimeError, match="being captured"):
        kernel.resume(*given, from_checkpoint=Stage.GROW, stream=builder)
    assert state(given) == state_of(Model(5, 4))
    assert kernel(*given, stream=stream) == (True, Stage.GROW)

    @cg.kernel(graph=True)
    def none(x: i32_1d):
        x[0] = 1

    with pytest.raises(AttributeError, match="none has no checkpoints: write"):
        none.resume(given[0], from_checkpoint=1)


def test_checkpoints_need_a_graph_kernel_when_it_is_decorated():
    with pytest.raises(ValueError, match="steps: checkpoints=True is for graph kernels"):
        cg.kernel(steps, checkpoints=True)
    with pytest.raises(cg.CompileCheckpointError, match=r"checkpoints=True"):
        cg.kernel(steps, graph=True)(*arguments())
    with pytest.raises(RuntimeError, match="checkpoint"):
        cg.checkpoint(1)


def test_in_definitions_and_captures_nobody_asks_for_the_status(stream):
    given, model = arguments(3, 2), Model(3, 2)
    model.run()
    g = cg.GraphDef()
    g.call(kernel, *given)
    g.instantiate().launch(stream)
    stream.sync()
    assert state(given) == state_of(model)
    with cg.Device(0).create_graph_builder() as builder:
        assert kernel(*given, stream=builder) is None
    given[1].fill(4)
    model.left = 4
    model.run()
    builder.complete().launch(stream)
    stream.sync()
    assert state(given) == state_of(model)


@dataclasses.dataclass
class Settings:
    stop: i32_0d
    amount: cg.i32


def test_a_flag_may_be_a_member_of_a_struct_or_a_field():
    flag = cg.field(cg.i32, ())

    @cg.kernel(graph=True, checkpoints=True)
    def grow(x: i32_1d, settings: Settings):
        with cg.checkpoint(1, yield_on=settings.stop):
            for i in x:
                x[i] += settings.amount
        with cg.checkpoint(2, yield_on=flag):
            for i in x:
                x[i] *= 10

    x, stop = array([0], cg.i32), array(1, cg.i32)
    assert grow(x, Settings(stop, 3)) == (True, 1)
    flag.fill(1)
    assert grow.resume(x, Settings(stop, 3), from_checkpoint=2) == (True, 2)
    stop.fill(0)
    flag.fill(0)
    assert grow(x, Settings(stop, 4)) == (False, None)
    assert x.to_numpy()[0] == 340
    assert (stop.to_numpy(), flag.to_numpy()) == (0, 0)
    grow.forget()


def test_arrays_of_numpy_are_in_step_when_a_call_ends_early():
    x, stop, total = np.zeros(3, "i4"), np.array(0, "i4"), np.array(0, "i4")
    left = np.array(9, "i4")
    model = Model(3, 9)
    assert kernel(x, left, stop, total) == model.run()
    assert (x.tolist(), int(left), int(stop)) == (model.x.tolist(), model.left, 1)


class Solver:
    def __init__(self):
        self.x, self.stop = array([0], cg.i32), array(1, cg.i32)

    @cg.kernel(graph=True, checkpoints=True)
    def step(self, amount: cg.i32):
        with cg.checkpoint(Stage.GROW, yield_on=self.stop):
            for i in self.x:
                self.x[i] += amount
        with cg.checkpoint(Stage.CHECK):
            for i in self.x:
                self.x[i] *= 10


Solver = cg.data_oriented(Solver)


def test_methods_have_checkpoints_too():
    solver = Solver()
    assert solver.step(2) == (True, Stage.GROW)
    assert solver.step.resume(2, from_checkpoint=Stage.CHECK) == (False, None)
    assert solver.x.to_numpy()[0] == 20
    Solver.step.forget()


def test_threads_each_get_the_status_of_their_own_call():
    """The threads call one kernel at the same time, with different flags."""

    @cg.kernel(graph=True, checkpoints=True)
    def ask(x: i32_1d, stop: i32_0d):
        with cg.checkpoint(1, yield_on=stop):
            for i in x:
                x[i] += 1

    def work(value):
        own, x, stop = cg.Device(0).create_stream(), array([0], cg.i32), array(value, cg.i32)
        for _ in range(100):
            assert ask(x, stop, stream=own) == ((True, 1) if value else (False, None))
        assert x.to_numpy()[0] == 100

    side_by_side(lambda: work(0), lambda: work(1))
    assert ask.graph_stats.graphs == 1
    ask.forget()


SAVED = """
import enum, numpy as np, cuda_graphs as cg
class Stage(enum.IntEnum):
    A = 1
    B = 2
@cg.kernel(graph=True, checkpoints=True)
def k(x: cg.types.ndarray(cg.i32, ndim=1), stop: cg.types.ndarray(cg.i32, ndim=0)):
    with cg.checkpoint(Stage.A, yield_on=stop):
        for i in x:
            x[i] += 1
    with cg.checkpoint(Stage.B):
        for i in x:
            x[i] += 10
x, stop = cg.ndarray(cg.i32, 2), cg.ndarray(cg.i32, ())
stop.fill(1)
print(repr(k(x, stop).label), k.resume(x, stop, from_checkpoint=Stage.B), x.to_numpy().tolist(), cg.compile_cache.hits)
"""


def test_labels_are_known_when_the_code_comes_from_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_GRAPHS_CACHE_DIR", str(tmp_path / "cache"))
    script = tmp_path / "saved.py"
    script.write_text(SAVED)
    for hits in (0, 1):
        found = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
        assert (
            found.stdout.split()
            == f"<Stage.A: 1> CheckpointStatus(yielded=False, label=None) [11, 11] {hits}".split()
        )
