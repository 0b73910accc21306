# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from typing import Any

from cuda_graphs.graph.operands.spans import Span

def span_of_memory(value: Any) -> Span | None: ...
