# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a member of an array of structures reads and writes on the host the same in both layouts, and leaves the other
members alone."""

import numpy as np
import pytest

import cuda_graphs as cg
from tests.kernels.test_struct_arrays import COUNT, LAYOUTS, Particle, Spin, array, values


def filled(layout):
    found = array(layout)
    found.from_numpy(values())
    return found


PATHS = {
    "mass": ("mass",),
    "at": ("at",),
    "turn": ("turn",),
    "kind": ("kind",),
    "on": ("on",),
    "nested": ("spin", "axis"),
}


def member(owner, path):
    for name in path:
        owner = getattr(owner, name)
    return owner


def field(structured, path):
    for name in path:
        structured = structured[name]
    return structured


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
def test_members_have_the_same_values_and_types_in_both_layouts(device, path):
    soa, aos = (member(filled(each), path) for each in LAYOUTS)
    np.testing.assert_array_equal(aos.to_numpy(), soa.to_numpy())
    np.testing.assert_array_equal(np.asarray(aos), soa.to_numpy())
    assert (aos.shape, aos.ndim, aos.size, len(aos)) == (soa.shape, soa.ndim, soa.size, len(soa))
    assert (aos.dtype, aos.element_shape) == (soa.dtype, soa.element_shape)
    assert [np.array_equal(a, b) for a, b in zip(aos, soa, strict=True)] == [True] * COUNT
    assert type(aos[2]) is type(soa[2])
    np.testing.assert_array_equal(aos[2:4].to_numpy(), soa[2:4].to_numpy())


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
def test_writes_change_the_member_alone(device, layout, path):
    owner, wanted = filled(layout), values()
    found, given = member(owner, path), field(wanted, path)
    given[3] = 1
    found[3] = given[3] if given.ndim == 1 else given[3].tolist()
    np.testing.assert_array_equal(owner.to_numpy(), wanted)
    given[4:] = given[:2]
    found[4:] = given[:2]
    np.testing.assert_array_equal(owner.to_numpy(), wanted)
    given[...] = given[::-1].copy()
    found.from_numpy(given)
    np.testing.assert_array_equal(owner.to_numpy(), wanted)
    given[...] = 1
    found.fill(1)
    np.testing.assert_array_equal(owner.to_numpy(), wanted)
    with pytest.raises(ValueError, match=r"the shape|has the shape"):
        found.from_numpy(given[:2])


def test_structures_in_structures_are_members_too(device):
    owner, wanted = filled("aos"), values()
    owner.spin[1] = Spin(cg.vec2(3, 4), 5.0)
    wanted["spin"][1] = (3, 4), 5
    np.testing.assert_array_equal(owner.to_numpy(), wanted)
    np.testing.assert_array_equal(owner.spin.to_numpy(), wanted["spin"])
    assert owner.spin[1].rate == 5 and owner.spin.rate[1] == 5
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        owner.spin.nothing  # noqa: B018
    assert repr(owner.spin.rate).startswith("<member spin.rate of <StructArray Particle")


def test_kernels_see_what_the_host_wrote_and_the_host_what_kernels_wrote(device):
    @cg.kernel
    def double(x: cg.types.ndarray(Particle, ndim=1)):
        for i in x:
            x.mass[i] *= 2.0

    owner = filled("aos")
    owner.mass.fill(4)
    double(owner)
    assert owner.mass.to_numpy().tolist() == [8] * COUNT
    double.forget()


def test_gradients_have_members(device):
    x = cg.ndarray(Particle, COUNT, layout="aos", needs_grad=True)
    x.grad.mass.fill(3)
    assert x.mass.grad[1] == 3 and x.grad[1].mass == 3
    assert cg.ndarray(Particle, COUNT, layout="aos").mass.grad is None


def test_members_that_are_no_arrays_are_no_arguments(device):
    @cg.kernel
    def read(x: cg.Array1[cg.f64]) -> cg.f64:
        return x[0]

    with pytest.raises(TypeError, match="PackedMember"):
        read(filled("aos").mass)
