# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.driver.cuda cimport CUresult
from cuda_graphs.core.resources.handles cimport Awaited, StreamHandle

# Waits for `awaited`, and raises the errors that higher layers have collected. `name` is the object that the messages
# name, `timeout` a number of seconds or None. Raises KeyboardInterrupt, TimeoutError and CUDAError.
cdef int wait_for(Awaited& awaited, object name, object timeout) except -1

# Waits for a stream inside a call, without the GIL and without raising collected errors. Returns the status of the
# driver. Raises KeyboardInterrupt.
cdef CUresult wait_in_call(const StreamHandle& stream) except? CUresult.CUDA_ERROR_UNKNOWN nogil

# Lets the main thread run the handlers of signals, in a call that waits for a stream again and again.
cdef int check_signals(const StreamHandle& stream) except -1 nogil
