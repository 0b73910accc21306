# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs as Python objects, on NVIDIA GPUs and on any CPU."""

from typing import TYPE_CHECKING

from cuda_graphs.core.driver.choice import DriverInfo, driver_info, use_driver
from cuda_graphs.graph.analysis.check import CheckReport, Finding
from cuda_graphs.graph.capture.builder import GraphBuilder
from cuda_graphs.graph.definition import GraphDef
from cuda_graphs.graph.executable.executable import Graph
from cuda_graphs.graph.executable.executable_nodes import (
    ExecutableChildGraphNode,
    ExecutableEventRecordNode,
    ExecutableEventWaitNode,
    ExecutableGraphNode,
    ExecutableHostCallbackNode,
    ExecutableKernelNode,
    ExecutableMemcpyNode,
    ExecutableMemsetNode,
)
from cuda_graphs.graph.nodes.node import GraphNode
from cuda_graphs.graph.nodes.node_kinds import (
    AllocNode,
    ChildGraphNode,
    ConditionalNode,
    EmptyNode,
    EventRecordNode,
    EventWaitNode,
    FreeNode,
    HostCallbackNode,
    IfElseNode,
    IfNode,
    KernelNode,
    MemcpyNode,
    MemsetNode,
    SwitchNode,
    WhileNode,
)
from cuda_graphs.graph.nodes.node_type import GraphNodeType
from cuda_graphs.graph.nodes.options import (
    GraphAllocOptions,
    GraphCompleteOptions,
    GraphDebugPrintOptions,
)
from cuda_graphs.graph.operands.condition import Condition
from cuda_graphs.graph.operands.edge_data import EdgeData
from cuda_graphs.graph.operands.parameter import Parameter
from cuda_graphs.graph.operands.spans import Span
from cuda_graphs.objects.code.kernel import Kernel, KernelAttributes, KernelOccupancy
from cuda_graphs.objects.code.launch import launch
from cuda_graphs.objects.code.launch_config import LaunchConfig
from cuda_graphs.objects.code.object_code import ObjectCode
from cuda_graphs.objects.code.program import Program, ProgramOptions
from cuda_graphs.objects.device.context import Context
from cuda_graphs.objects.device.device import ComputeCapability, Device
from cuda_graphs.objects.device.device_properties import DeviceProperties
from cuda_graphs.objects.device.event import Event, EventOptions
from cuda_graphs.objects.device.stream import (
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    Stream,
    StreamOptions,
)
from cuda_graphs.objects.memory.buffer import Buffer
from cuda_graphs.objects.memory.graph_memory import GraphMemoryResource, GraphMemoryResourceAttributes
from cuda_graphs.objects.memory.memory_resource import (
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    ManagedMemoryResource,
    MemoryResource,
    PinnedMemoryResource,
    SynchronousMemoryResource,
)

from .errors import (
    CaptureError,
    ClosedBufferError,
    ClosedBuilderError,
    CUDAError,
    CUDANotSupportedError,
    CUDAOutOfMemoryError,
    CUDAWarning,
    DriverNotFoundError,
    GraphInstantiateError,
    GraphUpdateError,
    ImageError,
    LaunchError,
    NVRTCError,
)

