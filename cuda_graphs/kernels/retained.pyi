# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from typing import Any

from cuda_graphs._objects.stream import Stream

def keep(stream: Stream, arguments: Any) -> None: ...
def let_go() -> None: ...
