# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a kernel reports its parameters and resources, keeps its code loaded, and is found by its raw handle."""

import gc
from concurrent.futures import ThreadPoolExecutor

import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes

SOURCE = (
    'extern "C" __global__ void f(char a, double b, float2 c, void* d) {} extern "C" __global__ void g() {}'
)


@pytest.fixture
def code(device):
    return cg.Program(SOURCE).compile("cubin")


def test_parameters_are_told_with_offset_and_size(code):
    kernel = code.get_kernel("f")
    assert kernel.num_arguments == 4
    assert [tuple(info) for info in kernel.arguments_info] == [(0, 1), (8, 8), (16, 8), (24, 8)]
    assert kernel.arguments_info[1].size == 8
    assert code.get_kernel("g").arguments_info == []
    assert (kernel.name, code.get_kernel("g").name) == ("f", "g")


def test_attributes_are_of_the_current_or_of_another_device(device, module):
    attributes = module.get_kernel("fill").attributes
    assert 32 <= attributes.max_threads_per_block <= 1024
    assert attributes.num_regs > 0
    assert attributes.ptx_version >= 50
    assert attributes.binary_version >= 50
    for name in ("shared_size_bytes", "const_size_bytes", "local_size_bytes", "cache_mode_ca"):
        assert getattr(attributes, name) >= 0
    for other in (device, 0):
        assert attributes[other].max_threads_per_block == attributes.max_threads_per_block


FLAGS = ("cache_mode_ca", "cluster_size_must_be_set", "non_portable_cluster_size_allowed")


def test_attributes_that_are_flags_are_bools_and_the_others_are_ints(device, code):
    attributes = code.get_kernel("f").attributes
    names = [name for name in dir(attributes) if not name.startswith("_")]
    assert set(FLAGS) < set(names)
    for name in names:
        assert type(getattr(attributes, name)) is (bool if name in FLAGS else int), name
    attributes.non_portable_cluster_size_allowed = True
    assert attributes.non_portable_cluster_size_allowed is True
    assert (
        code.get_kernel("f").occupancy.max_potential_cluster_size(cg.LaunchConfig(grid=1, cluster=1, block=1))
        > 8
    )


def test_attributes_that_can_be_set_keep_their_value(device, code):
    attributes = code.get_kernel("f").attributes
    attributes.max_dynamic_shared_size_bytes = 64 * 1024
    assert attributes.max_dynamic_shared_size_bytes == 64 * 1024
    with pytest.raises(AttributeError):
        attributes.num_regs = 3
    with pytest.raises(cg.CUDAError, match="setting attribute 8 of kernel 'f' to -1"):
        attributes.max_dynamic_shared_size_bytes = -1


def test_occupancy_is_plausible(device, module):
    kernel, properties = module.get_kernel("fill"), device.properties
    occupancy = kernel.occupancy
    blocks = occupancy.max_active_blocks_per_multiprocessor(128, 0)
    assert 1 <= blocks <= properties.max_threads_per_multiprocessor // 128
    grid, block = occupancy.max_potential_block_size(0, 0)
    assert 1 <= block <= kernel.attributes.max_threads_per_block
    assert grid >= properties.multiprocessor_count
    assert occupancy.max_potential_block_size(0, 64).max_block_size <= 64
    memory = occupancy.available_dynamic_shared_memory_per_block(1, 128)
    assert 0 < memory <= properties.max_shared_memory_per_multiprocessor
    config = cg.LaunchConfig(grid=8, cluster=2, block=64)
    assert occupancy.max_potential_cluster_size(config) >= 2
    assert occupancy.max_active_clusters(config) >= 1
    every = {"is_cooperative": True, "programmatic_stream_serialization": True}
    with_all = cg.LaunchConfig(grid=8, cluster=2, block=64, **every)
    assert occupancy.max_potential_cluster_size(with_all) >= 2


def test_the_same_kernel_is_equal_however_it_was_got(code):
    kernel = code.get_kernel("f")
    again = cg.Kernel.from_handle(kernel.handle)
    for other in (code.get_kernel(b"f"), again, cg.Kernel.from_handle(kernel.handle, code)):
        assert other == kernel
        assert hash(other) == hash(kernel)
        assert other.handle == kernel.handle
    assert kernel != code.get_kernel("g")


