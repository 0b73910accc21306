# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: named tuples of the library tell where their class is, so that they can be pickled."""

import pickle

import pytest

import cuda_graphs as cg
from cuda_graphs.objects.code.launch_config import LaunchConfig

SOURCE = 'extern "C" __global__ void add(int* x, int amount) { x[0] += amount; }'


@pytest.fixture
def kernel(device):
    return cg.Program(SOURCE, code_type="c++").compile("cubin").get_kernel("add")


def state_of_a_parameter(device, kernel):
    g = cg.GraphDef()
    g.launch(
        LaunchConfig(grid=1, block=1),
        kernel,
        device.default_stream.handle,
        g.param("amount", cg.i32, default=2),
    )
    return g.instantiate().params["amount"]


def default_of_an_array_parameter(device, kernel):
    x = cg.zeros(3, cg.f32)
    return cg.GraphDef().param("x", cg.types.ndarray(cg.f32, 1), default=x).default


RETURNED = {
    "the capability of a device": lambda device, kernel: device.compute_capability,
    "the place of an argument": lambda device, kernel: kernel.arguments_info[1],
    "a block size": lambda device, kernel: kernel.occupancy.max_potential_block_size(0, 0),
    "the state of a parameter": state_of_a_parameter,
    "the default of an array parameter": default_of_an_array_parameter,
}


@pytest.mark.parametrize("name", RETURNED)
def test_named_tuples_can_be_pickled(name, device, kernel):
    given = RETURNED[name](device, kernel)
    found = pickle.loads(pickle.dumps(given))
    assert found == given
    assert type(found) is type(given)
    assert type(given).__module__.startswith("cuda_graphs.")
