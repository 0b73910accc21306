# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from typing import Any

MAX_CAPACITY: int

class SizeInputs:
    def __call__(self, kind: str, path: str, what: Any) -> int: ...

class StackSizer: ...
