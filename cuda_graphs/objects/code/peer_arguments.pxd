# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0

# Lets kernels on `device` use the memory among their arguments (memory/peers.pxd).
cdef int reach_arguments(tuple args, int device) except -1
