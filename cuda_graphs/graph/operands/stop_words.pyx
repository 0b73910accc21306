# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Stop words: hidden parameters with the address of a word of device memory. A loop ends while its word is not 0.

The compiler makes tasks that set a condition read the word of this condition (compiler/passes/stop_loops.py). Each
executable gives the words of its loops an address of its own (graph/executable/loop_control.pyx). The words of branches
keep their default, the address of a word that stays 0. So do words outside of graphs of this package.
"""

from libc.stdlib cimport strtoull
from libcpp.memory cimport make_shared
from libcpp.string cimport string

from cuda_graphs.core.driver.cuda cimport CUdeviceptr, CUresult
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.graphs.graph_handles cimport NamedParameter, as_owner, find_value_type
from cuda_graphs.core.resources.handles cimport ValueForm, write_zeros

from cuda_graphs.objects.device.device import Device
from cuda_graphs.objects.memory.memory_resource import PinnedMemoryResource, SynchronousMemoryResource

cdef string PREFIX = b".stop "


cdef class StopWord(Parameter):
    """The stop word of a condition, as an argument of a task."""

    @staticmethod
    def inside():
        """Return the stop word of loops inside of tasks, which have no condition of a graph."""
        return make_stop_word(PREFIX + b"inside")

    @staticmethod
    def of(uint64_t handle):
        """Return the stop word of a condition, given its handle. That of a placeholder, whose handle is 0, has no name."""
        return make_stop_word(PREFIX + b"%x" % handle if handle else b".")


cdef StopWord make_stop_word(string name):
    cdef StopWord self = StopWord.__new__(StopWord)
    self._word = new_words(1)
    self._p = make_shared[NamedParameter]()
    cdef NamedParameter* p = self._p.get()
    p.name, p.type.scalar = name, find_value_type(b"pointer")
    p.initial.bits, p.initial.known, p.initial.owner = self._word._address, True, as_owner(self._word._h)
    self._bits, self._width, self._form, self._is_complete = p.initial.bits, 8, ValueForm.kPointer, True
    return self


cdef bint is_stop_word(const ParameterRef& parameter, uint64_t* handle) noexcept:
    cdef const string* name = &parameter.get().name
    if name.compare(0, PREFIX.size(), PREFIX) != 0:
        return False
    handle[0] = strtoull(name.c_str() + PREFIX.size(), NULL, 16)  # 0 for `inside`
    return True


cdef Buffer new_words(size_t count, bint shared=False):
    resource = PinnedMemoryResource() if shared else SynchronousMemoryResource(Device())
    cdef Buffer words = resource.allocate(4 * count)
    cdef CUdeviceptr address = words._address
    cdef CUresult status
    with nogil:
        status = write_zeros(address, 4 * count)
    check_attempt(status, "set the words of loops to 0")
    return words
