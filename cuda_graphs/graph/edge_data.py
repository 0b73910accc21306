# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""EdgeData: what an edge says beyond "after that one has ended"."""

from __future__ import annotations

from dataclasses import dataclass, fields

from cuda_graphs._objects.numbers import need_int

__all__ = ["EdgeData"]

# CU_GRAPH_KERNEL_NODE_PORT_* and CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC of cuda.h.
PORTS = {"programmatic": 1, "launch_order": 2}
PROGRAMMATIC = 1


@dataclass(frozen=True)
class EdgeData:
    """The data of an edge, as in CUDA's CUgraphEdgeData; `EdgeData()` is that of a full edge.

    from_port  when the edge lets go, told by the node before it. 0: when that node has ended. Only kernels have others:
               1 (CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC) and 2 (CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER)
    to_port    which part of the node after it waits: 0, all of it. CUDA has no others so far
    type       0: an ordinary dependency, 1: a programmatic one (CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC)

    Each is a byte: TypeError and OverflowError for anything else. What a driver does not know is a CUDAError where the
    edge is made. The host driver checks the data as CUDA does and then treats every edge as a full one.
    """

    from_port: int = 0
    to_port: int = 0
    type: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = need_int(getattr(self, field.name), field.name)
            if not 0 <= value < 256:
                raise OverflowError(f"{field.name}={value} is not in 0..255")
            object.__setattr__(self, field.name, value)

    @classmethod
    def programmatic(cls, trigger: str = "programmatic") -> EdgeData:
        """The data of an edge between two kernels along which the second may start before the first has ended.

        trigger  "programmatic": once every block of the first kernel has called
                 ``cudaTriggerProgrammaticLaunchCompletion()`` (PTX: ``griddepcontrol.launch_dependents``) or ended;
                 "launch_order": once every block of it has begun

        What the first kernel wrote is only seen after ``cudaGridDependencySynchronize()`` (``griddepcontrol.wait``),
        which waits until it has ended: the second kernel calls it before it reads. ValueError for another trigger.
        """
        if trigger not in PORTS:
            raise ValueError(f"trigger must be one of {', '.join(map(repr, PORTS))}, got {trigger!r}")
        return cls(from_port=PORTS[trigger], type=PROGRAMMATIC)
