# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.objects.device.stream import Stream

def capture_of(stream: Stream) -> int: ...
