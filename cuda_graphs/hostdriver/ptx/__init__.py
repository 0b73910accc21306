# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The image loader of the host driver: PTX text (from NVRTC and LLVM's NVPTX) -> LLVM -> native code.

This package reads PTX, holds the table of its instructions, lowers them to LLVM IR, compiles the IR to native code and
caches that code. It also fills the C structs of `hostdriver/image_loader.h`. It knows no driver, device or graph, and
imports only `cuda_graphs.native` from the rest of the library. The entry point is `loader.load`.

Other rooms may import:
    errors  ImageError, the reason why an image cannot be loaded
    loader  the entry point: image bytes to a loaded image, or PTX to a native image
"""
