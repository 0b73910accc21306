# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from typing import Any

from cuda_graphs.compiler.artifact import Artifact
from cuda_graphs.kernels.shapes import Shape

from .specialisation import Specialisation

class Loader: ...

def load_artifact(
    name: str,
    artifact: Artifact,
    shape: Shape,
    leaves: dict[str, int],
    guards: Any,
    labels: Any = (),
    file: str = "",
) -> Specialisation: ...
