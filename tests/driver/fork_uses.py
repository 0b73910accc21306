# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""All that is public, used in a child that fork() made: what says that it cannot be used there, and what still answers.

Each row is an expression over the names that BEGIN makes before the fork.
"""

BEGIN = """
import os, sys, threading, warnings
warnings.simplefilter("ignore")  # of CPython: fork() in a process with threads
import numpy as np
import cuda_graphs as cg
from tests.graph_rig import SOURCE
device = cg.Device(); device.set_current(); stream = device.create_stream()
event, memory = device.create_event(), device.allocate(64, stream=stream)
pinned = cg.PinnedMemoryResource().allocate(64)
view = np.from_dlpack(pinned); view[:] = 7
g = cg.GraphDef()
node = g.callback(int)
loop = node.while_loop(g.create_condition(0))
graph = g.instantiate(); graph.launch(stream); stream.sync()
"""

MORE = """
KEPT = {"KEPT", "sys", "__builtins__"}
ONE = cg.LaunchConfig(grid=1, block=1)
graph_pool = cg.GraphMemoryResource(0)
pool, code = device.memory_resource, cg.Program(SOURCE, code_type="c++").compile("cubin")
kernel, setter = code.get_kernel("affine"), code.get_kernel("set")
class Emitter:
    def __cuda_graph_emit__(self, node, args): return node.callback(int)
