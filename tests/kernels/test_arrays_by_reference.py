# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays that reach a kernel inside of other objects: each call reads them again, and no other array compiles again."""

import dataclasses
import gc
import types

import numpy as np
import pytest

import cuda_graphs as cg

Numbers = cg.types.ndarray(cg.f32, ndim=1)


def array(*values, needs_grad=False):
    return cg.array(np.array(values, np.float32), needs_grad=needs_grad)


class Part:
    """An object of a plain class."""

    def __init__(self, values, scale=2.0):
        self.values, self.scale = values, scale

    def at(self, i):
        return self.values[i] * self.scale

    @staticmethod
    def shifted(a):
        return a + 1.0


@cg.data_oriented
class System:
    def __init__(self, *values):
        self.part = Part(array(*values))
        self.parts = [array(*values), Part(array(*values), 3.0)]
        self.named = {"x": (array(*values),), "n": 5.0}
        self.part.owner = self

    @property
    def count(self):
        return len(self.parts) + 1

    def doubled_count(self):
        """Run when compiling: kernels have no try."""
        try:
            return 2 * self.count
        finally:
            pass

    @cg.kernel
    def number(self, out: Numbers):
        for i in out:
            for j in cg.static(range(self.doubled_count())):
                out[i] += j + self.part.values[i]

    def weighed(self, i):
        return self.part.at(i) + self.parts[0][i] * 10.0

    @cg.kernel
    def add(self, out: Numbers):
        for i in out:
            out[i] = (
                self.weighed(i) + Part.shifted(self.parts[1].at(i)) + self.named["x"][0][i] * self.named["n"]
            )

    @cg.kernel
    def move(self):
        for i in self.parts[0]:
            self.parts[0][i] += self.part.values[i]


def wanted(values):
    return np.array(values) * (2 + 10 + 3 + 5) + 1


@pytest.fixture
def forget():
    yield
    for each in (System.add, System.move, System.number):
        each.forget()


def test_nested_objects_lists_and_dicts_pass_their_arrays(device, forget):
    out = array(0, 0, 0)
    System(1, 2, 3).add(out)
    np.testing.assert_allclose(out.to_numpy(), wanted([1, 2, 3]))


def test_other_arrays_in_nested_objects_need_no_other_code(device, forget):
    out, system = array(0, 0, 0), System(1, 2, 3)
    system.add(out)
    system.part.values, system.parts[1].values = array(4, 5, 6), array(4, 5, 6)
    system.parts[0], system.named["x"] = array(4, 5, 6), (array(4, 5, 6),)
    system.add(out)
    np.testing.assert_allclose(out.to_numpy(), wanted([4, 5, 6]))
    System(7, 8, 9).add(out)
    np.testing.assert_allclose(out.to_numpy(), wanted([7, 8, 9]))
    assert len(System.add.kernels) == 1
    assert "1 specialisations" in repr(next(iter(System.add.kernels.values())))
    system.part.scale = 0.0  # all else is constant
    system.add(out)
    np.testing.assert_allclose(out.to_numpy(), wanted([4, 5, 6]) - 2 * np.array([4, 5, 6]))
    assert len(System.add.kernels) == 2


def test_plain_methods_run_when_compiling_in_static(device, forget):
    out = array(0, 0, 0)
    System(1, 2, 3).number(out)
    assert out.to_numpy().tolist() == [15 + 6, 15 + 12, 15 + 18]


def test_kernels_write_to_arrays_in_lists(device, forget):
    system = System(1, 2, 3)
    system.move()
    assert system.parts[0].to_numpy().tolist() == [2, 4, 6]


def test_gradients_reach_arrays_in_nested_objects(device, forget):
    system, out = System(1, 2, 3), array(0, 0, 0, needs_grad=True)
    system.part.values = array(1, 2, 3, needs_grad=True)
    system.parts[0] = array(1, 2, 3, needs_grad=True)
    out.grad.fill(1)
    system.add.grad(out)
    assert system.part.values.grad.to_numpy().tolist() == [2, 2, 2]
    assert system.parts[0].grad.to_numpy().tolist() == [10, 10, 10]


def test_objects_with_nested_arrays_are_called_in_graphs(device, forget):
    system, definition = System(1, 2, 3), cg.GraphDef()
    definition.call(system.move)
    graph = definition.instantiate()
    graph.launch(device.default_stream)
    graph.launch(device.default_stream)
    device.sync()
    assert system.parts[0].to_numpy().tolist() == [3, 6, 9]


@cg.kernel
def double(x: cg.template):
    for i in x:
        x[i] *= 2


def test_template_takes_arrays_by_reference_and_all_else_by_value(device):
    first, second = array(1, 2), array(3, 4)
    double(first)
    double(second)
    double(cg.array(np.array([5], np.int32)))
    assert (first.to_numpy().tolist(), second.to_numpy().tolist()) == ([2, 4], [6, 8])
    assert "2 specialisations" in repr(double)  # one for each type