if TYPE_CHECKING:
    from cuda_graphs.compiler.cache.artifact_cache import CompileCache, compile_cache
    from cuda_graphs.compiler.errors import (
        CompileArgumentError,
        CompileBarrierError,
        CompileBlockError,
        CompileCheckpointError,
        CompileError,
        CompileGradientError,
        CompileImmutableError,
        CompileIndexError,
        CompileLiteralError,
        CompileLoopError,
        CompileNameError,
        CompileNegativeIndexError,
        CompileRecursionError,
        CompileResidentError,
        CompileReturnError,
        CompileSectionError,
        CompileSharedMemoryError,
        CompileStaticError,
        CompileSyntaxError,
        CompileTypeError,
        CompileValueError,
        CompileWarning,
        UnsupportedSyntaxError,
    )
    from cuda_graphs.compiler.ir.types import (
        bf16,
        bool_,
        f16,
        f32,
        f64,
        i8,
        i16,
        i32,
        i64,
        pointer,
        u8,
        u16,
        u32,
        u64,
    )
    from cuda_graphs.compiler.language import annotations as types
    from cuda_graphs.compiler.language import block, warp
    from cuda_graphs.compiler.language.annotations import (
        data_oriented,
        mat,
        mat2,
        mat3,
        mat4,
        template,
        vec,
        vec2,
        vec3,
        vec4,
    )
    from cuda_graphs.compiler.language.graph_flow import (
        checkpoint,
        graph_do_while,
        graph_if,
        graph_parallel,
        graph_section,
        graph_switch,
        graph_while,
    )
    from cuda_graphs.compiler.language.intrinsics import (
        acos,
        asin,
        atan,
        atan2,
        atomic_add,
        atomic_and,
        atomic_cas,
        atomic_exchange,
        atomic_max,
        atomic_min,
        atomic_mul,
        atomic_or,
        atomic_sub,
        atomic_xor,
        bit_cast,
        bit_shr,
        blocks,
        cast,
        ceil,
        clz,
        cos,
        cosh,
        cross,
        determinant,
        distance,
        dot,
        exp,
        exp2,
        ffs,
        floor,
        fma,
        func,
        grouped,
        inverse,
        isinf,
        isnan,
        length,
        log,
        log2,
        log10,
        loop_config,
        ndrange,
        norm,
        normalize,
        normalized,
        outer,
        popcnt,
        random,
        raw_div,
        raw_mod,
        reflect,
        rsqrt,
        select,
        sign,
        sin,
        sinh,
        sqrt,
        static,
        static_assert,
        static_print,
        stop_grad,
        tan,
        tanh,
        trace,
        transpose,
        trunc,
        vector,
    )
    from cuda_graphs.compiler.language.intrinsics import round as round  # noqa: A004
    from cuda_graphs.compiler.language.library import (
        clamp,
        degrees,
        fract,
        mix,
        radians,
        smoothstep,
        step,
    )
    from cuda_graphs.kernels.arrays.foreign import from_dlpack
    from cuda_graphs.kernels.arrays.ndarray import Field, NDArray, field, ndarray
    from cuda_graphs.kernels.call.compile_all import compile_all
    from cuda_graphs.kernels.call.decorator import kernel
    from cuda_graphs.kernels.call.function import KernelFunction
    from cuda_graphs.kernels.call.kernel_registry import reset
    from cuda_graphs.kernels.debug.faults import (
        AdstackOverflowError,
        KernelAssertionError,
        KernelError,
        KernelIndexError,
    )
    from cuda_graphs.kernels.graph.checkpoints import CheckpointStatus
    from cuda_graphs.kernels.graph.graph_stats import GraphStats
    from cuda_graphs.kernels.seeds import random_seed

    from . import interop