def test_a_kernel_tells_its_arguments_after_a_thread_without_context_asked(code):
    kernel = code.get_kernel("f")
    with ThreadPoolExecutor(1) as pool:
        for ask in (lambda: kernel.num_arguments, lambda: kernel.arguments_info):
            with pytest.raises(cg.CUDAError, match="INVALID_CONTEXT"):
                pool.submit(ask).result()
    assert kernel.num_arguments == 4
    assert [info.size for info in kernel.arguments_info] == [1, 8, 8, 8]
    with ThreadPoolExecutor(1) as pool:  # known by now
        assert pool.submit(lambda: kernel.num_arguments).result() == 4


def test_wrappers_of_one_kernel_share_one_box(code):
    before = boxes.live()["kernel"]
    wrappers = [code.get_kernel("f") for _ in range(3)]
    wrappers += [cg.Kernel.from_handle(wrappers[0].handle) for _ in range(3)]
    assert boxes.live()["kernel"] == before + 1
    del wrappers[:3]
    assert cg.Kernel.from_handle(wrappers[0].handle).num_arguments == 4
    assert boxes.live()["kernel"] == before + 1


def test_a_kernel_keeps_its_code_loaded_and_the_last_one_unloads_it(device):
    before = boxes.live()["library"]
    code = cg.Program(SOURCE).compile("cubin")
    kernel = code.get_kernel("f")
    assert boxes.live()["library"] == before + 1
    del code
    gc.collect()
    assert boxes.live()["library"] == before + 1
    again = cg.Kernel.from_handle(kernel.handle)
    del kernel
    assert again.attributes.max_threads_per_block > 0
    assert again.num_arguments == 4
    del again
    gc.collect()
    assert boxes.live()["library"] == before


@pytest.mark.parametrize("handle", [1.5, "1", None, b"1", [1], (1,), {}, object(), True, 1j])
def test_a_handle_must_be_an_int(driver, handle):
    with pytest.raises(TypeError, match="handle must be an int"):
        cg.Kernel.from_handle(handle)


@pytest.mark.parametrize("mod", ["code", 12345, object()])
def test_mod_must_be_object_code(code, mod):
    with pytest.raises(TypeError):
        cg.Kernel.from_handle(code.get_kernel("f").handle, mod)


def test_a_mod_that_does_not_match_warns_once_and_is_ignored(code):
    kernel = code.get_kernel("f")
    other = cg.Program(SOURCE).compile("cubin")
    with pytest.warns(UserWarning, match="does not match") as caught:
        again = cg.Kernel.from_handle(kernel.handle, other)
    assert len(caught) == 1
    assert again.num_arguments == 4


def foreign_kernel(code):
    """A kernel that we did not get through `get_kernel`, as another library would hand it over."""
    bindings = pytest.importorskip("cuda.bindings.driver")
    status, library = bindings.cuLibraryLoadData(code.code, [], [], 0, [], [], 0)
    assert status == bindings.CUresult.CUDA_SUCCESS
    status, kernel = bindings.cuLibraryGetKernel(library, b"f")
    assert status == bindings.CUresult.CUDA_SUCCESS
    return int(kernel), lambda: bindings.cuLibraryUnload(library)


@pytest.mark.cuda
def test_a_foreign_kernel_is_borrowed(code):
    handle, unload = foreign_kernel(code)
    kernel = cg.Kernel.from_handle(handle)
    assert kernel.num_arguments == 4
    assert kernel.handle == handle
    del kernel
    unload()


def test_a_borrowed_kernel_with_a_mod_keeps_it_loaded(device):
    before = boxes.live()["library"]
    code = cg.Program(SOURCE).compile("cubin")
    handle = code.get_kernel("f").handle  # the wrapper is gone at once, so the handle is unknown now
    kernel = cg.Kernel.from_handle(handle, code)
    del code
    gc.collect()
    assert boxes.live()["library"] == before + 1
    assert kernel.num_arguments == 4


def test_attributes_and_occupancy_cannot_be_made_directly(device):
    for kind in (cg.KernelAttributes, cg.KernelOccupancy):
        with pytest.raises(RuntimeError, match=f"^{kind.__name__} has no public constructor: use "):
            kind()
