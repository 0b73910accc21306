# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: inputs of the compiler that give different code have different names in the cache, or none.

Each case is two inputs with the same text of the kernel, which differ in one thing. Their artifacts are made without
the cache and differ, so that a case is one; then their keys must differ, and be the same again for the same input."""

import dataclasses
import enum
import inspect
import linecache
import math
import os
import types
from collections import namedtuple

import numpy as np
import pytest
from cuda.pathfinder import find_bitcode_lib

from cuda_graphs.compiler import compile_kernel, specialise
from cuda_graphs.compiler.cache import artifact_cache, fingerprint
from cuda_graphs.compiler.codegen.ptx.ptx_target import Ptx
from cuda_graphs.compiler.codegen.x86 import x86_target
from cuda_graphs.compiler.codegen.x86.x86_target import X86
from cuda_graphs.compiler.ir.types import f64
from cuda_graphs.compiler.language.number_rules import USUAL, NumberRules
from cuda_graphs.hostdriver.ptx import cache as image_cache
from cuda_graphs.hostdriver.ptx import code_generation
from cuda_graphs.native import versions
from tests.compiler.rig import Field, Grad, cg

NAN = float("nan")


@dataclasses.dataclass
class Input:
    """The arguments of `cached_compile`."""

    function: types.FunctionType
    arguments: dict
    target: object = dataclasses.field(default_factory=X86)
    options: dict = dataclasses.field(default_factory=dict)

    @property
    def signature(self):
        return specialise(self.function, self.arguments)

    def key(self):
        defaults = inspect.signature(artifact_cache.cached_compile).parameters
        named = {name: each.default for name, each in defaults.items() if each.kind is each.KEYWORD_ONLY}
        options = {**named, **self.options}
        found = artifact_cache.fingerprint(self.function, self.signature, self.target, *options.values())
        return None if found is None else found[0]

    def artifact(self):
        found = compile_kernel(self.function, self.signature, self.target, **self.options)
        return dataclasses.replace(found, free_values={})


def defined(text, **names):
    """The last definition of a text. The text decides the name of its file, so the same text has the same place."""
    file = f"<law {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space = {"cg": cg, "np": np, "__name__": "law", **names}
    exec(compile(text, file, "exec"), space)
    return space[text.rpartition("\ndef ")[2].partition("(")[0]]


def indented(lines):
    return "".join(f"    {line}\n" for line in lines.strip("\n").splitlines())


def made(value, body, **names):
    """The function `k` that a body of `make(v)` defines."""
    return defined("\ndef make(v):\n" + indented(body) + "    return k\n", **names)(value)


SCALED = "def k(x: cg.ndarray(cg.f64, 1)):\n    x[0] = {}\n"


def constant(value, expression="cg.static({})", prelude="", **names):
    """A kernel that writes what an expression of `v` gives when compiling."""
    text = prelude.strip("\n") + "\n" + SCALED.format(expression.format("v"))
    return Input(made(value, text, **names), {"x": np.zeros(4)})


def returning(annotation):
    return lambda value: Input(
        made(value, f"def k(x: cg.f32) -> {annotation}:\n    return x * 1.5"), {"x": 1.0}
    )


def inlined(head, body="return a * 1.5", call="f(x[0])"):
    return lambda value: constant(value, call, f"@cg.func\ndef f{head}:\n    {body}\n")


def helper(prelude, expression="cg.static(f(3))", **names):
    return lambda value: constant(value, expression, prelude, **names)


def templated(member, expression="{}"):
    """A kernel that writes what a compile-time parameter has."""

    def of(value):
        text = "def k(x: cg.ndarray(cg.f64, 1), p: cg.template):\n    x[0] = " + expression.format(member)
        return Input(made(0, text), {"x": np.zeros(4), "p": value})

    return of


def with_code_of(other):
    """A function whose file was changed after Python had loaded it."""
    f = defined("\ndef f(n):\n    return n * 2\n")
    f.__code__ = f.__code__.replace(
        co_consts=tuple(other if each == 2 else each for each in f.__code__.co_consts)
    )
    return constant(f, "cg.static({}(3))")


def named(name):
    function = made(0, SCALED.format("1"))
    function.__name__ = name
    return Input(function, {"x": np.zeros(4)})


@dataclasses.dataclass
class Shape:
    width: int = 3


def with_attribute(value):
    found = Shape()
    found.height = value
    return found


def mode_of(factor):
    class Mode(enum.Enum):
        A = 1

        def times(self):
            return factor

    return Mode.A


def with_default(value):
    @dataclasses.dataclass
    class Made:
        parts: list = dataclasses.field(default_factory=value)

    return Made


def ball(value):
    """A kernel that calls a method of its parameter."""

    @dataclasses.dataclass
    class Ball:
        radius: cg.f64

        @cg.func
        def grown(self, by):
            return by * value

    text = "def k(x: cg.ndarray(cg.f64, 1), ball: v):\n    x[0] = ball.grown(x[0])"
    return Input(made(Ball, text), {"x": np.zeros(4), "ball": Ball(1.0)})


DECORATED = """
import functools
def scaled(factor):
    def decorate(f):
        @functools.wraps(f)
        def inner(n):
            return f(n) * factor
        return inner
    return decorate
