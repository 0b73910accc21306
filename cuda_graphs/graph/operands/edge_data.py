# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""EdgeData: the type of a dependency and the ports of its nodes."""

from __future__ import annotations

from dataclasses import dataclass, fields

from cuda_graphs.objects.numbers import need_int

__all__ = ["EdgeData"]

# CU_GRAPH_KERNEL_NODE_PORT_* and CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC of cuda.h.
PORTS = {"programmatic": 1, "launch_order": 2}
PROGRAMMATIC = 1


@dataclass(frozen=True)
class EdgeData:
    """The data of an edge, as in CUDA's CUgraphEdgeData; `EdgeData()` is that of a full edge.

    from_port  point of the source node at which the target may start. 0: the end of the source node. Only kernels have
               other ports: 1 (CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC) and 2 (CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER)
    to_port    part of the target node that waits. 0: the whole node. CUDA defines no other ports
    type       0: an ordinary dependency, 1: a programmatic one (CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC)

    Each field is a byte; other values raise TypeError or OverflowError. Adding an edge whose data the driver does not
    know raises CUDAError. The host driver checks the data as CUDA does, and then treats every edge as a full one.
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
        """Return the data of an edge between two kernels: the second may start before the first has ended.

        trigger  "programmatic": the second kernel may start once every block of the first has ended or has called
                 ``cudaTriggerProgrammaticLaunchCompletion()`` (PTX: ``griddepcontrol.launch_dependents``).
                 "launch_order": the second kernel may start once every block of the first has begun

        The second kernel must call ``cudaGridDependencySynchronize()`` (PTX: ``griddepcontrol.wait``) before it reads
        results of the first kernel. That call waits for the end of the first kernel. Raises ValueError for another
        trigger.
        """
        if trigger not in PORTS:
            raise ValueError(f"trigger must be one of {', '.join(map(repr, PORTS))}, got {trigger!r}")
        return cls(from_port=PORTS[trigger], type=PROGRAMMATIC)