def test_template_takes_parameters_of_graphs(device):
    definition = cg.GraphDef()
    x = definition.param("x", Numbers)
    definition.call(double, x)
    graph, given = definition.instantiate(), array(1, 2, 3)
    graph.launch(device.default_stream, x=given)
    device.sync()
    assert given.to_numpy().tolist() == [2, 4, 6]


def test_gradient_through_a_template_array(device):
    x, y = array(1, 2, 3, needs_grad=True), array(0, 0, 0, needs_grad=True)

    @cg.kernel
    def square(x: cg.template, y: cg.template, power: cg.template):
        for i in x:
            y[i] = x[i] ** power

    y.grad.fill(1)
    square.grad(x, y, 3)
    assert x.grad.to_numpy().tolist() == [3, 12, 27]


@dataclasses.dataclass
class Pair:
    a: cg.f32

    def plain(self):
        return self.a * 2


def test_change_of_a_plain_method_of_a_structure_is_in_the_key_of_its_code(device):
    from cuda_graphs.compiler.cache.fingerprint import Fingerprint
    from cuda_graphs.compiler.language.annotations import StructSpec

    def digest():
        found = Fingerprint()
        found.value(StructSpec(Pair, ()))
        return found.digest()

    before, method = digest(), Pair.plain
    Pair.plain = Part.at
    try:
        assert digest() != before
    finally:
        Pair.plain = method


shared = Part(None)
grid = types.ModuleType("grid")
plain = None


@cg.func
def of_helper(i):
    return plain[i] * 100


@cg.kernel
def by_names(out: Numbers):
    for i in out:
        out[i] = plain[i] + shared.at(i) + grid.x[i] * 10 + of_helper(i) + shared.values.shape[0]


@pytest.fixture
def arrays(device, monkeypatch):
    monkeypatch.setitem(globals(), "plain", array(1, 2, 3))
    monkeypatch.setattr(shared, "values", array(1, 2, 3))
    grid.x = array(1, 2, 3)
    yield
    grid.x = None


def test_arrays_are_taken_by_the_names_of_globals_objects_and_modules(arrays, monkeypatch):
    out = array(0, 0, 0)
    by_names(out)
    assert out.to_numpy().tolist() == [116, 229, 342]
    monkeypatch.setitem(globals(), "plain", array(2, 4, 6))
    shared.values, grid.x = array(3, 3, 3), array(0, 0, 1)
    by_names(out)
    assert out.to_numpy().tolist() == [211, 413, 625]
    (variant,) = by_names_variants().values()
    assert "1 specialisations" in repr(variant)


def by_names_variants():
    """Return the kernels that were made for the arrays around `by_names`."""
    return {id(each): each for each in gc.get_objects() if isinstance(each, cg.KernelFunction) and each is not by_names
            and each.__name__ == "by_names" and "0 specialisations" not in repr(each)}  # fmt: skip


def test_names_of_a_helper_are_no_names_of_the_kernel(device):
    def reader():
        values = array(1, 2)
        return lambda i: values[i]

    read = reader()

    @cg.kernel
    def add(x: Numbers):
        for i in x:
            values = x[i]
            x[i] = read(i) + values

    x = array(10, 20)
    add(x)
    assert x.to_numpy().tolist() == [11, 22]


def test_closures_have_arrays_of_their_own(device):
    def made(values):
        @cg.kernel
        def add(x: Numbers):
            for i in x:
                x[i] += values[i]

        return add

    x = array(0, 0)
    made(array(1, 2))(x)
    made(array(10, 20))(x)
    assert x.to_numpy().tolist() == [11, 22]


def test_helpers_of_one_factory_do_not_mix_their_arrays(device):
    def reader(values):
        return lambda i: values[i]

    first, second = reader(array(1, 2)), reader(array(30, 40))

    @cg.kernel
    def add(x: Numbers):
        for i in x:
            x[i] += first(i) + second(i)

    x = array(0, 0)
    add(x)
    assert x.to_numpy().tolist() == [31, 42]


@cg.kernel
def by_template(out: Numbers, part: cg.template, factor: cg.template):
    for i in out:
        out[i] = part.at(i) * factor


def test_objects_with_arrays_are_templates(device):
    part, out = Part(array(1, 2, 3)), array(0, 0, 0)
    by_template(out, part, 2)
    assert out.to_numpy().tolist() == [4, 8, 12]
    part.values = array(5, 5, 5)
    by_template(out, part, factor=2)
    assert out.to_numpy().tolist() == [20, 20, 20]
    by_template(out, Part(array(1, 1, 1)), 2)
    assert out.to_numpy().tolist() == [4, 4, 4]
    part.scale = 1.0
    by_template(out, part, 3)
    assert out.to_numpy().tolist() == [15, 15, 15]