@scaled(v)
def f(n):
    return n
"""


class Settings:
    """An object whose state is in its attributes."""

    def __init__(self, step):
        self.inner = types.SimpleNamespace(step=step)


class Slots:
    __slots__ = ("step", "width")

    def __init__(self, name, value):
        setattr(self, name, value)


def two_names(order):
    return namedtuple("P", order)(1.0, 2.0)


# name -> (value -> Input, one value, another)
CASES = {
    "what a kernel returns": (returning("v"), cg.f32, cg.i32),
    "what a kernel returns, in a tuple": (returning("tuple[v]"), cg.f32, cg.i32),
    "what a function returns": (inlined("(a) -> v"), cg.f32, cg.i32),
    "what a function takes": (inlined("(a: v)"), cg.f64, cg.i32),
    "a default argument": (inlined("(a, b=v)", "return a * b"), 2.0, 3.0),
    "a default of a keyword": (inlined("(a, *, b=v)", "return a * b"), 2.0, 3.0),
    "a default of a function that runs": (helper("def f(n, by=v):\n    return n * by\n"), 2, 3),
    "a captured number": (constant, 2.0, 3.0),
    "the type of a captured number": (lambda v: constant(v, "{} / x[0]"), np.float32(0.1), np.float64(0.1)),
    "the sign of zero": (constant, 0.0, -0.0),
    "the sign of NaN": (lambda v: constant(v, "cg.static(math.copysign(1, {}))", math=math), NAN, -NAN),
    "an element of a container": (lambda v: constant(v, "cg.static({}[0]['a'][1])"), [{"a": (1, 2)}], [{"a": (1, 3)}]),
    "an element of a set": (lambda v: constant(v, "cg.static(max({}))"), {1, 2}, {1, 3}),
    "an element of an array": (lambda v: constant(v, "cg.static(float({}[1]))"), np.array([1, 2]), np.array([1, 3])),
    "names of the fields of an array": (
        lambda v: constant(v, "cg.static(float({}['a'][0]))"),
        np.array([(1, 2)], [("a", "i4"), ("b", "i4")]), np.array([(1, 2)], [("b", "i4"), ("a", "i4")]),
    ),
    "the mask of an array": (
        lambda v: constant(v, "cg.static(float({}.sum()))"),
        np.ma.array([1, 2], mask=[0, 0]), np.ma.array([1, 2], mask=[0, 1]),
    ),
    "names of a tuple": (templated("p.a"), two_names("a b"), two_names("b a")),
    "an attribute of a number": (lambda v: constant(v, "cg.static({}.by)"), *(
        type("Scaled", (int,), {"by": by, "__module__": __name__, "__qualname__": "Scaled"})(1) for by in (2, 3)
    )),
    "an attribute that is no member": (templated("p.height"), with_attribute(2.0), with_attribute(3.0)),
    "what a method of an enum gives": (templated("cg.static(p.times())"), mode_of(2), mode_of(3)),
    "how a member is made": (
        lambda v: constant(v, "cg.static(len({}().parts))"),
        *(with_default(defined("\ndef parts():\n    return N\n", N=n)) for n in ([], [1])),
    ),
    "a method of the class of a parameter": (ball, 2.0, 3.0),
    "an option of a decorator": (helper(DECORATED), 2, 3),
    "a closure of a function that runs": (helper("def f(n):\n    return n * v\n"), 2, 3),
    "code that is not that of the file": (with_code_of, 2, 5),
    "the name of a kernel": (named, "k", "other"),
    "a function of C made of one of Python": (
        lambda v: constant(v, "cg.static(int({}(3)))"),
        *(np.frompyfunc(defined("\ndef f(n):\n    return n * N\n", N=n), 1, 1) for n in (2, 3)),
    ),
    "an attribute of a module": (
        lambda v: constant(v, "cg.static(getattr({}, 'N'))"),
        *(vars(each).update(N=n) or each for n in (2, 3) for each in [types.ModuleType("settings")]),
    ),
    "the type of a parameter": (
        lambda v: Input(made(v, "def k(a: v) -> cg.f64:\n    return a / 3"), {"a": 1}), cg.f32, cg.i64,
    ),
    "the type of an array": (
        lambda v: Input(made(0, SCALED.format("1").replace("cg.f64", "None")), {"x": v}),
        np.zeros(4), np.zeros(4, "f4"),
    ),
    "the dimensions of an array": (
        lambda v: Input(made(0, "def k(x: cg.ndarray()):\n    for i in cg.grouped(x):\n        x[i] = 1"), {"x": v}),
        np.zeros(4), np.zeros((4, 4)),
    ),
    "the extents of a field": (
        lambda v: constant(v, "v.shape[0]"), Field(np.zeros(4)), Field(np.zeros(5)),
    ),
    "the value of a template": (templated("p"), 2.0, 3.0),
    "an attribute of an object": (templated("p.inner.step"), Settings(2.0), Settings(3.0)),
    "a slot of an object": (
        templated("cg.static(getattr(p, 'step', 5.0))"), Slots("step", 2.0), Slots("width", 2.0),
    ),
    "a range": (templated("cg.static(p.step)"), range(0, 8, 2), range(0, 8, 4)),
}  # fmt: skip


# Inputs without a key, which are compiled each time.
NO_KEY = {"the mask of an array", "a function of C made of one of Python", "an attribute of a module"}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore:.*the conversion can lose:cuda_graphs.CompileWarning")
def test_inputs_with_different_code_have_different_keys(case):
    build, one, other = CASES[case]
    first, second = build(one), build(other)
    assert first.artifact() != second.artifact(), "no case"
    if case in NO_KEY:
        assert first.key() is second.key() is None
        return
    assert len({first.key(), second.key(), None}) == 3
    assert build(one).key() == first.key()
    assert build(other).key() == second.key()


def graph_kernel(x: cg.ndarray(cg.i64, 1)):
    for i in range(x.shape[0]):
        x[i] += 1
    while cg.graph_while(x[0] < 9):
        for i in x:
            x[i] += 2
        for i in x:
            x[i] = x[i] * 3 + 1


class Reducer:
    __cuda_graph_calls__ = ("all_reduce",)

    def all_reduce(self, x, out=None, op="sum"):
        """Stands for the method of a communicator."""


def reducing(x: cg.ndarray(cg.f64, 1), each: Reducer):
    while cg.graph_while(x[0] < 9):
        for i in x:
            x[i] += 1
        each.all_reduce(x)


def third(x: cg.ndarray(cg.f64, 1)):
    for i in x:
        x[i] = i / 3


def differentiable(x: cg.ndarray(cg.f64, 1), y: cg.ndarray(cg.f64, 1)):
    for i in x:
        y[i] += cg.sin(x[i]) * x[0]


def fusible(x: cg.ndarray(cg.f32, 1), y: cg.ndarray(cg.f32, 1)):
    for i in x:
        x[i] += 1
    for i in x:
        x[i] *= 2
    for i in x:
        y[i] = x[i]


GRADS = {"x": Grad(np.zeros(4)), "y": Grad(np.zeros(4))}
# Each keyword of `cached_compile` -> an input, and values of it of which no two give the same code.
OPTIONS = {
    "debug": (Input(graph_kernel, {"x": np.zeros(4, "i8")}, options={"graph": "host"}), (False, True)),
    "graph": (Input(graph_kernel, {"x": np.zeros(4, "i8")}), ("conditional", "embedded", "host", "resident")),
    "chain": (Input(graph_kernel, {"x": np.zeros(4, "i8")}, options={"graph": "conditional"}), (None, "all")),
    "fuse": (Input(fusible, {"x": np.zeros(4, "f4"), "y": np.zeros(4, "f4")}), (None, "any", "call")),
    "early": (
        Input(fusible, {"x": np.zeros(4, "f4"), "y": np.zeros(4, "f4")}, Ptx()), (None, (), ("x",)),
    ),
    "mode": (Input(differentiable, GRADS), (None, "reverse", "forward")),
    "checkpoints": (
        Input(graph_kernel, {"x": np.zeros(4, "i8")}, options={"graph": "conditional"}), (False, True),
    ),
    "exchanges": (
        Input(reducing, {"x": np.zeros(4), "each": Reducer()}, Ptx(), {"graph": "resident or conditional"}),
        ((), ("each",)),
    ),
    "rules": (Input(third, {"x": np.zeros(4)}), (USUAL, NumberRules(float=f64))),
}  # fmt: skip
LIBDEVICE = find_bitcode_lib("device")
# Each member of the targets -> values of it.
TARGETS = {
    X86: {"fast_math": (False, True), "instrumented": (False, True)},
    Ptx: {
        "fast_math": (False, True), "arch": ("sm_80", "sm_90"), "version": (80, 83),
        "libdevice": (LIBDEVICE, None),
    },
}  # fmt: skip


def differ(inputs):
    """Assert that no two inputs have the same code or the same key."""
    keys, artifacts = [each.key() for each in inputs], [each.artifact() for each in inputs]
    assert None not in keys
    for i, first in enumerate(artifacts):
        for j, second in enumerate(artifacts[:i]):
            assert first != second, "no case"
            assert keys[i] != keys[j]


def test_every_option_of_the_compiler_has_a_case():
    parameters = inspect.signature(artifact_cache.cached_compile).parameters.values()
    assert set(OPTIONS) == {each.name for each in parameters if each.kind is each.KEYWORD_ONLY}
    for each, values in TARGETS.items():
        assert set(values) == {each.name for each in dataclasses.fields(each)}


@pytest.mark.parametrize("option", OPTIONS)
def test_options_that_change_the_code_change_the_key(option):
    case, values = OPTIONS[option]
    differ([dataclasses.replace(case, options={**case.options, option: value}) for value in values])


@pytest.mark.parametrize(
    ("target", "member"), [(target, member) for target, values in TARGETS.items() for member in values]
)
def test_members_of_a_target_that_change_the_code_change_the_key(target, member):
    values = TARGETS[target][member]
    text = "def k(x: cg.ndarray(cg.f64, 1)):\n    for i in x:\n        x[i] = x[i] * x[0] + cg.sqrt(x[1])"
    found = [Input(made(0, text), {"x": np.zeros(4)}, target(**{member: value})) for value in values]
    if member == "libdevice":  # without it there is no code, so only keys can be compared
        assert found[0].key() != found[1].key()
    else:
        differ(found)


@pytest.mark.parametrize("change", ["longer", "as long, of the same time"])
def test_the_state_of_the_mathematics_library_is_part_of_the_key(tmp_path, change):
    library = tmp_path / "libdevice.bc"
    library.write_bytes(b"first")
    case = Input(made(0, SCALED.format("1")), {"x": np.zeros(4)}, Ptx(libdevice=str(library)))
    before, key = library.stat(), case.key()
    library.write_bytes(b"second" if change == "longer" else b"other")
    os.utime(library, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert case.key() != key


# Inputs of the compiler that no caller passes -> where the keys of kernels and of images read them.
SURROUNDINGS = {
    "the source of the compiler": [(fingerprint, "SOURCE")],
    "the source of the translator": [(image_cache, "SOURCE")],
    "Python and NumPy": [(fingerprint, "interpreter"), (image_cache, "interpreter")],
    "LLVM": [(fingerprint, "llvm_version"), (code_generation, "llvm_version")],
    "the CPU": [(x86_target, "identity"), (code_generation, "identity")],
}


@pytest.mark.parametrize("what", SURROUNDINGS)
def test_surroundings_are_part_of_the_key(monkeypatch, what):
    case = Input(made(0, SCALED.format("1")), {"x": np.zeros(4)})

    def keys():
        return {
            fingerprint: case.key(), x86_target: case.key(),
            image_cache: image_cache.key(b"text", code_generation.depends_on()),
            code_generation: image_cache.key(b"text", code_generation.depends_on()),
        }  # fmt: skip

    before = keys()
    for module, name in SURROUNDINGS[what]:
        changed = "another" if isinstance(getattr(module, name), str) else lambda: "another"
        monkeypatch.setattr(module, name, changed)
    now = keys()
    for module, _ in SURROUNDINGS[what]:
        assert now[module] != before[module]


def test_a_tree_of_source_is_known_by_the_states_of_its_files(tmp_path):
    folder = tmp_path / "passes"
    folder.mkdir()
    (tmp_path / "a.py").write_text("1")
    file = folder / "b.py"
    file.write_text("2")
    first = versions.tree_hash(str(tmp_path))
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "b.py").write_text("no source")
    assert versions.tree_hash(str(tmp_path)) == first
    found = {first}
    before = file.stat()
    for change in (
        lambda: file.write_text("3"),
        lambda: file.write_text("33"),
        lambda: (folder / "c.py").touch(),
    ):
        change()
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))  # as an archive that is unpacked does
        found.add(versions.tree_hash(str(tmp_path)))
    assert len(found) == 4


@pytest.mark.parametrize("call", ["os.getenv('N', '1')", "time.time()", "random.random()", "len(os.environ)"])
def test_a_kernel_that_asks_the_system_has_no_key(call):
    import random
    import time

    case = constant(0, f"cg.static(int({call}))", os=os, time=time, random=random)
    assert case.artifact().tasks
    assert case.key() is None


INSTALLED = """
OFFSET = 1
def make(by):
    def k(x: cg.ndarray(cg.f64, 1)):
        x[0] = cg.static(by + OFFSET)
    return k
