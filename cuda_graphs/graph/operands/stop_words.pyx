# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Stop words: hidden parameters with the address of a word of device memory. A loop ends while its word is not 0.

The compiler makes tasks that set a condition read the word of this condition (compiler/passes/stop_loops.py). Each
executable gives the words of its loops an address of its own (graph/executable/loop_control.pyx). The words of branches
keep their default, the address of a word that stays 0. So do words outside of graphs of this package. Each context has one
such word as long as something uses it: the free of a word waits for the device, and so for a loop that runs.
"""

from libc.stdint cimport uintptr_t
from libc.stdlib cimport strtoull
from libcpp.memory cimport make_shared, weak_ptr
from libcpp.string cimport string
from libcpp.unordered_map cimport unordered_map

from cuda_graphs.core.driver.cuda cimport CUdeviceptr, CUresult
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.graphs.graph_handles cimport NamedParameter, as_owner, find_value_type
from cuda_graphs.core.resources.handles cimport PointerHandle, ValueForm, raw_of, write_zeros
from cuda_graphs.objects.device.context cimport find_current

from cuda_graphs.objects.device.device import Device
from cuda_graphs.objects.memory.memory_resource import PinnedMemoryResource, SynchronousMemoryResource

cdef extern from *:
    ctypedef weak_ptr[const CUdeviceptr] WeakPointer "cg::PointerHandle::weak_type"
    WeakPointer weak_of "cg::PointerHandle::weak_type"(const PointerHandle& memory) noexcept

cdef string PREFIX = b".stop "

# The word that stays 0, by the address of its context.
cdef unordered_map[uintptr_t, WeakPointer] zero_words


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
    self._word = zero_word()
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


cdef Buffer zero_word():
    cdef uintptr_t context = <uintptr_t>raw_of(find_current())
    cdef PointerHandle memory = zero_words[context].lock()
    cdef Buffer word
    if memory:
        return Buffer._from_handle(memory, None)
    word = new_words(1)
    if context:
        zero_words[context] = weak_of(word._h)
    return word


cdef Buffer new_words(size_t count, bint shared=False):
    resource = PinnedMemoryResource() if shared else SynchronousMemoryResource(Device())
    cdef Buffer words = resource.allocate(4 * count)
    cdef CUdeviceptr address = words._address
    cdef CUresult status
    with nogil:
        status = write_zeros(address, 4 * count)
    check_attempt(status, "set the words of loops to 0")
    return words
