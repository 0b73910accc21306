# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from .strategy cimport Strategy


cdef class LaunchStrategy(Strategy):
    pass