h = cg.GraphDef()
alpha, scratch = h.param("alpha", cg.u32, default=3), h.temporary(4, cg.f32)
host = h.callback(int)
work = host.launch(ONE, kernel, pinned, alpha, 0)
fill = work.memset(memory, 0)
copy = fill.memcpy(memory, pinned)
inner = cg.GraphDef(); inner.launch(ONE, kernel, pinned, 1, 0)
child = copy.embed(inner)
record = child.record_event(event)
wait = record.wait_event(event)
if_node, if_else = wait.if_then(h.create_condition(0)), wait.if_else(h.create_condition(0))
again, switch = wait.while_loop(h.create_condition(0)), wait.switch(h.create_condition(0), 2)
memories = cg.GraphDef(); alloc = memories.alloc(64); free = alloc.free(alloc.dptr)
array = cg.GraphDef().alloc(shape=(4, 4), dtype=cg.f32); part = array[1:]
flowing = cg.GraphDef(); flow = flowing.task_flow().__enter__(); flowed = flow.memset(memory, 0)
executable, optimized = h.instantiate(), inner.instantiate(optimize=True)
condition = h.create_condition(0)
in_work, in_fill, in_copy, in_child = executable[work], executable[fill], executable[copy], executable[child]
in_host, in_record, in_wait = executable[host], executable[record], executable[wait]
fresh, ended = device.create_graph_builder(), device.create_graph_builder().begin_building()
ended.callback(int); ended.end_building()
capturing, branch = device.create_graph_builder().begin_building().split(2)
body = capturing.if_then(capturing.create_condition(0))
"""

# "use" or "use | use": each one is a CUDAError 3 that says what is the matter.
USES = """
cg.Device() | cg.Device(0) | cg.Device.get_all_devices()
device.name | device.uuid | device.pci_bus_id | device.total_memory | device.properties.multiprocessor_count
device.can_access_peer(0) | device.set_current() | device.create_stream() | device.create_event() | device.sync()
device.create_graph_builder() | device.allocate(64, stream=stream) | device.default_stream.sync()
stream.sync() | stream.record() | stream.record(event) | stream.wait(event) | stream.wait(device.default_stream)
stream.priority | stream.is_nonblocking | stream.device | cg.Stream.from_handle(stream.handle)
event.is_done | event.sync() | event.device | event - event | cg.Event.from_handle(event.handle)
memory.fill(0, stream=stream) | memory.copy_to(pinned, stream=stream) | memory.copy_from(pinned, stream=stream)
memory.copy_to(stream=stream) | memory.is_managed | memory.device_id | memory.__dlpack__() | memory.__dlpack_device__()
cg.Buffer.from_handle(memory.handle, 64).is_managed
cg.PinnedMemoryResource().allocate(64) | cg.SynchronousMemoryResource(0).allocate(64)
cg.DeviceMemoryResource(0) | cg.DeviceMemoryResource(device) | pool.allocate(64)
graph_pool.allocate(64, stream=stream) | graph_pool.attributes.used_mem_current | graph_pool.trim()
graph_pool.attributes.used_mem_high | graph_pool.attributes.reserved_mem_current
graph_pool.attributes.reserved_mem_high | setattr(graph_pool.attributes, "used_mem_high", 0)
cg.Program(SOURCE, code_type="c++").compile("cubin") | code.get_kernel("add")
cg.ObjectCode.from_ptx(b"").get_kernel("f") | cg.ObjectCode.from_ptx(b"").handle
cg.Kernel.from_handle(kernel.handle) | kernel.name | kernel.attributes.num_regs | kernel.attributes[0].num_regs
kernel.attributes.__setattr__("max_dynamic_shared_size_bytes", 1) | cg.Kernel.from_function(1)
kernel.occupancy.max_active_blocks_per_multiprocessor(1, 0) | kernel.occupancy.max_potential_block_size(0, 1)
kernel.occupancy.available_dynamic_shared_memory_per_block(1, 1) | kernel.occupancy.max_active_clusters(ONE)
kernel.occupancy.max_potential_cluster_size(ONE) | cg.launch(stream, ONE, kernel, pinned, 1, 0)
cg.GraphDef() | g.nodes() | g.edges() | g.edge_data(node, loop) | g.check() | g.diff(g) | g.instantiate()
h.task_flow().__enter__() | flow.memset(memory, 1) | flow.join() | flow.call(Emitter()) | flow.alloc(64)
flow.launch(ONE, kernel, pinned, 1, 0) | flow.while_loop(condition) | flow.explain(flowed, flowed)
g.memory
g.create_condition() | g.create_condition(0) | g.debug_dot_print(os.devnull) | g.draw() | loop.body.nodes()
g.join() | node.join() | work.join(fill) | g.callback(int) | node.callback(int) | h.call(Emitter())
h.launch(ONE, kernel, pinned, 1, 0) | h.launch(ONE, kernel, pinned, alpha, 0) | fill.launch(ONE, kernel, pinned, 1, 0)
g.save('never.cgg') | h.alloc(64) | memories.free(alloc.dptr) | memories.free(memory.handle) | switch.branches[1].join()
h.memset(memory, 0) | h.memset(memory.handle, 0, 64) | h.memcpy(memory, pinned)
h.memcpy(memory.handle, pinned.handle, 64) | h.embed(inner) | h.record_event(event) | h.wait_event(event)
h.capture_call(stream.record)
h.if_then(condition) | h.if_else(condition) | h.while_loop(condition) | h.switch(condition, 2)
node.type | set(node.pred) | len(node.succ) | host in work.pred | sorted(node.succ)
host.succ.add(fill) | host.succ.discard(work) | host.succ.remove(work) | host.succ.pop() | host.succ.clear()
host.succ.update([fill]) | host.succ.replace([]) | host.succ.__ior__({fill}) | host.succ.__iand__({fill})
host.succ.__isub__({work}) | host.succ.__ixor__({work}) | setattr(host, "pred", {fill}) | setattr(host, "succ", [])
node.destroy() | work.destroy() | child.destroy() | if_node.destroy() | node.name | work.name
host.callback_fn | host.update(int) | work.grid | work.block | work.shmem_size | work.config | work.kernel | work.args
work.update(config=ONE) | work.update(args=(pinned, 1, 0)) | work.update(args=(pinned, alpha, 0))
work.update(kernel=setter, args=(condition, 1))
alloc.dptr | alloc.bytesize | alloc.device_id | alloc.memory_type | alloc.peer_access | alloc.options | free.dptr
array[1:] | part.dptr | array.__cuda_graph_array__() | memory.view(cg.f32) | h.memset(part, 0)
fill.dptr | fill.value | fill.element_size | fill.width | fill.height | fill.pitch | fill.update(value=3)
copy.dst | copy.src | copy.size | copy.width | copy.height | copy.depth | copy.dst_pitch | copy.src_pitch
copy.dst_height | copy.src_height | copy.update(size=8) | copy.update(src=pinned)
child.child_graph.nodes() | child.update(inner) | record.event | record.update(event) | wait.event | wait.update(event)
graph.launch(stream) | graph.profile(stream) | graph.draw() | graph.cancel() | graph.iterations
graph.upload(stream) | optimized.explain() | graph.update(g)
executable.launch(stream, alpha=4) | executable.set(alpha=4)
executable.params | executable.update(h) | executable.update(ended) | executable[work]
in_work.update(config=ONE, kernel=kernel, args=(pinned, 1, 0)) | in_work.is_enabled | in_work.enable()
in_work.disable() | in_fill.update(dst=memory, value=0) | in_fill.is_enabled | in_fill.enable() | in_fill.disable()
in_copy.update(dst=memory, src=pinned) | in_copy.is_enabled | in_copy.enable() | in_copy.disable()
in_child.update(inner) | in_host.update(int) | in_record.update(event) | in_wait.update(event)
fresh.begin_building() | capturing.is_building | capturing.split(2) | capturing.callback(int)
capturing.create_condition() | capturing.if_then(condition) | capturing.if_else(condition)
capturing.while_loop(condition) | capturing.switch(condition, 2) | capturing.embed(ended)
cg.launch(capturing, ONE, kernel, pinned, 1, 0) | cg.GraphBuilder.join(capturing, branch) | body.begin_building()
capturing.end_building() | ended.complete() | ended.debug_dot_print(os.devnull) | ended.draw()
ended.graph_definition.nodes()
"""

# Expressions that only read memory of the process. The child evaluates all of them; none may fail.
ANSWERS = """
device.device_id | device.arch | device.compute_capability | device.context.handle | device.default_stream
device.memory_resource | device.properties | device == device | hash(device) | repr(device) | int(device)
stream.handle | stream.is_closed | stream.context | repr(stream) | stream.create_graph_builder()
stream.__cuda_stream__()
event.handle | event.is_closed | event.is_timing_enabled | event.is_blocking_sync | event.is_ipc_enabled
event.context | repr(event)
part.shape | part.dtype | part.ndim | part.strides | part.itemsize | part.element_shape | part.nbytes | part.size
part.node | repr(part)
memory.handle | memory.size | memory.memory_resource | memory.owner | memory.is_closed | memory.is_device_accessible
memory.is_host_accessible | repr(memory) | memory.set_deallocation_stream(stream)
cg.Buffer.from_handle(memory.handle, 64) | pool.handle | pool.device_id | pool.is_device_accessible
pool.is_host_accessible | graph_pool.device_id | repr(graph_pool)
cg.Program(SOURCE, code_type="c++").backend
code.code | code.code_type | code.name | code.symbol_mapping | code.handle | repr(code)
kernel.handle | kernel.num_arguments | kernel.signature | kernel.arguments_info
kernel.attributes | kernel.occupancy | repr(kernel)
g.handle | g.is_valid | repr(g) | g == h | hash(g) | h.param("alpha", cg.u32, default=3) | repr(condition)
h.temporary(4, cg.f32) | scratch.name | scratch.shape | scratch.bytesize | scratch.ndim | scratch.itemsize
repr(scratch)
condition.handle | alpha.name | alpha.type | alpha.default | repr(alpha)
h.task_flow() | flow.graph | repr(flow)
node.graph | node.handle | node.is_valid | node.source | node.pred | node.succ | loop.name | node == loop
[repr(n) for n in (node, loop, work, fill, copy, child, record, wait, if_node, if_else, switch, alloc, free)]
setattr(node, "name", "a name") | node.name | work.reads | work.writes | work.update() | fill.update() | copy.update()
work.update(reads=[memory]) | loop.condition | loop.cond_type | loop.branches | if_node.then | if_else.then
if_else.else_ | again.body | switch.branches
part.node | part.shape | part.strides | part.dtype | part.element_shape | part.ndim | part.size
part.itemsize | part.nbytes
graph.handle | graph.is_closed | repr(graph) | repr(in_work)
fresh.stream | fresh.kind | fresh.state | capturing.is_join_required | fresh.is_closed | repr(capturing)
ended.graph_definition | cg.driver_info()
"""

# Objects whose close() in the child does nothing.
ENDS = "[x.close() for x in (event, memory, pinned, graph, executable, fresh, ended, branch, body, capturing, stream)]"


def rows(table):
    return [use.strip() for line in table.strip().splitlines() for use in line.split(" | ")]
