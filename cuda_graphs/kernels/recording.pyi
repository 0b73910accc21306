# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable
from typing import Any

def record_by(callback: Callable[[Any, tuple[Any, ...], Any], None] | None) -> None: ...
