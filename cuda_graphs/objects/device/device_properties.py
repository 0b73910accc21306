# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Properties of a device: one property for each device attribute of the driver, all from one table."""

from collections.abc import Callable
from typing import Annotated


class DeviceProperties:
    """The properties of a device, `Device.properties`. Each is queried once; 0 or False if the driver lacks the
    attribute.

    The annotations are the table: a type, and the number of the attribute. Names and numbers are those of
    ``CUdevice_attribute`` in cuda.h (CUDA 13.0), without its deprecated members. cuda.h gives the meaning and unit of
    each.
    """

    __slots__ = ("_ask", "_known")

    max_threads_per_block: Annotated[int, 1]
    max_block_dim_x: Annotated[int, 2]
    max_block_dim_y: Annotated[int, 3]
    max_block_dim_z: Annotated[int, 4]
    max_grid_dim_x: Annotated[int, 5]
    max_grid_dim_y: Annotated[int, 6]
    max_grid_dim_z: Annotated[int, 7]
    max_shared_memory_per_block: Annotated[int, 8]
    total_constant_memory: Annotated[int, 9]
    warp_size: Annotated[int, 10]
    max_pitch: Annotated[int, 11]
    max_registers_per_block: Annotated[int, 12]
    clock_rate: Annotated[int, 13]
    texture_alignment: Annotated[int, 14]
    gpu_overlap: Annotated[bool, 15]
    multiprocessor_count: Annotated[int, 16]
    kernel_exec_timeout: Annotated[bool, 17]
    integrated: Annotated[bool, 18]
    can_map_host_memory: Annotated[bool, 19]
    compute_mode: Annotated[int, 20]
    maximum_texture1d_width: Annotated[int, 21]
    maximum_texture2d_width: Annotated[int, 22]
    maximum_texture2d_height: Annotated[int, 23]
    maximum_texture3d_width: Annotated[int, 24]
    maximum_texture3d_height: Annotated[int, 25]
    maximum_texture3d_depth: Annotated[int, 26]
    maximum_texture2d_layered_width: Annotated[int, 27]
    maximum_texture2d_layered_height: Annotated[int, 28]
    maximum_texture2d_layered_layers: Annotated[int, 29]
    surface_alignment: Annotated[int, 30]
    concurrent_kernels: Annotated[bool, 31]
    ecc_enabled: Annotated[bool, 32]
    pci_bus_id: Annotated[int, 33]
    pci_device_id: Annotated[int, 34]
    tcc_driver: Annotated[bool, 35]
    memory_clock_rate: Annotated[int, 36]
    global_memory_bus_width: Annotated[int, 37]
    l2_cache_size: Annotated[int, 38]
    max_threads_per_multiprocessor: Annotated[int, 39]
    async_engine_count: Annotated[int, 40]
    unified_addressing: Annotated[bool, 41]
    maximum_texture1d_layered_width: Annotated[int, 42]
    maximum_texture1d_layered_layers: Annotated[int, 43]
    maximum_texture2d_gather_width: Annotated[int, 45]
    maximum_texture2d_gather_height: Annotated[int, 46]
    maximum_texture3d_width_alternate: Annotated[int, 47]
    maximum_texture3d_height_alternate: Annotated[int, 48]
    maximum_texture3d_depth_alternate: Annotated[int, 49]
    pci_domain_id: Annotated[int, 50]
    texture_pitch_alignment: Annotated[int, 51]
    maximum_texturecubemap_width: Annotated[int, 52]
    maximum_texturecubemap_layered_width: Annotated[int, 53]
    maximum_texturecubemap_layered_layers: Annotated[int, 54]
    maximum_surface1d_width: Annotated[int, 55]
    maximum_surface2d_width: Annotated[int, 56]
    maximum_surface2d_height: Annotated[int, 57]
    maximum_surface3d_width: Annotated[int, 58]
    maximum_surface3d_height: Annotated[int, 59]
    maximum_surface3d_depth: Annotated[int, 60]
    maximum_surface1d_layered_width: Annotated[int, 61]
    maximum_surface1d_layered_layers: Annotated[int, 62]
    maximum_surface2d_layered_width: Annotated[int, 63]
    maximum_surface2d_layered_height: Annotated[int, 64]
    maximum_surface2d_layered_layers: Annotated[int, 65]
    maximum_surfacecubemap_width: Annotated[int, 66]
    maximum_surfacecubemap_layered_width: Annotated[int, 67]
    maximum_surfacecubemap_layered_layers: Annotated[int, 68]
    maximum_texture2d_linear_width: Annotated[int, 70]
    maximum_texture2d_linear_height: Annotated[int, 71]
    maximum_texture2d_linear_pitch: Annotated[int, 72]
    maximum_texture2d_mipmapped_width: Annotated[int, 73]
    maximum_texture2d_mipmapped_height: Annotated[int, 74]
    compute_capability_major: Annotated[int, 75]
    compute_capability_minor: Annotated[int, 76]
    maximum_texture1d_mipmapped_width: Annotated[int, 77]
    stream_priorities_supported: Annotated[bool, 78]
    global_l1_cache_supported: Annotated[bool, 79]
    local_l1_cache_supported: Annotated[bool, 80]
    max_shared_memory_per_multiprocessor: Annotated[int, 81]
    max_registers_per_multiprocessor: Annotated[int, 82]
    managed_memory: Annotated[bool, 83]
    multi_gpu_board: Annotated[bool, 84]
    multi_gpu_board_group_id: Annotated[int, 85]
    host_native_atomic_supported: Annotated[bool, 86]
    single_to_double_precision_perf_ratio: Annotated[int, 87]
    pageable_memory_access: Annotated[bool, 88]
    concurrent_managed_access: Annotated[bool, 89]
    compute_preemption_supported: Annotated[bool, 90]
    can_use_host_pointer_for_registered_mem: Annotated[bool, 91]
    cooperative_launch: Annotated[bool, 95]
    max_shared_memory_per_block_optin: Annotated[int, 97]
    can_flush_remote_writes: Annotated[bool, 98]
    host_register_supported: Annotated[bool, 99]
    pageable_memory_access_uses_host_page_tables: Annotated[bool, 100]
    direct_managed_mem_access_from_host: Annotated[bool, 101]
    virtual_memory_management_supported: Annotated[bool, 102]
    handle_type_posix_file_descriptor_supported: Annotated[bool, 103]
    handle_type_win32_handle_supported: Annotated[bool, 104]
    handle_type_win32_kmt_handle_supported: Annotated[bool, 105]
    max_blocks_per_multiprocessor: Annotated[int, 106]
    generic_compression_supported: Annotated[bool, 107]
    max_persisting_l2_cache_size: Annotated[int, 108]
    max_access_policy_window_size: Annotated[int, 109]
    gpu_direct_rdma_with_cuda_vmm_supported: Annotated[bool, 110]
    reserved_shared_memory_per_block: Annotated[int, 111]
    sparse_cuda_array_supported: Annotated[bool, 112]
    read_only_host_register_supported: Annotated[bool, 113]
    timeline_semaphore_interop_supported: Annotated[bool, 114]
    memory_pools_supported: Annotated[bool, 115]
    gpu_direct_rdma_supported: Annotated[bool, 116]
    gpu_direct_rdma_flush_writes_options: Annotated[int, 117]
    gpu_direct_rdma_writes_ordering: Annotated[int, 118]
    mempool_supported_handle_types: Annotated[int, 119]
    cluster_launch: Annotated[bool, 120]
    deferred_mapping_cuda_array_supported: Annotated[bool, 121]
    can_use_64_bit_stream_mem_ops: Annotated[bool, 122]
    can_use_stream_wait_value_nor: Annotated[bool, 123]
    dma_buf_supported: Annotated[bool, 124]
    ipc_event_supported: Annotated[bool, 125]
    mem_sync_domain_count: Annotated[int, 126]
    tensor_map_access_supported: Annotated[bool, 127]
    handle_type_fabric_supported: Annotated[bool, 128]
    unified_function_pointers: Annotated[bool, 129]
    numa_config: Annotated[int, 130]
    numa_id: Annotated[int, 131]
    multicast_supported: Annotated[bool, 132]
    mps_enabled: Annotated[bool, 133]
    host_numa_id: Annotated[int, 134]
    d3d12_cig_supported: Annotated[bool, 135]
    mem_decompress_algorithm_mask: Annotated[int, 136]
    mem_decompress_maximum_length: Annotated[int, 137]
    vulkan_cig_supported: Annotated[bool, 138]
    gpu_pci_device_id: Annotated[int, 139]
    gpu_pci_subsystem_id: Annotated[int, 140]
    host_numa_virtual_memory_management_supported: Annotated[bool, 141]
    host_numa_memory_pools_supported: Annotated[bool, 142]
    host_numa_multinode_ipc_supported: Annotated[bool, 143]
    host_memory_pools_supported: Annotated[bool, 144]
    host_virtual_memory_management_supported: Annotated[bool, 145]
    host_alloc_dma_buf_supported: Annotated[bool, 146]

    def __init__(self, ask: Callable[[int], int]) -> None:
        self._ask = ask
        self._known: dict[str, int] = {}

    def __getattr__(self, name: str) -> int:
        if name not in ATTRIBUTES:
            raise AttributeError(f"a device has no property {name!r}", name=name, obj=self)
        if name not in self._known:
            number, kind = ATTRIBUTES[name]
            self._known[name] = kind(self._ask(number))
        return self._known[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *ATTRIBUTES]

    def __repr__(self) -> str:
        return f"<DeviceProperties: {len(ATTRIBUTES)} properties>"

    def __str__(self) -> str:
        """Return a line for each property."""
        return "\n".join(f"{name} = {getattr(self, name)}" for name in ATTRIBUTES)

    def _repr_html_(self) -> str:
        from cuda_graphs.drawing.table import html_table

        rows = [(name, getattr(self, name)) for name in ATTRIBUTES]
        return html_table("Properties of the device", ("property", "value"), rows)


ATTRIBUTES: dict[str, tuple[int, type]] = {
    name: (row.__metadata__[0], row.__origin__) for name, row in DeviceProperties.__annotations__.items()
}
"""Name of the property -> (CUdevice_attribute, type of the value)."""
