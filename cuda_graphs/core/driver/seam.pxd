# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from .cuda cimport CUresult, driver_is_loaded

# Loads the chosen driver. Raises CUDAError in a child of fork() whose parent had loaded one.
cdef int load_first_driver() except -1

# Loads the chosen driver unless one is loaded. Every function that can be a program's first device call calls
# it first.
cdef inline int ensure_driver() except -1:
    return 0 if driver_is_loaded() else load_first_driver()

# Raises the CUDAError of a status other than CUDA_SUCCESS. Needs no GIL.
cdef int check(CUresult status) except -1 nogil

# Does the same and names the failed operation. `attempt` is a str; build it only where its cost does not
# matter.
cdef int check_attempt(CUresult status, attempt) except -1

# Raises the CUDAError of a status whose cause is known. `cause` is (explanation, remedy), which replace those of the
# status, or None.
cdef int raise_explained(CUresult status, attempt, tuple cause) except -1

# Returns the driver's name and description of a status, "" for a missing one.
cdef tuple status_words(CUresult status)

# Raises the error that a creator of the handle layer noted before it returned an empty handle. `attempt` is a
# str or None, `log` the text of a loader.
cdef int raise_noted(attempt, log=*) except -1
