# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The public names of `cuda_graphs` and the modules that define them, for type checkers and for `__init__.py`.

Type checkers export only names that are imported as themselves or assigned. So modules, and names that differ from the
name in the module, are assigned at the end.
"""

import cuda_graphs.compiler.language.annotations as _types
import cuda_graphs.compiler.language.block as _block
import cuda_graphs.compiler.language.warp as _warp
import cuda_graphs.distributed as _distributed
import cuda_graphs.interop as _interop
import cuda_graphs.kernels.gradients.ad as _ad
from cuda_graphs.compiler.cache.artifact_cache import (
    CompileCache as CompileCache,
    compile_cache as compile_cache,
)
from cuda_graphs.compiler.errors import (
    CompileArgumentError as CompileArgumentError,
    CompileBarrierError as CompileBarrierError,
    CompileBlockError as CompileBlockError,
    CompileCheckpointError as CompileCheckpointError,
    CompileError as CompileError,
    CompileGradientError as CompileGradientError,
    CompileImmutableError as CompileImmutableError,
    CompileIndexError as CompileIndexError,
    CompileLiteralError as CompileLiteralError,
    CompileLoopError as CompileLoopError,
    CompileNameError as CompileNameError,
    CompileNegativeIndexError as CompileNegativeIndexError,
    CompileRecursionError as CompileRecursionError,
    CompileResidentError as CompileResidentError,
    CompileReturnError as CompileReturnError,
    CompileSectionError as CompileSectionError,
    CompileSharedMemoryError as CompileSharedMemoryError,
    CompileStaticError as CompileStaticError,
    CompileSyntaxError as CompileSyntaxError,
    CompileTypeError as CompileTypeError,
    CompileValueError as CompileValueError,
    CompileWarning as CompileWarning,
    UnsupportedSyntaxError as UnsupportedSyntaxError,
)
from cuda_graphs.compiler.ir.types import pointer as pointer
from cuda_graphs.compiler.language.annotations import data_oriented as data_oriented
from cuda_graphs.compiler.language.declarations import (
    Array as Array,
    Array0 as Array0,
    Array1 as Array1,
    Array2 as Array2,
    Array3 as Array3,
    Array4 as Array4,
    GradArray0 as GradArray0,
    GradArray1 as GradArray1,
    GradArray2 as GradArray2,
    GradArray3 as GradArray3,
    GradArray4 as GradArray4,
    Matrix as Matrix,
    Vector as Vector,
    bf16 as bf16,
    bool_ as bool_,
    f16 as f16,
    f32 as f32,
    f64 as f64,
    i8 as i8,
    i16 as i16,
    i32 as i32,
    i64 as i64,
    mat as mat,
    mat2 as mat2,
    mat3 as mat3,
    mat4 as mat4,
    template as template,
    u8 as u8,
    u16 as u16,
    u32 as u32,
    u64 as u64,
    vec as vec,
    vec2 as vec2,
    vec3 as vec3,
    vec4 as vec4,
)
from cuda_graphs.compiler.language.decompositions import (
    eig as eig,
    polar_decompose as polar_decompose,
    qr as qr,
    solve as solve,
    svd as svd,
    sym_eig as sym_eig,
)
from cuda_graphs.compiler.language.graph_flow import (
    checkpoint as checkpoint,
    graph_do_while as graph_do_while,
    graph_if as graph_if,
    graph_parallel as graph_parallel,
    graph_section as graph_section,
    graph_switch as graph_switch,
    graph_while as graph_while,
)
from cuda_graphs.compiler.language.intrinsics import (
    one as one,
    zero as zero,
    acos as acos,
    asin as asin,
    atan as atan,
    atan2 as atan2,
    atomic_add as atomic_add,
    atomic_and as atomic_and,
    atomic_cas as atomic_cas,
    atomic_exchange as atomic_exchange,
    atomic_max as atomic_max,
    atomic_min as atomic_min,
    atomic_mul as atomic_mul,
    atomic_or as atomic_or,
    atomic_sub as atomic_sub,
    atomic_xor as atomic_xor,
    bit_cast as bit_cast,
    bit_shr as bit_shr,
    blocks as blocks,
    cast as cast,
    ceil as ceil,
    clz as clz,
    cos as cos,
    cosh as cosh,
    cross as cross,
    determinant as determinant,
    distance as distance,
    dot as dot,
    exp as exp,
    exp2 as exp2,
    fence as fence,
    ffs as ffs,
    floor as floor,
    fma as fma,
    func as func,
    grouped as grouped,
    inverse as inverse,
    isinf as isinf,
    isnan as isnan,
    length as length,
    log as log,
    log2 as log2,
    log10 as log10,
    loop_config as loop_config,
    ndrange as ndrange,
    norm as norm,
    normalize as normalize,
    normalized as normalized,
    outer as outer,
    popcnt as popcnt,
    random as random,
    random_integer as random_integer,
    random_normal as random_normal,
    raw_div as raw_div,
    raw_mod as raw_mod,
    reflect as reflect,
    replace_grad as replace_grad,
    round as round,
    rsqrt as rsqrt,
    select as select,
    set_condition as set_condition,
    sign as sign,
    sin as sin,
    sinh as sinh,
    sqrt as sqrt,
    static as static,
    static_assert as static_assert,
    static_print as static_print,
    stop_grad as stop_grad,
    tan as tan,
    tanh as tanh,
    trace as trace,
    transpose as transpose,
    trunc as trunc,
    vector as vector,
)
from cuda_graphs.compiler.language.library import (
    clamp as clamp,
    degrees as degrees,
    e as e,
    fract as fract,
    frexp as frexp,
    inf as inf,
    mix as mix,
    mod as mod,
    nan as nan,
    pi as pi,
    radians as radians,
    smoothstep as smoothstep,
    step as step,
)
from cuda_graphs.compiler.language.number_rules import default_types as default_types
from cuda_graphs.compiler.language.quaternions import (
    quat_conjugate as quat_conjugate,
    quat_from_axis_angle as quat_from_axis_angle,
    quat_from_matrix as quat_from_matrix,
    quat_identity as quat_identity,
    quat_inverse as quat_inverse,
    quat_mul as quat_mul,
    quat_rotate as quat_rotate,
    quat_slerp as quat_slerp,
    quat_to_matrix as quat_to_matrix,
)
from cuda_graphs.core.driver.choice import (
    DriverInfo as DriverInfo,
    driver_info as driver_info,
    use_driver as use_driver,
)
from cuda_graphs.errors import (
    CaptureError as CaptureError,
    CaptureWarning as CaptureWarning,
    ClosedBufferError as ClosedBufferError,
    ClosedBuilderError as ClosedBuilderError,
    CUDAError as CUDAError,
    CUDANotSupportedError as CUDANotSupportedError,
    CUDAOutOfMemoryError as CUDAOutOfMemoryError,
    CUDAWarning as CUDAWarning,
    DriverNotFoundError as DriverNotFoundError,
    GraphInstantiateError as GraphInstantiateError,
    GraphUpdateError as GraphUpdateError,
    ImageError as ImageError,
    LaunchError as LaunchError,
    NVRTCError as NVRTCError,
    SavedGraphError as SavedGraphError,
)
from cuda_graphs.graph.analysis.check import CheckReport as CheckReport, Finding as Finding
from cuda_graphs.graph.analysis.memory_use import AllocatedMemory as AllocatedMemory, MemoryUse as MemoryUse
from cuda_graphs.graph.analysis.comparison import GraphDifference as GraphDifference, NodeChange as NodeChange
from cuda_graphs.graph.capture.builder import GraphBuilder as GraphBuilder, capture as capture
from cuda_graphs.graph.capture.library_call import CapturedCall as CapturedCall
from cuda_graphs.graph.definition import GraphDef as GraphDef
from cuda_graphs.graph.executable.executable import Graph as Graph
from cuda_graphs.graph.executable.loop_count import LoopCount as LoopCount
from cuda_graphs.graph.executable.executable_nodes import (
    ExecutableChildGraphNode as ExecutableChildGraphNode,
    ExecutableEventRecordNode as ExecutableEventRecordNode,
    ExecutableEventWaitNode as ExecutableEventWaitNode,
    ExecutableGraphNode as ExecutableGraphNode,
    ExecutableHostCallbackNode as ExecutableHostCallbackNode,
    ExecutableKernelNode as ExecutableKernelNode,
    ExecutableMemcpyNode as ExecutableMemcpyNode,
    ExecutableMemsetNode as ExecutableMemsetNode,
)
from cuda_graphs.graph.nodes.node import GraphNode as GraphNode
from cuda_graphs.graph.executable.explanation import EarlyStart as EarlyStart
from cuda_graphs.graph.executable.explanation import GraphExplanation as GraphExplanation
from cuda_graphs.graph.executable.explanation import NodeFusion as NodeFusion
from cuda_graphs.graph.flow.explanation import EdgeExplanation as EdgeExplanation
from cuda_graphs.graph.flow.task_flow import TaskFlow as TaskFlow
from cuda_graphs.graph.nodes.node_kinds import (
    AllocNode as AllocNode,
    ChildGraphNode as ChildGraphNode,
    ConditionalNode as ConditionalNode,
    EmptyNode as EmptyNode,
    EventRecordNode as EventRecordNode,
    EventWaitNode as EventWaitNode,
    FreeNode as FreeNode,
    HostCallbackNode as HostCallbackNode,
    IfElseNode as IfElseNode,
    IfNode as IfNode,
    KernelNode as KernelNode,
    MemcpyNode as MemcpyNode,
    MemsetNode as MemsetNode,
    SwitchNode as SwitchNode,
    WhileNode as WhileNode,
)
from cuda_graphs.graph.nodes.node_type import GraphNodeType as GraphNodeType
from cuda_graphs.graph.nodes.options import (
    GraphAllocOptions as GraphAllocOptions,
    GraphCompleteOptions as GraphCompleteOptions,
    GraphDebugPrintOptions as GraphDebugPrintOptions,
)
from cuda_graphs.graph.operands.condition import Condition as Condition
from cuda_graphs.graph.operands.edge_data import EdgeData as EdgeData
from cuda_graphs.graph.operands.graph_array import GraphArray as GraphArray
from cuda_graphs.graph.operands.parameter import Parameter as Parameter, Temporary as Temporary
from cuda_graphs.graph.operands.spans import Span as Span
from cuda_graphs.graph.profiling.profile import Profile as Profile, profile as profile
from cuda_graphs.kernels.arrays.foreign import from_dlpack as from_dlpack
from cuda_graphs.kernels.arrays.creation import arange as arange
from cuda_graphs.kernels.arrays.creation import array as array
from cuda_graphs.kernels.arrays.creation import empty as empty
from cuda_graphs.kernels.arrays.creation import field as field
from cuda_graphs.kernels.arrays.creation import full as full
from cuda_graphs.kernels.arrays.creation import ndarray as ndarray
from cuda_graphs.kernels.arrays.creation import ones as ones
from cuda_graphs.kernels.arrays.creation import zeros as zeros
from cuda_graphs.kernels.arrays.ndarray import (
    Field as Field,
    NDArray as NDArray,
)
from cuda_graphs.kernels.arrays.struct_array import (
    StructArray as StructArray,
    StructField as StructField,
)
from cuda_graphs.kernels.call.compile_all import compile_all as compile_all
from cuda_graphs.kernels.call.decorator import kernel as kernel
from cuda_graphs.kernels.call.function import KernelFunction as KernelFunction
from cuda_graphs.kernels.call.kernel_registry import reset as reset
from cuda_graphs.kernels.debug.faults import (
    AdstackOverflowError as AdstackOverflowError,
    KernelAssertionError as KernelAssertionError,
    KernelError as KernelError,
    KernelIndexError as KernelIndexError,
    KernelOverflowError as KernelOverflowError,
)
from cuda_graphs.kernels.graph.checkpoints import CheckpointStatus as CheckpointStatus
from cuda_graphs.kernels.graph.graph_stats import GraphStats as GraphStats
from cuda_graphs.kernels.seeds import random_seed as random_seed
from cuda_graphs.objects.code.kernel import (
    Kernel as Kernel,
    KernelAttributes as KernelAttributes,
    KernelOccupancy as KernelOccupancy,
)
from cuda_graphs.objects.code.launch import launch as launch
from cuda_graphs.objects.code.launch_config import LaunchConfig as LaunchConfig
from cuda_graphs.objects.code.object_code import ObjectCode as ObjectCode
from cuda_graphs.objects.code.program import (
    Program as Program,
    ProgramOptions as ProgramOptions,
    get_include as get_include,
)
from cuda_graphs.objects.device.context import Context as Context
from cuda_graphs.objects.device.current import current_stream as current_stream, stream as stream
from cuda_graphs.objects.device.device import ComputeCapability as ComputeCapability, Device as Device
from cuda_graphs.objects.device.device_properties import DeviceProperties as DeviceProperties
from cuda_graphs.objects.device.event import Event as Event, EventOptions as EventOptions
from cuda_graphs.objects.device.stream import (
    LEGACY_DEFAULT_STREAM as LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM as PER_THREAD_DEFAULT_STREAM,
    Stream as Stream,
    StreamOptions as StreamOptions,
)
from cuda_graphs.objects.memory.abstract_resource import MemoryResource as MemoryResource
from cuda_graphs.objects.memory.buffer import Buffer as Buffer
from cuda_graphs.objects.memory.graph_memory import (
    GraphMemoryResource as GraphMemoryResource,
    GraphMemoryResourceAttributes as GraphMemoryResourceAttributes,
)
from cuda_graphs.objects.memory.memory_resource import (
    DeviceMemoryResource as DeviceMemoryResource,
    DeviceMemoryResourceOptions as DeviceMemoryResourceOptions,
    ManagedMemoryResource as ManagedMemoryResource,
    PinnedMemoryResource as PinnedMemoryResource,
    SynchronousMemoryResource as SynchronousMemoryResource,
)
from cuda_graphs.saving.loading import LoadedGraph as LoadedGraph, load as load

__version__: str

ad = _ad
block = _block
bool = bool_
distributed = _distributed
interop = _interop
types = _types
warp = _warp