__all__ = [
    "LEGACY_DEFAULT_STREAM",
    "PER_THREAD_DEFAULT_STREAM",
    "AdstackOverflowError",
    "AllocNode",
    "Buffer",
    "CUDAError",
    "CUDANotSupportedError",
    "CUDAOutOfMemoryError",
    "CUDAWarning",
    "CaptureError",
    "CheckReport",
    "CheckpointStatus",
    "ChildGraphNode",
    "ClosedBufferError",
    "ClosedBuilderError",
    "CompileArgumentError",
    "CompileBarrierError",
    "CompileBlockError",
    "CompileCache",
    "CompileCheckpointError",
    "CompileError",
    "CompileGradientError",
    "CompileImmutableError",
    "CompileIndexError",
    "CompileLiteralError",
    "CompileLoopError",
    "CompileNameError",
    "CompileNegativeIndexError",
    "CompileRecursionError",
    "CompileResidentError",
    "CompileReturnError",
    "CompileSectionError",
    "CompileSharedMemoryError",
    "CompileStaticError",
    "CompileSyntaxError",
    "CompileTypeError",
    "CompileValueError",
    "CompileWarning",
    "ComputeCapability",
    "Condition",
    "ConditionalNode",
    "Context",
    "Device",
    "DeviceMemoryResource",
    "DeviceMemoryResourceOptions",
    "DeviceProperties",
    "DriverInfo",
    "DriverNotFoundError",
    "EdgeData",
    "EmptyNode",
    "Event",
    "EventOptions",
    "EventRecordNode",
    "EventWaitNode",
    "ExecutableChildGraphNode",
    "ExecutableEventRecordNode",
    "ExecutableEventWaitNode",
    "ExecutableGraphNode",
    "ExecutableHostCallbackNode",
    "ExecutableKernelNode",
    "ExecutableMemcpyNode",
    "ExecutableMemsetNode",
    "Field",
    "Finding",
    "FreeNode",
    "Graph",
    "GraphAllocOptions",
    "GraphBuilder",
    "GraphCompleteOptions",
    "GraphDebugPrintOptions",
    "GraphDef",
    "GraphInstantiateError",
    "GraphMemoryResource",
    "GraphMemoryResourceAttributes",
    "GraphNode",
    "GraphNodeType",
    "GraphStats",
    "GraphUpdateError",
    "HostCallbackNode",
    "IfElseNode",
    "IfNode",
    "ImageError",
    "Kernel",
    "KernelAssertionError",
    "KernelAttributes",
    "KernelError",
    "KernelFunction",
    "KernelIndexError",
    "KernelNode",
    "KernelOccupancy",
    "LaunchConfig",
    "LaunchError",
    "ManagedMemoryResource",
    "MemcpyNode",
    "MemoryResource",
    "MemsetNode",
    "NDArray",
    "NVRTCError",
    "ObjectCode",
    "Parameter",
    "PinnedMemoryResource",
    "Program",
    "ProgramOptions",
    "Span",
    "Stream",
    "StreamOptions",
    "SwitchNode",
    "SynchronousMemoryResource",
    "UnsupportedSyntaxError",
    "WhileNode",
    "acos",
    "ad",
    "asin",
    "atan",
    "atan2",
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_exchange",
    "atomic_max",
    "atomic_min",
    "atomic_mul",
    "atomic_or",
    "atomic_sub",
    "atomic_xor",
    "bf16",
    "bit_cast",
    "bit_shr",
    "block",
    "blocks",
    "bool_",
    "cast",
    "ceil",
    "checkpoint",
    "clamp",
    "clz",
    "compile_all",
    "compile_cache",
    "cos",
    "cosh",
    "cross",
    "data_oriented",
    "degrees",
    "determinant",
    "distance",
    "dot",
    "driver_info",
    "e",
    "exp",
    "exp2",
    "f16",
    "f32",
    "f64",
    "ffs",
    "field",
    "floor",
    "fma",
    "fract",
    "from_dlpack",
    "func",
    "graph_do_while",
    "graph_if",
    "graph_parallel",
    "graph_section",
    "graph_switch",
    "graph_while",
    "grouped",
    "i8",
    "i16",
    "i32",
    "i64",
    "inf",
    "interop",
    "inverse",
    "isinf",
    "isnan",
    "kernel",
    "launch",
    "length",
    "log",
    "log2",
    "log10",
    "loop_config",
    "mat",
    "mat2",
    "mat3",
    "mat4",
    "mix",
    "mod",
    "nan",
    "ndarray",
    "ndrange",
    "norm",
    "normalize",
    "normalized",
    "outer",
    "pi",
    "pointer",
    "popcnt",
    "radians",
    "random",
    "random_seed",
    "raw_div",
    "raw_mod",
    "reflect",
    "reset",
    "rsqrt",
    "select",
    "sign",
    "sin",
    "sinh",
    "smoothstep",
    "sqrt",
    "static",
    "static_assert",
    "static_print",
    "step",
    "stop_grad",
    "tan",
    "tanh",
    "template",
    "trace",
    "transpose",
    "trunc",
    "types",
    "u8",
    "u16",
    "u32",
    "u64",
    "use_driver",
    "vec",
    "vec2",
    "vec3",
    "vec4",
    "vector",
    "warp",
]

