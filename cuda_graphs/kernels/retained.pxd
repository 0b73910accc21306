# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs._objects.stream cimport Stream


# Keeps the arguments until what the stream has to do now is done. Not of a stream that is being captured: an event in it
# would be one of the capture.
cdef int keep(Stream stream, tuple arguments) except -1
