# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`torch.cuda.graph`: captured operations. It has no loops, and a graph is bound to its arrays."""

import numpy as np
import torch

DRIVERS = ("cuda",)
sync = torch.cuda.synchronize


def zeros(n):
    return torch.zeros(n, device="cuda")


def get(array) -> np.ndarray:
    return array.cpu().numpy()


def chain(variant, tasks, arrays):
    if len(arrays) > 1:
        raise ValueError("a captured graph takes no other arrays")
    captured = torch.cuda.CUDAGraph()
    arrays[0].add_(0.0)  # loads the code of the operation before the capture
    sync()
    with torch.cuda.graph(captured):
        for _ in range(tasks):
            arrays[0].add_(1.0)
    return [captured.replay]
