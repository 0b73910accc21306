# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Memory of its own for a place (places.pyx), once its address is read.

The place keeps the memory, and all nodes that use a place keep the place. The nodes of the definition and its executables get
the address at once. A launch in flight goes on with the memory that it has.
"""

from threading import RLock
from weakref import WeakKeyDictionary

from libcpp.vector cimport vector

from cuda_graphs.core.graphs.graph_handles cimport (
    GraphBox,
    GraphMemoryRef,
    NodeHandle,
    NodeRecord,
    NodeSpec,
    ParameterRef,
    hierarchy_number,
    list_users,
    parameters_of,
)
from cuda_graphs.core.graphs.graph_handles cimport as_owner
from cuda_graphs.core.resources.handles cimport box_of
from cuda_graphs.objects.device.context cimport DeviceScope, enter_device
from cuda_graphs.objects.memory.buffer cimport Buffer
from .insertion_point cimport wrap_node
from .node cimport GraphNode
from .places cimport register_settle
from .sized_config cimport is_config_running

from cuda_graphs.objects.device.device import Device
from cuda_graphs.objects.memory.memory_resource import DeviceMemoryResource

executables = WeakKeyDictionary()  # of definitions with places: executable -> the number of its definition
settling = RLock()  # a place gets memory once, whichever threads read its address first


def note_executable(number, executable):
    """Note an executable of a definition with places."""
    executables[executable] = number


cdef list executables_of(object number):
    """Return the living executables of a definition. Other threads may make executables meanwhile."""
    living = [reference() for reference in executables.keyrefs()]
    return [each for each in living if each is not None and executables.get(each) == number]


cdef Buffer allocate_pooled(int device, size_t size):
    cdef DeviceScope scope
    enter_device(scope, device)
    found = Device(device)
    stream = found.default_stream
    cdef Buffer buffer = DeviceMemoryResource(found).allocate(size, stream=stream)
    stream.sync()  # launches may use it on any stream
    return buffer


cdef int settle_place(const GraphMemoryRef& place) except -1:
    if is_config_running():  # the lock of the executable, which would get the address, is held
        raise RuntimeError(
            "a config function reads the address of an array of an alloc node for the first time: read its dptr before the "
            "launch"
        )
    with settling:
        return 0 if place.get().is_settled() else give_memory(place)


cdef int give_memory(const GraphMemoryRef& place) except -1:
    cdef NodeHandle h = place.get().node()
    if not h:
        raise RuntimeError("the definition of this memory is gone, and no executable of it told its address")
    cdef NodeRecord* record = box_of[NodeRecord](h)
    cdef GraphBox* graph = record.graph
    cdef ParameterRef parameter = parameters_of(graph[0]).find_place(place.get()[0])
    node = wrap_node(h, record)
    cdef Buffer buffer = allocate_pooled(node.device_id, node.bytesize)
    for executable in executables_of(hierarchy_number(graph[0])):
        if not executable.is_closed:
            executable._give_place(node, buffer)
    place.get().settle(buffer._address, as_owner(buffer._h))
    return rewrite_users(h, list_users(graph[0], parameter.get()[0])) if parameter else 0


cdef int rewrite_users(const NodeHandle& any, const vector[NodeRecord*]& users) except -1:
    cdef size_t i
    for i in range(users.size()):
        rewrite(<GraphNode>wrap_node(any, users[i]))
    return 0


cdef int rewrite(GraphNode node) except -1:
    """Give a node the parameters that it has, with the addresses of places as they are now."""
    cdef NodeSpec spec
    node._load_with_owners(spec)
    return node._set(spec)


cdef object wrap(const NodeHandle& h):
    return wrap_node(h, box_of[NodeRecord](h))


register_settle(settle_place, wrap)
