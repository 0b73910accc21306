# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""C++ handles of stream captures, and calls that leave the thread's capture intact.

Other rooms may import:
    capture_handles  Cython declarations of this room.
"""
