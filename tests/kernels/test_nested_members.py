# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a kernel reads a member of a nested object as Python reads it, property or not, and only members that it
names."""

import functools

import numpy as np
import pytest

import cuda_graphs as cg

Numbers = cg.types.ndarray(cg.f32, ndim=1)


class Upper:
    """A descriptor that is no property."""

    def __get__(self, owner, cls):
        return 10.0 * owner.level


@cg.data_oriented
class Solver:
    limit = Upper()

    def __init__(self, scene):
        self.scene, self.level = scene, 2.0
        self.values = cg.array(np.arange(1.0, 4.0, dtype=np.float32))
        self.shape = np.array([2, 3])
        self.offset = cg.types.vec(2, cg.i32)(5, 7)

    @property
    def is_built(self):
        return self.scene.is_built

    @property
    def count(self):
        """Leads back to the scene, and computes what no kernel could."""
        return (
            len(self.scene.solvers) if self.is_built else sum(len(each.shape) for each in self.scene.solvers)
        )

    @property
    def data(self):
        return self.values

    @functools.cached_property
    def squared(self):
        return self.level**2

    @property
    def broken(self):
        raise ValueError("no kernel names this member")

    @cg.func
    def scaled(self, x):
        return x * self.doubled

    @property
    def doubled(self):
        return 2.0 * self.level

    @cg.func
    def stencil(self):
        return cg.ndrange(2, 2)


@cg.data_oriented
class Scene:
    def __init__(self):
        self.is_built = False
        self.solvers = []
        self.solver = Solver(self)
        self.solvers.append(self.solver)
        self.others = [object()]

    @cg.kernel
    def read(self, out: Numbers):
        for i in out:
            out[i] = self.solver.count + self.solver.limit + self.solver.squared + self.solver.data[i]

    @cg.kernel
    def call(self, out: Numbers):
        for i in out:
            out[i] = self.solver.scaled(self.solver.scene.solver.values[i])

    @cg.kernel
    def alias(self, out: Numbers):
        for i in out:
            solver = self.solver
            out[i] = solver.doubled + solver.data[i]

    @cg.kernel
    def cells(self, out: Numbers):
        for i, j in cg.ndrange(*self.solver.shape):
            for offset in cg.static(cg.grouped(self.solver.stencil())):
                places = [1.0, 10.0]
                cell = (i + self.solver.offset - 5).x
                cg.atomic_add(out[0], places[offset[0]] * places[offset[1]] + cell + 0.0 * j)


@pytest.fixture
def scene():
    yield Scene()
    for each in (Scene.read, Scene.call, Scene.alias, Scene.cells):
        each.forget()


def floats(n):
    return cg.zeros(n)


def test_properties_and_descriptors_of_nested_objects_give_their_values(device, scene):
    out = floats(3)
    scene.read(out)
    assert out.to_numpy().tolist() == [2 + 20 + 4 + x for x in (1, 2, 3)]


def test_a_property_is_read_again_in_each_call(device, scene):
    out = floats(3)
    scene.read(out)
    scene.is_built = True
    scene.read(out)
    assert out.to_numpy().tolist() == [1 + 20 + 4 + x for x in (1, 2, 3)]
    scene.solver.level = 3.0
    scene.solver.values = cg.array(np.zeros(3, np.float32))
    scene.read(out)
    assert out.to_numpy().tolist() == [1 + 30 + 4] * 3


def test_members_that_no_kernel_names_are_not_looked_at(device, scene):
    out = floats(3)
    scene.read(out)
    scene.others.append(object())
    scene.solver.offset = "not a vector"
    scene.read(out)
    assert len(Scene.read.kernels) == 1


def test_methods_of_nested_objects_use_properties_of_their_own(device, scene):
    out = floats(3)
    scene.call(out)
    assert out.to_numpy().tolist() == [4, 8, 12]


def test_properties_of_an_object_with_another_name_are_inlined(device, scene):
    out = floats(3)
    scene.alias(out)
    assert out.to_numpy().tolist() == [5, 6, 7]


def test_unpacked_arrays_and_stencils_of_functions_are_known_when_compiling(device, scene):
    out = floats(1)
    scene.cells(out)
    stencil = 1 + 10 + 10 + 100
    wanted = sum(stencil + 4 * i for i in range(2) for _ in range(3))
    assert out[0] == wanted
    scene.solver.shape[0] = 1
    scene.cells(out)
    assert out[0] == wanted + 3 * stencil


def test_tuples_are_parts_of_an_index(device):
    @cg.kernel
    def mark(x: cg.types.ndarray(cg.f32, ndim=3)):
        for i, j, k in cg.ndrange(2, 3, 4):
            place = (i, j)
            x[place, k] = x[i, (j, k)] + 1.0

    x = cg.zeros((2, 3, 4))
    mark(x)
    assert x.to_numpy().tolist() == np.ones((2, 3, 4)).tolist()
