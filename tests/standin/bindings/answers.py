# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Checks the answers of functions of cuda.bindings.driver."""

import pytest

d = pytest.importorskip("cuda.bindings.driver")

OK = d.CUresult.CUDA_SUCCESS
INVALID_CONTEXT = d.CUresult.CUDA_ERROR_INVALID_CONTEXT
INVALID_DEVICE = d.CUresult.CUDA_ERROR_INVALID_DEVICE
INVALID_HANDLE = d.CUresult.CUDA_ERROR_INVALID_HANDLE
INVALID_VALUE = d.CUresult.CUDA_ERROR_INVALID_VALUE


def ok(answer):
    """Checks that the status of an answer is success and returns the rest of the answer."""
    assert answer[0] == OK, answer
    return answer[1] if len(answer) == 2 else answer[1:]
