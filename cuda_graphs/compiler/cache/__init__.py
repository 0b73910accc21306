# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled code on disk, and the key under which it is kept.

Other rooms may import:
    artifact_cache    compiled kernels by their fingerprints
    disk              the files of the cache
    package_versions  versions of the interpreter and of packages
"""
