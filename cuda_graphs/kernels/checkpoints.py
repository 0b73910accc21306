# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Labels of a kernel with checkpoints, and what a call of it gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from cuda_graphs.compiler.artifact import Artifact

__all__ = ["CheckpointStatus", "labels_of", "number_of", "status_of"]


class CheckpointStatus(NamedTuple):
    """How a call of a kernel with checkpoints has ended.

    Attributes:
        yielded: Whether the flag of a checkpoint has ended it early.
        label: That of this checkpoint, as the kernel names it: an int, or a member of an IntEnum. None: no one yielded.
    """

    yielded: bool
    label: int | None


def labels_of(function: Callable[..., Any], artifact: Artifact) -> tuple[int | None, ...]:
    """The label of each checkpoint, in order; None of a loop that has none."""
    names = artifact.captured.get(function, {})
    return tuple(
        names.get(path, label) if path is not None else label for label, path in artifact.checkpoints
    )


def status_of(labels: Sequence[int | None], yielded: int) -> CheckpointStatus:
    """`yielded`: the place of the one that did, or -1."""
    return CheckpointStatus(yielded >= 0, labels[yielded] if yielded >= 0 else None)


def number_of(name: str, labels: Sequence[int | None], label: Any) -> int:
    """The number of a checkpoint, from 1 on. TypeError, ValueError for what is no label."""
    if not isinstance(label, int) or isinstance(label, bool):
        raise TypeError(
            f"{name}.resume(): from_checkpoint must be a label, an int or a member of an IntEnum, got {label!r}"
        )
    if label not in labels:
        known = ", ".join(repr(each) for each in labels if each is not None)
        raise ValueError(
            f"{name}.resume(): there is no checkpoint {label!r}: "
            + (f"the labels are {known}" if known else "none has a label")
        )
    return labels.index(label) + 1
