# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Captured launches of NVIDIA Warp: a graph is bound to the arrays of its capture."""

from functools import partial

import numpy as np
import warp as wp

import cuda_graphs as cg

DRIVERS = ("host", "cuda")
wp.config.quiet = True
wp.init()
DEVICE = "cuda:0" if cg.driver_info().kind == "cuda" else "cpu"


def sync() -> None:
    wp.synchronize_device(DEVICE)


def zeros(n):
    return wp.zeros(n, dtype=wp.float32, device=DEVICE)


def get(array) -> np.ndarray:
    return array.numpy()


@wp.kernel
def add(x: wp.array(dtype=wp.float32)):
    i = wp.tid()
    x[i] = x[i] + 1.0


@wp.kernel
def count_down(left: wp.array(dtype=wp.int32)):
    left[0] = left[0] - 1


def chain(variant, tasks, arrays):
    if len(arrays) > 1:
        raise ValueError("a captured graph takes no other arrays")
    wp.load_module(device=DEVICE)
    with wp.ScopedCapture(device=DEVICE) as capture:
        for _ in range(tasks):
            wp.launch(add, arrays[0].shape, inputs=[arrays[0]], device=DEVICE)
    return [partial(wp.capture_launch, capture.graph)]


def loop(variant, array):
    left = wp.zeros(1, dtype=wp.int32, device=DEVICE)

    def body() -> None:
        wp.launch(add, array.shape, inputs=[array], device=DEVICE)
        wp.launch(count_down, 1, inputs=[left], device=DEVICE)

    wp.load_module(device=DEVICE)
    with wp.ScopedCapture(device=DEVICE) as capture:
        wp.capture_while(left, body)
    return left.fill_, partial(wp.capture_launch, capture.graph)
