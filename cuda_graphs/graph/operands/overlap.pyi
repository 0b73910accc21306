# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
def spans_overlap(
    run: int,
    axes: tuple[tuple[int, int], ...],
    distance: int,
    other_run: int,
    other_axes: tuple[tuple[int, int], ...],
) -> bool: ...
