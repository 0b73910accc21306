# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from collections.abc import Mapping
from typing import Any

from cuda_graphs.compiler.artifact import Artifact

def new_memory(name: str, artifact: Artifact, others: Mapping[str, Any] = ...) -> list[Any]: ...
