# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""C++ handles: one shared_ptr type per CUDA resource, registries, user objects. No Python class is defined here."""
