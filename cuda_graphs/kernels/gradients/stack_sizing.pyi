# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from typing import Any

MOST_ROOM: int

class Known:
    def __call__(self, kind: str, path: str, what: Any) -> int: ...

class Rooms: ...
