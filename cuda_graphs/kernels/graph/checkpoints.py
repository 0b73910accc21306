# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Labels of a kernel with checkpoints, and the status that its calls return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from cuda_graphs.compiler.artifact import Artifact

__all__ = ["CheckpointStatus", "labels_of", "number_of", "status_of"]


class CheckpointStatus(NamedTuple):
    """The result of a call of a kernel with checkpoints.

    Attributes:
        yielded: True if the flag of a checkpoint ended the call early.
        label: The label of this checkpoint in the kernel: an int, or a member of an IntEnum. None if the call ran to
            its end.
    """

    yielded: bool
    label: int | Any

    @property
    def checkpoint(self) -> int | Any:
        """The label, by Quadrants' name."""
        return self.label


def labels_of(function: Callable[..., Any], artifact: Artifact) -> tuple[int | None, ...]:
    """Return the labels of the checkpoints in order, with None for a loop without a label."""
    names = artifact.free_values.get(function, {})
    return tuple(
        names.get(path, label) if path is not None else label for label, path in artifact.checkpoints
    )


def status_of(labels: Sequence[int | None], yielded: int) -> CheckpointStatus:
    """Return the CheckpointStatus for `yielded`, the index of the checkpoint that ended the call, or -1."""
    return CheckpointStatus(yielded >= 0, labels[yielded] if yielded >= 0 else None)


def number_of(name: str, labels: Sequence[int | None], label: Any) -> int:
    """Return the number of a checkpoint, counted from 1.

    Raises:
        TypeError: `label` is not an int.
        ValueError: The kernel has no checkpoint with this label.
    """
    if not isinstance(label, int) or isinstance(label, bool):
        raise TypeError(
            f"{name}.resume(): from_checkpoint must be a label, an int or a member of an IntEnum, got {label!r}"
        )
    if label not in labels:
        known = ", ".join(repr(each) for each in labels if each is not None)
        raise ValueError(
            f"{name}.resume(): there is no checkpoint {label!r}: "
            + (f"the labels are {known}" if known else "no checkpoint has a label")
        )
    return labels.index(label) + 1
