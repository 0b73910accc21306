# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs as Python objects, on NVIDIA GPUs and on any CPU."""

from cuda_graphs._driver.choice import DriverInfo, driver_info, use_driver
from cuda_graphs._objects.buffer import Buffer
from cuda_graphs._objects.context import Context
from cuda_graphs._objects.device import ComputeCapability, Device
from cuda_graphs._objects.device_properties import DeviceProperties
from cuda_graphs._objects.event import Event, EventOptions
from cuda_graphs._objects.kernel import Kernel, KernelAttributes, KernelOccupancy
from cuda_graphs._objects.launch import launch
from cuda_graphs._objects.launch_config import LaunchConfig
from cuda_graphs._objects.memory_resource import (
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
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
from cuda_graphs.graph.check import CheckReport, Finding
from cuda_graphs.graph.condition import Condition
from cuda_graphs.graph.definition import GraphDef
from cuda_graphs.graph.edge_data import EdgeData
from cuda_graphs.graph.exec import Graph
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
from cuda_graphs.graph.spans import Span

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
    "Finding",
    "FreeNode",
    "Graph",
    "GraphAllocOptions",
    "GraphCompleteOptions",
    "GraphDebugPrintOptions",
    "GraphDef",
    "GraphInstantiateError",
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
    "MemcpyNode",
    "MemoryResource",
    "MemsetNode",
    "NVRTCError",
    "ObjectCode",
    "PinnedMemoryResource",
    "Program",
    "ProgramOptions",
    "Span",
    "Stream",
    "StreamOptions",
    "SwitchNode",
    "SynchronousMemoryResource",
    "WhileNode",
    "driver_info",
    "launch",
    "use_driver",
]