def test_gradients_reach_arrays_around_a_kernel(device):
    part, out = Part(array(1, 2, 3, needs_grad=True), 4.0), array(0, 0, 0, needs_grad=True)
    weights = array(1, 1, 1, needs_grad=True)
    total = cg.ndarray(cg.f32, (), needs_grad=True)

    @cg.kernel
    def weigh(out: Numbers, part: cg.template):
        for i in out:
            out[i] = part.at(i) * weights[i]

    @cg.kernel
    def add():
        for i in out:
            total[()] += out[i]

    with cg.ad.Tape(loss=total):
        weigh(out, part)
        add()
    assert part.values.grad.to_numpy().tolist() == [4, 4, 4]
    assert weights.grad.to_numpy().tolist() == [4, 8, 12]
    out.grad.fill(1)
    weigh.grad(out, part)
    assert weights.grad.to_numpy().tolist() == [8, 16, 24]


def test_arrays_around_a_kernel_are_used_in_graphs_and_captures(device):
    values = array(1, 2, 3)

    @cg.kernel
    def add(x: Numbers):
        for i in x:
            x[i] += values[i]

    @cg.kernel(graph=True)
    def add_twice(x: Numbers):
        for i in x:
            x[i] += values[i]
        for i in x:
            x[i] += values[i]

    x, definition, stream = array(0, 0, 0), cg.GraphDef(), device.create_stream()
    definition.call(add, x)
    graph = definition.instantiate()
    graph.launch(stream)
    stream.sync()
    with stream.create_graph_builder() as builder:
        add(x, stream=stream)
    builder.complete().launch(stream)
    stream.sync()
    assert x.to_numpy().tolist() == [2, 4, 6]
    before = x.to_numpy()
    add_twice(x, stream=stream)
    stream.sync()
    np.testing.assert_array_equal(x.to_numpy(), before + 2 * np.array([1, 2, 3]))
    assert "parameters: values of add, x, " in str(add.explain(x))


def test_numpy_arrays_around_a_kernel_are_refused(device):
    table = np.zeros(3, np.float32)

    @cg.kernel
    def add(x: Numbers):
        for i in x:
            x[i] += table[i]

    with pytest.raises(cg.CompileTypeError, match="'table' is an array from outside"):
        add(array(1, 2))


def test_arrays_of_structures_are_taken_by_their_names(device):
    pairs = cg.ndarray(Pair, 3)

    @cg.kernel
    def fill(x: Numbers):
        for i in x:
            pairs[i].a = x[i]
            x[i] = pairs[i].plain()

    x = array(1, 2, 3)
    fill(x)
    assert x.to_numpy().tolist() == [2, 4, 6]
    assert pairs.to_numpy()["a"].tolist() == [1, 2, 3]


def test_static_lists_of_arrays_hold_the_arrays_of_the_call(device):
    first = second = array(1, 2)
    pair = types.SimpleNamespace(a=first, inner=types.SimpleNamespace(b=second), all=[first, second], n=3)

    @cg.kernel
    def total(out: Numbers):
        for i in out:
            for j, each in cg.static(enumerate([first, second])):
                out[i] += each[i] * 10**j
            for each in cg.static((pair.a, pair.inner.b)):
                out[i] += each[i] * 100.0
            u, v = cg.static(pair.inner.b, pair.all[0])
            out[i] += (u[i] + v[i]) * 1000.0
            chosen = cg.static(pair.a if pair.n == 3 else first)
            out[i] += chosen[i] * 10000.0 + cg.static(second.shape[0] + len(pair.all))

    out = array(0, 0)
    total(out)
    assert out.to_numpy().tolist() == [1 + 10 + 200 + 2000 + 10000 + 4, 2 * 12211 + 4]
    second, pair.inner.b = array(3, 4), array(5, 6)
    out.fill(0)
    total(out)
    assert out.to_numpy().tolist() == [
        1 + 30 + 100 + 500 + 5000 + 1000 + 10000 + 4,
        2 + 40 + 200 + 600 + 6000 + 2000 + 20000 + 4,
    ]
    second = array(3, 4, 5)  # an extent in cg.static is a constant
    out.fill(0)
    total(out)
    assert out[0] == 1 + 30 + 100 + 500 + 5000 + 1000 + 10000 + 5


def test_static_expressions_read_no_elements_of_arrays(device):
    known = array(1, 2)

    @cg.kernel
    def read(out: Numbers):
        for i in out:
            out[i] = cg.static(known[1])

    with pytest.raises(cg.CompileStaticError, match="elements of 'known of read' are known at run time only"):
        read(array(0))


class Table:
    def __init__(self, *values):
        self.values = array(*values)

    def __call__(self, i, factor=1.0):
        return self.values[i] * factor

    def __getitem__(self, i):
        return self.values[i] + 100.0

    def __len__(self):
        return self.values.shape[0]


def test_objects_with_arrays_have_their_special_methods(device):
    table = Table(1, 2)

    @cg.kernel
    def look(other: cg.template, out: Numbers):
        for i in out:
            out[i] = table(i) + table[i] + other(i, factor=10.0) + len(other) * 1000.0

    out = array(0, 0)
    look(Table(3, 4, 5), out)
    assert out.to_numpy().tolist() == [1 + 101 + 30 + 3000, 2 + 102 + 40 + 3000]
    table = Table(7, 8)
    look(Table(3, 4), out)
    assert out[0] == 7 + 107 + 30 + 2000
