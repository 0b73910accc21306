# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What all C++ handles share. Every CUDA resource has one shared_ptr type. No Python class is defined here.

Other rooms may import:
    argument_pack  the argument values of one kernel launch
    box            handles, the boxes that they point to, and counts of live boxes
    deferred       release of resources on another thread, and host functions
    error          the status and the call of a failed creator
    gil            the only use of Python.h
    leak_report    warnings about resources that could not be destroyed
    lock           a mutex that a forked child does not wait for
    registry       the map from raw CUDA handles to handles of this package
"""
