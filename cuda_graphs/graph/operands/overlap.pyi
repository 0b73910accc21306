# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
Axes = tuple[tuple[int, int], ...]

def spans_overlap(run: int, axes: Axes, distance: int, other_run: int, other_axes: Axes) -> bool: ...
