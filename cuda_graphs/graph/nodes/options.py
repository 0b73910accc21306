# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Options of graph calls, as dataclasses. A call that takes options also takes their fields as keyword arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

from cuda_graphs.objects.device.device import Device
from cuda_graphs.objects.numbers import as_int, read_flag

if TYPE_CHECKING:
    from cuda_graphs.objects.device.stream import Stream

__all__ = ["GraphAllocOptions", "GraphCompleteOptions", "GraphDebugPrintOptions"]

MEMORY_TYPES = ("device", "host", "managed")


@dataclass
class GraphAllocOptions:
    """Device, memory type and access rights of the memory of an alloc node.

    device       ordinal or Device; None: the device of the current context
    memory_type  "device", "host" (pinned) or "managed"
    peer_access  other devices that may read and write the memory
    """

    device: int | Device | None = None
    memory_type: str = "device"
    peer_access: Sequence[int | Device] | None = None


@dataclass
class GraphCompleteOptions:
    """Options of an instantiation.

    auto_free_on_launch  a launch first frees the memory that earlier launches allocated and did not free
    upload_stream        stream in whose order the graph is uploaded now; None: the first launch uploads it
    device_launch        kernels may launch the graph. It may hold kernel, memcpy, memset and child graph nodes only
    use_node_priority    priorities come from the nodes, not from the stream of the launch
    optimize             neighbouring nodes of kernels of `cuda_graphs.kernel` run as one launch where this gives the
                         same bits. `Graph.explain` shows which. Excludes device_launch
    early_edges          edges between kernel nodes become programmatic where the second node is of a kernel of
                         `cuda_graphs.kernel`: it begins before the first has ended, and waits before it reads what may
                         still be written. Results stay the same. `Graph.explain` shows which. No other thread may use
                         the definition meanwhile. Excludes device_launch
    """

    auto_free_on_launch: bool = False
    upload_stream: Stream | None = None
    device_launch: bool = False
    use_node_priority: bool = False
    optimize: bool = False
    early_edges: bool = False


@dataclass
class GraphDebugPrintOptions:
    """Details of a DOT file. One field per flag of cuGraphDebugDotPrint, in bit order."""

    verbose: bool = False
    runtime_types: bool = False
    kernel_node_params: bool = False
    memcpy_node_params: bool = False
    memset_node_params: bool = False
    host_node_params: bool = False
    event_node_params: bool = False
    ext_semas_signal_node_params: bool = False
    ext_semas_wait_node_params: bool = False
    kernel_node_attributes: bool = False
    handles: bool = False
    mem_alloc_node_params: bool = False
    mem_free_node_params: bool = False
    batch_mem_op_node_params: bool = False
    extra_topo_info: bool = False
    conditional_node_params: bool = False

    def _to_flags(self) -> int:
        """Return the bits of CUgraphDebugDot_flags (cuda.h: 1 << 0 to 1 << 15)."""
        return sum(
            read_flag(getattr(self, field.name), field.name) << bit for bit, field in enumerate(fields(self))
        )


Options = TypeVar("Options", GraphAllocOptions, GraphCompleteOptions)


def accept(
    cls: type[Options], options: Options | Mapping[str, Any] | None, keywords: Mapping[str, Any]
) -> Options:
    """Return options as an instance of `cls`, from an instance, a mapping of its fields, or keyword arguments."""
    if options is None:
        return cls(**keywords)
    if any(keywords[field.name] != field.default for field in fields(cls)):
        raise TypeError(f"give either options or keyword arguments, not both: {', '.join(keywords)}")
    if isinstance(options, cls):
        return options
    if isinstance(options, Mapping):
        return cls(**options)
    raise TypeError(
        f"options must be a {cls.__name__}, a mapping of its fields, or None, got {type(options).__name__}"
    )


def memory_kind(memory_type: str | None) -> int:
    """Return the index of a memory type in MEMORY_TYPES; None stands for "device"."""
    if memory_type is None:
        return 0
    if memory_type not in MEMORY_TYPES:
        raise ValueError(
            f"Invalid memory_type {memory_type!r}: must be one of {', '.join(map(repr, MEMORY_TYPES))}"
        )
    return MEMORY_TYPES.index(memory_type)


def device_ordinal(device: Any, name: str) -> int:
    """Return the ordinal of an int or of an object with `device_id`. `name` is the name of the argument.

    Raises ValueError if there is no such device.
    """
    ordinal = as_int(getattr(device, "device_id", device))
    if ordinal is None:
        raise TypeError(f"{name} must be a Device or its number, got {type(device).__name__}")
    return Device(ordinal).device_id


def peer_ordinals(devices: Any) -> list[int]:
    """Return the ordinals of the `peer_access` of options."""
    if devices is None:
        return []
    if isinstance(devices, str | bytes) or not isinstance(devices, Iterable):
        raise TypeError(f"peer_access must be a list of Devices or numbers, got {type(devices).__name__}")
    return [device_ordinal(device, "each of peer_access") for device in devices]
