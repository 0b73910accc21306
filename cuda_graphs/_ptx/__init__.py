# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The image loader of the host driver: PTX text (what NVRTC and LLVM's NVPTX write) -> LLVM -> native code.

Here belongs: reading PTX, the table of its instructions, their lowering to LLVM IR, native code and its cache, and
the C structs of `_hostdriver/image_loader.h`. Not here: anything that knows a driver, a device or a graph; nothing
else of ours is imported. `loader.load` is the way in.
"""
