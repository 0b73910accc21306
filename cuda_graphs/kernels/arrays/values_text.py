# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The text of a few values of an array, for its repr."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["EDGE", "FEW", "few_values"]

FEW = 24  # numbers of an array that is shown as a whole
EDGE = 3  # elements at each end of a larger array


def few_values(parts: Sequence[np.ndarray[Any, Any]]) -> str:
    """Return the values in one line: those of one part, or those at both ends with "..." in between."""
    texts = [
        " ".join(np.array2string(part, threshold=part.size + 1).split()).replace("[ ", "[") for part in parts
    ]
    return texts[0] if len(texts) == 1 else f"{texts[0][:-1]} ... {texts[1][1:]}"
