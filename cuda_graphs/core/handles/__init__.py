# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""C++ handles: one shared_ptr type per CUDA resource, registries, user objects. No Python class is defined here.

Other rooms may import:
    argument_pack  The arguments of a kernel as `void**`.
    box            Boxes, handles, and the count of live boxes.
    deferred       Deferred release.
    error          The error that a creator of handles notes.
    gil            All uses of the GIL by C++.
    leak_report    Warnings about resources that could not be released.
    lock           Locks that a forked child does not take.
    registry       The map from raw CUDA handles to handles.
"""
