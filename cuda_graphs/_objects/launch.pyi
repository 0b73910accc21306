# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from typing import Any

from cuda_graphs._objects.kernel import Kernel
from cuda_graphs._objects.launch_config import LaunchConfig
from cuda_graphs._objects.protocols import SupportsCudaStream
from cuda_graphs._objects.stream import Stream

def launch(
    stream: Stream | SupportsCudaStream, config: LaunchConfig | dict[str, Any], kernel: Kernel, *args: Any
) -> None: ...