"""


def test_a_kernel_of_an_installed_package_is_known_by_what_it_names(monkeypatch):
    make = defined(INSTALLED + "\ndef last():\n    return make\n")()
    one, other = (Input(make(by), {"x": np.zeros(4)}) for by in (1, 2))
    monkeypatch.setattr(fingerprint, "is_installed", lambda value: True)
    differ([one, other])
    before = one.key()
    monkeypatch.setitem(make.__globals__, "OFFSET", 5)
    assert one.key() not in (None, before)


def test_a_class_of_c_is_known_by_its_name_in_a_package_outside_of_the_folders_of_packages(monkeypatch):
    monkeypatch.setattr(fingerprint, "is_installed", lambda value: False)
    keys = [constant(each, "cg.static(v(3) / 2)").key() for each in (np.float32, np.float64, np.float32)]
    assert None not in keys and keys[0] == keys[2] != keys[1]


def test_code_of_names_that_changed_while_it_was_made_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_GRAPHS_CACHE", "1")
    monkeypatch.setenv("CUDA_GRAPHS_CACHE_DIR", str(tmp_path / "c"))
    text = "\ndef f(n):\n    STEPS.append(n)\n    return len(STEPS)\n"
    case = constant(defined(text, STEPS=[]), "cg.static({}(3))")
    for _ in range(2):
        assert artifact_cache.cached_compile(case.function, case.signature, case.target).tasks
    assert not list(tmp_path.glob("c/*.kernel"))  # units depend on nothing but their text


SOURCES = """
import sys
from cuda_graphs.compiler.cache import fingerprint
from cuda_graphs.hostdriver.ptx import cache, code_generation, loader
from tests.compiler import test_cache
test_cache.compiled()
loader.translate(".version 8.0 .target sm_50 .address_size 64")
for key, package in ((fingerprint, "compiler"), (cache, "hostdriver.ptx")):
    for name, module in list(sys.modules.items()):
        if name.startswith((f"cuda_graphs.{package}.", "cuda_graphs.native.")):
            if not module.__file__.startswith(tuple(f"{folder}/" for folder in key.FOLDERS)):
                print(name)
"""


def test_keys_cover_the_source_of_each_module_that_makes_code(run_child):
    done = run_child(SOURCES)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_name_that_a_module_lacks_counts_without_the_rest_of_the_module():
    settings = types.ModuleType("settings")
    case = constant(settings, "{0}.parts.count if cg.static(False) else 1.0")
    before = case.key()
    settings.other = 2
    assert case.key() == before is not None
    settings.parts = types.SimpleNamespace(count=2.0)
    assert case.key() not in (None, before)
