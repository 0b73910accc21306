# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0


# Called after each wait of the program for the device; raises the errors that higher layers have collected.
cdef int end_wait() except -1
