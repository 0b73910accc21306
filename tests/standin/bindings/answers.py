# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What functions of cuda.bindings.driver answer."""

import pytest

d = pytest.importorskip("cuda.bindings.driver")

OK = d.CUresult.CUDA_SUCCESS
INVALID_CONTEXT = d.CUresult.CUDA_ERROR_INVALID_CONTEXT
INVALID_DEVICE = d.CUresult.CUDA_ERROR_INVALID_DEVICE
INVALID_HANDLE = d.CUresult.CUDA_ERROR_INVALID_HANDLE
INVALID_VALUE = d.CUresult.CUDA_ERROR_INVALID_VALUE


def ok(answer):
    """What a function gives besides its status, which says that it went well."""
    assert answer[0] == OK, answer
    return answer[1] if len(answer) == 2 else answer[1:]
