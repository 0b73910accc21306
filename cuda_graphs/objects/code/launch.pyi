# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable
from typing import Any

from cuda_graphs.objects.device.stream import Stream
from cuda_graphs.objects.protocols import SupportsCudaStream, SupportsGraphKernel

from .kernel import Kernel
from .launch_config import LaunchConfig

def launch(
    stream: Stream | SupportsCudaStream | None,
    config: LaunchConfig | dict[str, Any] | Callable[..., Any] | None,
    kernel: Kernel | SupportsGraphKernel,
    *args: Any,
) -> None: ...
