# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What the control flow and the chains of a graph kernel become on the device of this process, and why.

The rule of "auto" was measured on an H200 (docs/design/2026-11-resident.md).
"""

from __future__ import annotations

from typing import NamedTuple

from cuda_graphs._driver.choice import driver_info
from cuda_graphs._objects.device import Device
from cuda_graphs.compiler.artifact import Artifact
from cuda_graphs.compiler.lowerings import CHOICES

__all__ = ["NO_LOWERING", "Lowering", "chains_of", "loops_of", "why_lowered"]

NO_COOPERATION = "the device has no cooperative launches"


class Lowering(NamedTuple):
    """As the compiler takes it.

    Attributes:
        graph: One of its LOWERINGS or CHOICES; None of what is no graph kernel.
        chain: Which tasks that follow each other are one launch: "all", "light" ones, or None.
    """

    graph: str | None
    chain: str | None


NO_LOWERING = Lowering(None, None)


def loops_of(loop: str) -> str:
    """What the compiler is to make of control flow between tasks, with `loop` as `kernel` takes it."""
    if loop != "auto":
        return loop
    info = driver_info()
    if info.kind == "host":
        return "conditional"
    other = "conditional" if info.version >= (12, 8) and int(Device().arch) >= 90 else "host"
    return f"resident or {other}" if Device().properties.cooperative_launch else other


def chains_of(chain: str, loops: str | None) -> str | None:
    """Which tasks that follow each other it is to make one launch, with `chain` as `kernel` takes it and what it is to
    make of loops."""
    if loops is None or loops == "host" or chain == "nodes":
        return None
    if chain == "resident":
        return "all"
    return "light" if loops in CHOICES else None


def why_lowered(artifact: Artifact) -> str:
    """Why "auto" has come to the lowering that it has."""
    if artifact.lowering == "conditional" and all(isinstance(step, int) for step in artifact.plan):
        return "there is no control flow between the tasks"
    if artifact.lowering == "resident":
        return "the tasks fit into one launch, whose threads stay"
    if artifact.lowering == "host":
        needed = "compute capability 9.0 and CUDA 12.8"
        return f"{artifact.why or NO_COOPERATION}; the device has no conditional nodes, which need {needed}"
    if driver_info().kind == "host":
        return "the device has conditional nodes, and a resident loop would have one of its threads"
    return f"the device has conditional nodes; {artifact.why or NO_COOPERATION}"
