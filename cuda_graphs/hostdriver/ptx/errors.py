# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The exception for an image that cannot be loaded: the CUresult that the driver returns, and a reason in words."""

OUT_OF_MEMORY = 2
INVALID_IMAGE = 200
NO_BINARY_FOR_GPU = 209
INVALID_PTX = 218
UNSUPPORTED_PTX_VERSION = 222
INVALID_SOURCE = 300


class ImageError(Exception):
    """An image cannot be loaded. `code` is a CUresult."""

    def __init__(self, code: int, message: str):
        super().__init__(message)
        self.code = code


def invalid_ptx(message: str) -> ImageError:
    return ImageError(INVALID_PTX, message)
