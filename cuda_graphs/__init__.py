# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs as Python objects, on NVIDIA GPUs and on any CPU."""

from typing import TYPE_CHECKING

from cuda_graphs._driver.choice import DriverInfo, driver_info, use_driver
from cuda_graphs._objects.buffer import Buffer
from cuda_graphs._objects.context import Context
from cuda_graphs._objects.device import ComputeCapability, Device
from cuda_graphs._objects.device_properties import DeviceProperties
from cuda_graphs._objects.event import Event, EventOptions
from cuda_graphs._objects.graph_memory import GraphMemoryResource, GraphMemoryResourceAttributes
from cuda_graphs._objects.kernel import Kernel, KernelAttributes, KernelOccupancy
from cuda_graphs._objects.launch import launch
from cuda_graphs._objects.launch_config import LaunchConfig
from cuda_graphs._objects.memory_resource import (
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    ManagedMemoryResource,
    MemoryResource,
    PinnedMemoryResource,
    SynchronousMemoryResource,
)
from cuda_graphs._objects.object_code import ObjectCode
from cuda_graphs._objects.program import Program, ProgramOptions
from cuda_graphs._objects.stream import (
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    Stream,
    StreamOptions,
)
from cuda_graphs.errors import (
    CaptureError,
    ClosedBufferError,
    ClosedBuilderError,
    CUDAError,
    CUDANotSupportedError,
    CUDAOutOfMemoryError,
    DriverNotFoundError,
    GraphInstantiateError,
    GraphUpdateError,
    ImageError,
    LaunchError,
    NVRTCError,
)
from cuda_graphs.graph.capture import GraphBuilder
from cuda_graphs.graph.check import CheckReport, Finding
from cuda_graphs.graph.condition import Condition
from cuda_graphs.graph.definition import GraphDef
from cuda_graphs.graph.edge_data import EdgeData
from cuda_graphs.graph.exec import Graph
from cuda_graphs.graph.exec_nodes import (
    ExecutableChildGraphNode,
    ExecutableEventRecordNode,
    ExecutableEventWaitNode,
    ExecutableGraphNode,
    ExecutableHostCallbackNode,
    ExecutableKernelNode,
    ExecutableMemcpyNode,
    ExecutableMemsetNode,
)
from cuda_graphs.graph.node import GraphNode
from cuda_graphs.graph.node_kinds import (
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
from cuda_graphs.graph.node_type import GraphNodeType
from cuda_graphs.graph.options import GraphAllocOptions, GraphCompleteOptions, GraphDebugPrintOptions
from cuda_graphs.graph.parameter import Parameter
from cuda_graphs.graph.spans import Span

if TYPE_CHECKING:
    from cuda_graphs.compiler.types import (
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
    from cuda_graphs.kernel.ndarray import Field, NDArray, field, ndarray

__all__ = [
    "LEGACY_DEFAULT_STREAM",
    "PER_THREAD_DEFAULT_STREAM",
    "AllocNode",
    "Buffer",
    "CUDAError",
    "CUDANotSupportedError",
    "CUDAOutOfMemoryError",
    "CaptureError",
    "CheckReport",
    "ChildGraphNode",
    "ClosedBufferError",
    "ClosedBuilderError",
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
    "GraphUpdateError",
    "HostCallbackNode",
    "IfElseNode",
    "IfNode",
    "ImageError",
    "Kernel",
    "KernelAttributes",
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
    "WhileNode",
    "bf16",
    "bool_",
    "driver_info",
    "f16",
    "f32",
    "f64",
    "field",
    "i8",
    "i16",
    "i32",
    "i64",
    "launch",
    "ndarray",
    "pointer",
    "u8",
    "u16",
    "u32",
    "u64",
    "use_driver",
]

# Names of the compiler and of what is built on it, and the modules that are imported when one of them is asked for.
_LATER = {
    **dict.fromkeys(
        (
            "i8",
            "i16",
            "i32",
            "i64",
            "u8",
            "u16",
            "u32",
            "u64",
            "f16",
            "bf16",
            "f32",
            "f64",
            "bool_",
            "pointer",
        ),
        "cuda_graphs.compiler.types",
    ),
    **dict.fromkeys(("Field", "NDArray", "field", "ndarray"), "cuda_graphs.kernel.ndarray"),
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return globals().setdefault(name, getattr(import_module(_LATER[name]), name))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
