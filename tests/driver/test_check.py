# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a status other than success becomes the exception of `cuda_graphs.errors`, with what was attempted."""

import pytest

import cuda_graphs as cg


def test_an_error_carries_code_name_text_and_attempt(device, stream):
    with pytest.raises(cg.CUDAOutOfMemoryError) as caught:
        device.allocate(1 << 60, stream=stream)
    error = caught.value
    assert (error.code, error.name) == (2, "CUDA_ERROR_OUT_OF_MEMORY")
    assert error.text
    assert f"allocation of {1 << 60} bytes of device memory" in error.attempt
    assert "cuMemAllocFromPoolAsync" in error.attempt
    assert str(error).startswith("CUDA_ERROR_OUT_OF_MEMORY: ")


def test_an_error_leaves_nothing_behind_for_the_next_call(device, stream):
    for _ in range(3):
        with pytest.raises(cg.CUDAOutOfMemoryError):
            device.allocate(1 << 60, stream=stream)
        device.allocate(16, stream=stream).close()
