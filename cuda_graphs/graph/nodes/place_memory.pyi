# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from typing import Any

def note_executable(number: int, executable: Any) -> None: ...
