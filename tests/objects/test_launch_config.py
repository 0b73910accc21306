# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a LaunchConfig is three grids of 1 to 3 numbers >= 1, seen as 3-tuples; eq, hash and repr show all of it."""

import pickle

import pytest

import cuda_graphs as cg


@pytest.mark.parametrize(
    ("given", "seen"), [(5, (5, 1, 1)), ((5,), (5, 1, 1)), ((5, 6), (5, 6, 1)), ((5, 6, 7), (5, 6, 7))]
)
def test_an_int_or_a_short_tuple_is_padded_with_ones(given, seen):
    config = cg.LaunchConfig(grid=given, block=given)
    assert config.grid == config.block == seen
    assert config.cluster is None
    assert (config.shmem_size, config.is_cooperative) == (0, False)


@pytest.mark.parametrize("field", ["grid", "block"])
@pytest.mark.parametrize("value", [0, -1, (1, 0), (1, 2, 3, 4), (), "64", None, 1.0, (1, None), [1]])
def test_anything_else_is_a_value_error_that_names_the_field(field, value):
    with pytest.raises(ValueError, match=field):
        cg.LaunchConfig(**{"grid": 1, "block": 1, field: value})


BEYOND = [
    ("block", 4096, "block=4096 has 4096 threads, and the limit is 1024"),
    ("block", 1025, "block=1025 has 1025 threads, and the limit is 1024"),
    ("block", (64, 64), r"block=\(64, 64\) has 4096 threads, and the limit is 1024"),
    ("block", (1, 1, 65), r"block=\(1, 1, 65\) makes 65 threads in z, and the limit is 64"),
    ("grid", 1 << 31, "makes 2147483648 blocks in x, and the limit is 2147483647"),
    ("grid", (1, 1 << 16), r"grid=\(1, 65536\) makes 65536 blocks in y, and the limit is 65535"),
    ("grid", (1, 1, 1 << 16), r"makes 65536 blocks in z, and the limit is 65535"),
]


@pytest.mark.parametrize(("field", "value", "match"), BEYOND)
def test_what_no_device_can_run_is_refused_with_the_limit(field, value, match, device, driver_table):
    config = cg.LaunchConfig(grid=2, block=3)
    calls = driver_table.watch("cuLaunchKernel", "cuGraphAddNode")
    with pytest.raises(ValueError, match=match):
        cg.LaunchConfig(**{"grid": 1, "block": 1, field: value})
    with pytest.raises(ValueError, match=match):
        setattr(config, field, value)
    assert (config.grid, config.block) == ((2, 1, 1), (3, 1, 1))
    assert calls == []


def test_the_limits_are_those_of_the_device(device):
    limits = device.properties
    x, y, z = (limits.max_block_dim_x, limits.max_block_dim_y, limits.max_block_dim_z)
    assert (limits.max_threads_per_block, x, y, z) == (1024, 1024, 1024, 64)
    assert (limits.max_grid_dim_x, limits.max_grid_dim_y, limits.max_grid_dim_z) == (2**31 - 1, 65535, 65535)
    cg.LaunchConfig(grid=(2**31 - 1, 65535, 65535), block=(16, 1, 64))


def test_positional_order_is_grid_cluster_block():
    assert cg.LaunchConfig(2, None, 32).block == (32, 1, 1)


@pytest.mark.parametrize("size", [-1, 1 << 31])
def test_shared_memory_out_of_range_is_refused(size):
    with pytest.raises(ValueError, match="shmem_size"):
        cg.LaunchConfig(grid=1, block=1, shmem_size=size)


def test_fields_can_be_changed_and_are_checked_again():
    config = cg.LaunchConfig(grid=1, block=1)
    config.grid, config.block, config.shmem_size = (2, 3), 64, 128
    assert (config.grid, config.block, config.shmem_size) == ((2, 3, 1), (64, 1, 1), 128)
    with pytest.raises(ValueError, match="grid"):
        config.grid = 0
    assert config.grid == (2, 3, 1)


def test_equal_fields_are_equal_and_any_other_field_is_not():
    config = cg.LaunchConfig(grid=2, block=3, shmem_size=4)
    same = cg.LaunchConfig(grid=(2, 1), block=(3,), shmem_size=4)
    assert config == same
    assert hash(config) == hash(same)
    for other in ({"grid": 3}, {"block": 2}, {"shmem_size": 5}):
        assert config != cg.LaunchConfig(**{"grid": 2, "block": 3, "shmem_size": 4, **other})
    assert config != "config"


def test_the_repr_makes_it_again():
    config = cg.LaunchConfig(grid=(1, 2), block=4, shmem_size=8)
    assert eval(repr(config), {"LaunchConfig": cg.LaunchConfig}) == config


def test_config_can_be_pickled():
    config = cg.LaunchConfig(grid=(1, 2), block=4, shmem_size=8)
    assert pickle.loads(pickle.dumps(config)) == config


def test_a_config_without_clusters_and_cooperation_asks_no_device(run_child):
    child = run_child(
        "import cuda_graphs as cg; from cuda_graphs.core.driver import choice; cg.LaunchConfig(grid=1, block=1); "
        "assert choice._chosen is None"
    )
    assert (child.returncode, child.stderr) == (0, "")


def test_clusters_need_compute_capability_9(device, monkeypatch):
    from cuda_graphs.objects.code import launch_config as module

    assert cg.LaunchConfig(grid=1, cluster=2, block=32).cluster == (2, 1, 1)

    class Old:
        compute_capability = (8, 6)

    monkeypatch.setattr(module, "Device", Old)
    with pytest.raises(
        cg.CUDAError, match=r"clusters of blocks need compute capability 9.0, and the device has 8.6"
    ):
        cg.LaunchConfig(grid=1, cluster=2, block=32)


def test_cooperation_needs_a_device_that_has_it(device, monkeypatch):
    from cuda_graphs.objects.code import launch_config as module

    assert cg.LaunchConfig(grid=1, block=32, is_cooperative=True).is_cooperative is True

    class Old:
        class properties:
            cooperative_launch = False

    monkeypatch.setattr(module, "Device", Old)
    with pytest.raises(cg.CUDAError, match="the device has no cooperative launches"):
        cg.LaunchConfig(grid=1, block=32, is_cooperative=True)