# Names of the compiler and of what is built on it, by the module that is imported when one of them is asked for.
_MODULES = {
    "cuda_graphs.compiler.ir.types": "i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 bool_ pointer",
    "cuda_graphs.compiler.language.annotations": "data_oriented mat mat2 mat3 mat4 template vec vec2 vec3 vec4",
    "cuda_graphs.compiler.cache.artifact_cache": "CompileCache compile_cache",
    "cuda_graphs.compiler.errors": "CompileArgumentError CompileError CompileGradientError CompileImmutableError "
    "CompileIndexError CompileLiteralError CompileLoopError CompileNameError CompileNegativeIndexError "
    "CompileRecursionError CompileReturnError CompileStaticError CompileSyntaxError "
    "CompileTypeError CompileValueError CompileWarning UnsupportedSyntaxError "
    "CompileBarrierError CompileBlockError CompileCheckpointError CompileResidentError CompileSectionError "
    "CompileSharedMemoryError",
    "cuda_graphs.compiler.language.intrinsics": "acos asin atan atan2 atomic_add atomic_and atomic_cas atomic_exchange "
    "atomic_max atomic_min atomic_mul atomic_or atomic_sub atomic_xor bit_cast bit_shr blocks cast ceil clz cos "
    "cosh cross determinant "
    "distance dot exp exp2 ffs floor fma func grouped inverse isinf isnan length log log10 log2 "
    "loop_config ndrange norm normalize normalized outer popcnt random raw_div raw_mod reflect round "
    "rsqrt select sign sin sinh sqrt static static_assert static_print stop_grad tan tanh trace transpose trunc "
    "vector",
    "cuda_graphs.compiler.language.library": "clamp degrees e fract inf mix mod nan pi radians smoothstep step",
    "cuda_graphs.kernels.call.kernel_registry": "reset",
    "cuda_graphs.compiler.language.graph_flow": "checkpoint graph_do_while graph_if graph_parallel "
    "graph_section graph_switch graph_while",
    "cuda_graphs.kernels.debug.faults": "AdstackOverflowError KernelAssertionError KernelError KernelIndexError",
    "cuda_graphs.kernels.call.decorator": "kernel",
    "cuda_graphs.kernels.call.function": "KernelFunction",
    "cuda_graphs.kernels.graph.checkpoints": "CheckpointStatus",
    "cuda_graphs.kernels.graph.graph_stats": "GraphStats",
    "cuda_graphs.kernels.call.compile_all": "compile_all",
    "cuda_graphs.kernels.arrays.foreign": "from_dlpack",
    "cuda_graphs.kernels.arrays.ndarray": "Field NDArray field ndarray",
    "cuda_graphs.kernels.seeds": "random_seed",
}
_LATER: dict[str, tuple[str, str | None]] = {
    name: (module, name) for module, names in _MODULES.items() for name in names.split()
}
_LATER["bool"] = ("cuda_graphs.compiler.ir.types", "bool_")
# The modules themselves.
_LATER["types"] = ("cuda_graphs.compiler.language.annotations", None)
_LATER["ad"] = ("cuda_graphs.kernels.gradients.ad", None)
_LATER["block"] = ("cuda_graphs.compiler.language.block", None)
_LATER["warp"] = ("cuda_graphs.compiler.language.warp", None)
_LATER["interop"] = ("cuda_graphs.interop", None)


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _LATER[name]
    found = import_module(module)
    return globals().setdefault(name, getattr(found, attribute) if attribute else found)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
