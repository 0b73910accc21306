# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from typing import Any

class Reader:
    path: str
    annotation: Any
    leaves: int
    keys: int
