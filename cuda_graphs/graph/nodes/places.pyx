# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Places: the memory of alloc nodes that has no address yet (graph_memory.hpp), while nodes are read and added.

The methods that add and change nodes of a definition read its places with the addresses of stand-ins. `use_places` replaces
them before the driver gets the node. All other code that asks for an address gives the place memory of its own, because it
may keep the address. Code that knows nothing of places is right in this way, and its arrays share no memory.
"""

from contextlib import contextmanager

from libc.stdint cimport uint64_t
from libcpp.memory cimport make_shared
from libcpp.vector cimport vector

from cuda_graphs.core.graphs.graph_handles cimport (
    NamedParameter,
    NodeHandle,
    NodeKind,
    NodeRecord,
    ParameterRef,
    ParameterTable,
    PlaceWord,
    drop_place_uses,
    find_place,
    find_value_type,
    has_fixed_addresses,
    hierarchy_number,
    kFirstStandIn,
    list_place_words,
    own_arguments,
    parameters_of,
    stand_in_of,
    write_settled,
)
from cuda_graphs.core.resources.handles cimport Parameter as KernelParameter
from cuda_graphs.core.resources.handles cimport box_of
from cuda_graphs.objects.code.kernel cimport Kernel
from .spec cimport kernel_of
from .spec import register_address_words

cdef extern from *:
    """
    // The number of the definition whose places this thread reads with the addresses of stand-ins; 0 for none.
    static thread_local std::uint64_t definition_read = 0;
    """
    uint64_t definition_read

FIRST = 2**63  # kFirstStandIn
EVERY = 2**64 - 1  # stands for all definitions in enter_places

cdef Settle settle_place = NULL
cdef Wrap wrap = NULL


cdef uint64_t enter_places(uint64_t hierarchy) noexcept:
    global definition_read
    cdef uint64_t before = definition_read
    definition_read = hierarchy
    return before


cdef void leave_places(uint64_t before) noexcept:
    global definition_read
    definition_read = before


@contextmanager
def reading_places(number=EVERY):
    """Read the places of the definition with this number, or of all, with the addresses of stand-ins. 0: of no definition."""
    cdef uint64_t before = enter_places(number)
    try:
        yield
    finally:
        leave_places(before)


cdef CUdeviceptr address_of_place(const GraphMemoryRef& place, uint64_t hierarchy) except? 0xBAD:
    if is_read(hierarchy):
        return place.get().start()
    settle(place)
    return place.get().settled()


cdef bint is_read(uint64_t hierarchy) noexcept:
    return definition_read != 0 and definition_read in (hierarchy, <uint64_t>EVERY)


cdef uint64_t definition_of(const GraphMemoryRef& place) except? 0:
    cdef NodeHandle h = place.get().node()
    return hierarchy_number(box_of[NodeRecord](h).graph[0]) if h else 0


cdef CUdeviceptr public_address(CUdeviceptr address) except? 0xBAD:
    cdef GraphMemoryRef place
    if address < kFirstStandIn:
        return address
    place = find_place(address)
    if not place:
        return address
    settle(place)
    return place.get().settled() + (address - place.get().start())


cdef bint is_shared(CUdeviceptr address) except -1:
    cdef GraphMemoryRef place
    if address < kFirstStandIn:
        return False
    place = find_place(address)
    return place and not place.get().is_settled()


def readable(address):
    """Return the address of an argument of a node for one that the node was read with, or that address itself while this
    thread reads places."""
    cdef GraphMemoryRef place
    if not FIRST <= address < 2 * FIRST:
        return address
    place = find_place(address)
    return address if not place or is_read(definition_of(place)) else public_address(address)


def array_at(address):
    """Return the alloc node in whose stand-in an address is, and the number of the byte in its array; None for others."""
    cdef GraphMemoryRef place
    cdef NodeHandle h
    if address < FIRST:
        return None
    place = find_place(address)
    if not place:
        return None
    h = place.get().node()
    return (wrap(h), address - place.get().start()) if h else None


def address_words(address):
    """Return an address in words. If the array has no address yet, they tell the node and the number of the byte."""
    cdef GraphMemoryRef place
    cdef NodeHandle h
    if address < FIRST:
        return f"{address:#x}"
    place = find_place(address)
    if not place:
        return f"{address:#x}"
    first = address - place.get().start()
    if place.get().is_settled():
        return f"{place.get().settled() + first:#x}"
    h = place.get().node()
    name = wrap(h)._identify() if h else "an array of a definition that is gone"
    return f"byte {first} of {name}" if first else name


def as_stand_in(address):
    """Return the address with which nodes are read for one in memory of a place; other numbers stay as they are."""
    return stand_in_of(address) if 0 <= address < FIRST else address


cdef int declare_place(GraphBox* graph, const GraphMemoryRef& place) except -1:
    cdef ParameterRef fresh = make_shared[NamedParameter]()
    fresh.get().name = f".place {place.get().start():#x}".encode()
    fresh.get().type.scalar = find_value_type(b"pointer")
    fresh.get().place = place
    parameters_of(graph[0]).add(fresh)
    return 0


cdef int replace_places(GraphBox* graph, NodeSpec& spec) except -1:
    cdef vector[PlaceWord] words
    cdef PlaceWord* word
    cdef ParameterRef parameter
    cdef Kernel kernel = None  # it may be the only one that keeps the parameters
    cdef const vector[KernelParameter]* parameters = NULL
    cdef size_t i
    if spec.kind != NodeKind.kKernel and spec.kind != NodeKind.kMemset and spec.kind != NodeKind.kMemcpy:
        return 0
    drop_place_uses(spec.uses)
    if spec.kind == NodeKind.kKernel:
        kernel = kernel_of(spec)
        parameters = kernel._parameters()
    list_place_words(spec, parameters).swap(words)
    for i in range(words.size()):
        word = &words[i]
        parameter = parameters_of(graph[0]).find_place(word.place.get()[0])
        if not parameter or has_fixed_addresses(spec):
            settle(word.place)
        if word.place.get().is_settled():
            write_settled(spec, word[0], parameters)
        else:
            word.use.parameter = parameter
            spec.uses.push_back(word.use)
    return 0


cdef int settle(const GraphMemoryRef& place) except -1:
    return 0 if place.get().is_settled() else settle_place(place)


cdef bint settle_uses(NodeSpec& spec) except -1:
    cdef Kernel kernel
    cdef bint found = False
    cdef size_t i
    for i in range(spec.uses.size()):
        if not spec.uses[i].is_place():
            continue
        if spec.kind == NodeKind.kKernel:
            kernel = kernel_of(spec)
            own_arguments(spec, kernel._parameters()[0])  # the node that they were loaded from gets others
        settle(spec.uses[i].parameter.get().place)
        found = True
    return found


cdef int settle_all(GraphBox* graph, bint only_unfreed=False) except -1:
    cdef ParameterTable* table = &parameters_of(graph[0])
    cdef GraphMemoryRef place
    cdef size_t i
    if not table.has_places():
        return 0
    for i in range(table.all().size()):
        place = table.all()[i].get().place
        if place and not (only_unfreed and is_freed(place)):
            settle(place)
    return 0


cdef bint is_freed(const GraphMemoryRef& place) except -1:
    """Return True if a node of its definition frees a place."""
    cdef NodeHandle h = place.get().node()
    cdef NodeRecord* freed = box_of[NodeRecord](h).metadata.get().freed_by if h else NULL
    return freed != NULL and freed.is_alive()


cdef void register_settle(Settle function, Wrap wrap_function) noexcept:
    global settle_place, wrap
    settle_place, wrap = function, wrap_function


register_address_words(address_words)
