# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Names of the peers that are absent, with the reason and what to use. A use raises an AttributeError that says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["ABSENT", "DENSE_MEMBERS", "OTHER_MEMBERS", "AbsentMember", "absent_names"]

SPARSE = "fields are dense: use a field of the whole shape, and a field of flags for what is active"
SNODES = "sparse layouts: ti.root.dense(...).place(...) is there"
MESHES = "meshes: write arrays of indices"
QUANT = "quantised types: use i8, i16 or f16, or shifts and masks"
WINDOWS = "windows and images: show x.to_numpy() with Matplotlib, or write it with PIL"
PROFILE = "the profiler of the peers: use cuda-graphs profile, or cg.Event around calls"
SOLVERS = "sparse solvers: pass arrays to CuPy, PyTorch or SciPy"
TEXTURES = "textures: CUDA C++ kernels take texture handles as u64"
BACKENDS = "backends other than x86-64 and CUDA: use cpu, cuda or gpu"
AOT = (
    "ahead-of-time modules: compiled code is kept on disk (cg.compile_cache), and GraphDef.save writes graphs"
)
REAL = "arguments by reference: a func that is inlined changes its arguments of type template"
LOGGING = "the log of the peers: use the logging module of Python"
STREAMS = "use cg.Stream and cg.Event, and pass stream= to calls"
GRAPHS = "graphs of the peers: use cg.GraphDef, or @kernel(graph=True)"
INTERNAL = "parts of the peers' implementation"
TIMERS = "clocks of the device: use cg.Event around calls"
BUFFERS = "views of memory: use cg.NDArray.view and slices"

# reason -> the names, by their paths in the module of a peer
BY_REASON = {
    SPARSE: (
        "activate append deactivate deactivate_all_snodes get_addr is_active length no_activate rescale_index "
        "sparse"
    ),
    SNODES: "SNode",
    MESHES: "Mesh MeshInstance mesh_local mesh_patch_idx",
    QUANT: "BitpackedFields types.quant",
    WINDOWS: "GUI ui tools hex_to_rgb rgb_to_hex",
    PROFILE: "profiler",
    SOLVERS: "linalg sparse_matrix_builder types.sparse_matrix_builder",
    TEXTURES: "Format Texture types.texture types.rw_texture",
    BACKENDS: "amdgpu arm64 dx11 dx12 gles metal opengl vulkan extension is_extension_enabled DeviceCapability interop",
    AOT: "aot",
    REAL: "ref",
    LOGGING: "CRITICAL DEBUG ERROR INFO TRACE WARN is_logging_effective set_logging_level dump_compile_config",
    STREAMS: "Event Stream create_event create_stream stream_parallel",
    GRAPHS: "graph GraphStatus",
    INTERNAL: (
        "lang python FieldsBuilder wrap perf_dispatch ArgPack argpack Backend math.fns types.is_tensor "
        "types.ref simt.tile_slicing"
    ),
    TIMERS: "clock_counter clock_freq_hz",
    BUFFERS: "BufferView",
}  # fmt: skip

ABSENT = {name: reason for reason, names in BY_REASON.items() for name in names.split()}

TREE = "fields are dense and have no tree"

# Members of fields that are absent -> why.
DENSE_MEMBERS = {"snode": TREE, "parent": TREE}
# Members of fields and arrays with another spelling here -> the spelling.
OTHER_MEMBERS = {
    "Field.from_paddle": "`x.from_numpy`",
    "Field.to_paddle": "`paddle.from_dlpack(x)`",
    "Ndarray.get_type": "`x.dtype`, `x.element_shape`",
    "MatrixField.get_scalar_field": "`x[..., i]` of `x.to_numpy()`",
}


class AbsentMember:
    """A member that objects of the peers have, and those here lack. A use raises an AttributeError with the remedy."""

    def __init__(self, name: str, remedy: str) -> None:
        self.name, self.remedy = name, remedy.replace("`", "")

    def __get__(self, instance: Any, owner: type) -> Any:
        raise AttributeError(f"{owner.__name__}.{self.name} is absent in cuda_graphs.compat: {self.remedy}")


def absent_names(module: str, prefix: str = "") -> Callable[[str], Any]:
    """Return the `__getattr__` of a module of this package, which says why a name is absent.

    Args:
        module: The name of the module below `cuda_graphs.compat`.
        prefix: The path of the module in that of a peer, with a dot at its end.
    """

    def refuse(name: str) -> Any:
        reason = ABSENT.get(prefix + name)
        if name.startswith("__") or reason is None:
            raise AttributeError(f"module 'cuda_graphs.compat.{module}' has no attribute {name!r}")
        raise AttributeError(f"{module}.{name} is absent in cuda_graphs.compat: {reason}")

    return refuse
