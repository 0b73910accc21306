# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of configurations as templates: equal ones share their code, also between processes; an unchanged one is not
walked again, and a changed one is noticed."""

import dataclasses
import enum
import functools
import gc
import textwrap
import types
import weakref

import pytest

import cuda_graphs as cg
from cuda_graphs.kernels.specialisation import constants
from cuda_graphs.kernels.specialisation.snapshots import Memo


class Solver(enum.Enum):
    CG = 1
    NEWTON = 2


@dataclasses.dataclass(frozen=True)
class Inner:
    factor: object = 2
    names: tuple = ("a", "b")


@dataclasses.dataclass(frozen=True)
class Config:
    inner: Inner = Inner()
    solver: Solver = Solver.CG
    scale: float = 1.0

    @functools.cached_property
    def doubled(self):
        return 2 * self.scale


class OwnValue:
    """A class with its own equality, as configurations of other libraries have."""

    def __init__(self, factor, note=""):
        self.inner, self.solver, self.note = Inner(factor), Solver.CG, note

    def __eq__(self, other):
        return type(other) is OwnValue and other.inner == self.inner

    def __hash__(self):
        return hash(self.inner)


class Slotted:
    __slots__ = ("inner", "solver")

    def __init__(self, factor):
        self.inner, self.solver = Inner(factor), Solver.CG


@dataclasses.dataclass
class Open:
    inner: object
    solver: Solver = Solver.CG


@cg.kernel
def scaled(out: cg.Array1[cg.f32], config: cg.template) -> None:
    if cg.static(config.solver is Solver.CG):
        out[0] = config.inner.factor
    else:
        out[0] = -config.inner.factor


def run(config):
    out = cg.zeros(1, cg.f32)
    scaled(out, config)
    return out[0]


def count():
    return int(repr(scaled).split(", ")[-1].split()[0])


@pytest.mark.parametrize("make", [lambda n: Config(Inner(n)), OwnValue])
def test_equal_values_share_their_code(make):
    assert [run(make(n)) for n in (2, 3, 2, 3)] == [2, 3, 2, 3]
    assert count() == 2


def test_equality_of_a_class_decides_for_its_objects():
    assert [run(OwnValue(2, "one")), run(OwnValue(2, "another"))] == [2, 2]
    assert count() == 1


def test_frozen_dataclasses_of_other_types_have_code_of_their_own():
    configs = [Config(Inner(n)) for n in (1, 1.0, True)]  # equal for Python
    assert [run(each) for each in configs] == [1, 1, 1]
    assert count() == 3


def test_cached_properties_do_not_make_another_value():
    config = Config()
    assert config.doubled == 2
    assert [run(config), run(Config())] == [2, 2]
    assert count() == 1


# An object that can change -> how it changes.
CHANGES = {
    "an attribute": (types.SimpleNamespace(inner=Inner(2), solver=Solver.CG), lambda c: setattr(c, "inner", Inner(5))),
    "an attribute of an attribute": (
        types.SimpleNamespace(inner=types.SimpleNamespace(factor=2), solver=Solver.CG),
        lambda c: setattr(c.inner, "factor", 5),
    ),
    "a slot": (Slotted(2), lambda c: setattr(c, "inner", Inner(5))),
    "a member of a dataclass": (Open(types.SimpleNamespace(factor=2)), lambda c: setattr(c.inner, "factor", 5)),
    "the dict of an object": (
        types.SimpleNamespace(inner=Inner(2), solver=Solver.CG),
        lambda c: c.__dict__.update(inner=Inner(5)),
    ),
    "an object in a frozen dataclass": (
        Config(types.SimpleNamespace(factor=2)), lambda c: setattr(c.inner, "factor", 5)
    ),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_changed_configuration_is_noticed(change):
    config, apply = CHANGES[change]
    assert [run(config), run(config)] == [2, 2]
    apply(config)
    assert [run(config), run(config)] == [5, 5]
    assert count() == 2


def test_class_attribute_that_hides_one_of_a_base_is_noticed():
    class Base:
        inner, solver = Inner(2), Solver.CG

    class Derived(Base):
        pass

    config = Derived()
    assert run(config) == 2
    Derived.inner = Inner(5)
    assert run(config) == 5
    del Derived.inner
    assert run(config) == 2


# Objects that calls must not walk again, or whose state one comparison of identities tells.
UNCHANGED = (Config(), OwnValue(2), Slotted(2), Open(Inner()), {"inner": [Inner()]}, (1, "a"), Solver.CG, 5)


@pytest.mark.parametrize("config", UNCHANGED, ids=lambda each: type(each).__name__)
def test_unchanged_object_is_walked_once(config):
    walks = []
    memo = Memo(lambda value: walks.append(value) or 7)
    assert [memo.of(config) for _ in range(5)] == [7] * 5
    assert len(walks) == 1


def test_calls_that_take_turns_with_configurations_walk_none_of_them_again(monkeypatch):
    configs = [Config(Inner(n)) for n in range(4)]
    assert [run(each) for _ in range(2) for each in configs] == [0, 1, 2, 3] * 2

    def refuse(*args):
        raise AssertionError("a known configuration was walked")

    monkeypatch.setattr(constants, "freeze", refuse)
    assert [run(each) for _ in range(3) for each in configs] == [0, 1, 2, 3] * 3


def test_memo_keeps_few_objects_and_none_without_a_result():
    class Thing:
        pass

    memo, nothing = Memo(lambda value: 1), Memo(lambda value: None)
    found = []
    for each in [Thing() for _ in range(500)]:
        memo.of(each)
        found.append(weakref.ref(each))
    kept, given = Thing(), Thing()
    assert nothing.of(kept) is None
    gone = weakref.ref(kept)
    del each, kept
    gc.collect()
    assert gone() is None
    assert sum(each() is not None for each in found) <= 64
    memo.of(given)
    memo.forget()
    assert not any(each() is not None for each in found)


def test_objects_with_arrays_live_no_longer_than_the_program_keeps_them():
    @cg.kernel
    def fill(state: cg.template) -> None:
        for i in state.x:
            state.x[i] = state.step

    class State:
        def __init__(self):
            self.x, self.step = cg.zeros(3, cg.f32), 4

    state = State()
    fill(state)
    assert state.x.to_numpy().tolist() == [4, 4, 4]
    gone = weakref.ref(state.x)
    del state
    gc.collect()
    assert gone() is None


PROGRAM = """
    import dataclasses, sys
    import cuda_graphs as cg

    class Checked(type):
        def __call__(cls, **values):
            made = object.__new__(cls)
            for name, value in values.items():
                object.__setattr__(made, name, value)
            return made

    class Config(metaclass=Checked):
        def __eq__(self, other):
            return type(other) is type(self) and vars(other) == vars(self)
        def __hash__(self):
            return hash(tuple(sorted(vars(self).items())))

    class Plain:
        def __init__(self):
            self.step, self.sizes = 3, [1, 2]

    @dataclasses.dataclass(frozen=True)
    class Frozen:
        step: int = 3

    @cg.kernel
    def add(x: cg.Array1[cg.i32], config: cg.template) -> None:
        x[0] += config.step

    x = cg.zeros(1, cg.i32)
    for config in (Config(step=3), Plain(), Frozen()):
        add(x, config)
    print(x[0], cg.compile_cache.hits, cg.compile_cache.stored)
"""


def test_configurations_have_the_same_code_on_disk_in_the_next_process(run_child, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM))
    start = f"import runpy; runpy.run_path({str(program)!r}, run_name='__main__')"
    printed = []
    for seed in ("1", "2"):
        found = run_child(start, CUDA_GRAPHS_CACHE_DIR=str(tmp_path / "cache"), PYTHONHASHSEED=seed)
        assert found.stderr == ""
        printed.append(found.stdout.split())
    assert printed == [["9", "0", "3"], ["9", "3", "0"]]
