# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0


# To be called when a wait of the program for the device is over; raises what layers above have to tell then.
cdef int waited() except -1
