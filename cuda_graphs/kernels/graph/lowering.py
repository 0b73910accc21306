# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The lowering of control flow and of consecutive tasks of a graph kernel for the current device, and its reason.

The rule of "auto" follows measurements (docs/design/2026-11-resident.md).
"""

from __future__ import annotations

from typing import NamedTuple

from cuda_graphs.compiler.artifact import Artifact
from cuda_graphs.compiler.language.lowerings import CHOICES
from cuda_graphs.core.driver.choice import driver_info
from cuda_graphs.objects.device.device import Device

__all__ = ["NO_LOWERING", "Lowering", "as_nodes", "chains_of", "loops_of", "why_lowered"]

NO_COOPERATION = "the device has no cooperative launches"


class Lowering(NamedTuple):
    """The lowering options of the compiler.

    Attributes:
        graph: One of the compiler's LOWERINGS or CHOICES; None for a kernel without `graph=True`.
        chain: The consecutive tasks that share a launch: "all", "light" for tasks with light iterations, or None.
    """

    graph: str | None
    chain: str | None


NO_LOWERING = Lowering(None, None)


def loops_of(loop: str) -> str:
    """Return the compiler's lowering of control flow between tasks, for the argument `loop` of `kernel`."""
    if loop != "auto":
        return loop
    info = driver_info()
    other = "conditional" if info.version >= (12, 8) and int(Device().arch) >= 90 else "host"
    return f"resident or {other}" if Device().properties.cooperative_launch else other


def chains_of(chain: str, loops: str | None) -> str | None:
    """Return the consecutive tasks that share a launch, for the argument `chain` of `kernel` and for `loops`."""
    if loops is None or loops == "host" or chain == "nodes":
        return None
    if chain == "resident":
        return "all"
    return "light" if loops in CHOICES and driver_info().kind != "host" else None


def as_nodes(lowering: Lowering) -> Lowering:
    """Return the lowering without resident launches."""
    assert lowering.graph is not None
    return Lowering(CHOICES.get(lowering.graph, lowering.graph), None)


def why_lowered(artifact: Artifact) -> str:
    """Return the reason for the lowering that "auto" selected, in words."""
    if artifact.lowering == "conditional" and all(isinstance(step, int) for step in artifact.plan):
        return "there is no control flow between the tasks"
    if artifact.lowering == "resident":
        return "the tasks fit into one resident launch"
    if artifact.lowering == "host":
        needed = "compute capability 9.0 and CUDA 12.8"
        return f"{artifact.why or NO_COOPERATION}; the device has no conditional nodes, which need {needed}"
    return f"the device has conditional nodes; {artifact.why or NO_COOPERATION}"
