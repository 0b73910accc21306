# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.objects.device.device import Device

from .buffer import Buffer

def share_memory(buffer: Buffer) -> bytes: ...
def open_memory(shared: bytes, size: int, device: Device) -> Buffer: ...
