# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs._driver.cuda cimport CUresult

# Loads the chosen driver unless one is loaded. Every entry that can be a program's first device call begins with it.
cdef int ensure_driver() except -1

# Raises the CUDAError of a status that is not CUDA_SUCCESS. Needs no GIL unless it raises.
cdef int check(CUresult status) except -1 nogil

# The same, saying what was being attempted; `attempt` is a str that is only worth building on failure paths.
cdef int check_attempt(CUresult status, attempt) except -1

# The driver's name and description of a status, "" where it has none.
cdef tuple status_words(CUresult status)

# Raises what a creator of the handle layer noted before it returned an empty handle; `attempt` is a str or None, `log`
# what a loader wrote.
cdef int raise_noted(attempt, log=*) except -1
