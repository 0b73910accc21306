# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What a recorder found out: the runs of nodes, and of bodies of conditional nodes, on one clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from .definitions import Known

__all__ = ["BodyRun", "NodeRun", "Recorder", "Recording"]


class NodeRun(NamedTuple):
    """One run of a node.

    Attributes:
        node: Handle of the node of the definition; 0 if it is not known.
        name: Name of the kernel, else the name of the kind, as the driver reports them.
        kind: Name of the kind as the driver reports it.
        around: Number of the body run or launch that the run is in.
        start, end: Nanoseconds.
        stream: Number of the stream of the launch.
        track: Number of what ran it: a thread of the host driver, a channel of a GPU.
        device: Ordinal of the device.
    """

    node: int
    name: str
    kind: str
    around: int
    start: int
    end: int
    stream: int
    track: int
    device: int


class BodyRun(NamedTuple):
    """One run of a body of a conditional node.

    Attributes:
        number: Its number, odd. The numbers of launches are even.
        node: Handle of the conditional node.
        around: Number of the body run or launch that the run is in.
        branch: Index of the body in its node.
        iteration: Number of earlier runs of the body in this run of its node.
        start, end: Nanoseconds.
    """

    number: int
    node: int
    around: int
    branch: int
    iteration: int
    start: int
    end: int


class Recording(NamedTuple):
    """Everything that was recorded.

    Attributes:
        nodes: The runs of nodes.
        bodies: The runs of bodies.
        clock: What measured the times, in words.
        missing: What the recorder cannot report of these runs, one sentence for each.
    """

    nodes: Sequence[NodeRun]
    bodies: Sequence[BodyRun]
    clock: str
    missing: tuple[str, ...] = ()


class Recorder(Protocol):
    """Records the nodes of all graphs that the process runs between `start` and `stop`."""

    @property
    def identify(self) -> int:
        """The address of a C function that gives an executable a number (watch.pyx); 0 for none."""
        ...

    def start(self) -> None: ...
    def stop(self) -> None: ...
    def recording(self, launched: Sequence[tuple[int, Known | None]]) -> Recording:
        """Return what was recorded. `launched` has the number and the definition of each executable."""
        ...
