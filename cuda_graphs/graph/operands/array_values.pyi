# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from typing import NamedTuple

LARGEST_EXTENT: int
LETTERS: dict[str, str]

class ArrayValue(NamedTuple):
    address: int
    shape: tuple[int, ...]
    size: int
