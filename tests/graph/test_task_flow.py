# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a task flow adds each node with the edges that follow from what the node accesses, no others, and says why."""

import gc

import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE


@pytest.fixture
def g(device):
    return cg.GraphDef()


@pytest.fixture
def memory(device, stream):
    """The address of 4096 bytes of the device."""
    buffer = cg.DeviceMemoryResource(device).allocate(4096, stream=stream)
    yield int(buffer.handle)
    buffer.close()


@pytest.fixture
def other(device, stream):
    """The address of another 4096 bytes."""
    buffer = cg.DeviceMemoryResource(device).allocate(4096, stream=stream)
    yield int(buffer.handle)
    buffer.close()


# ---- edges


def test_reads_follow_writes_writes_follow_reads_and_writes_follow_writes(g, memory, other):
    with g.task_flow() as tf:
        first = tf.memset(memory, 0, 64)
        reads = tf.memcpy(other, memory, 64)
        also_reads = tf.memcpy(other + 64, memory, 64)
        writes = tf.memset(memory, 1, 64)
        again = tf.memset(memory, 2, 64)
    assert first.pred == set()
    assert reads.pred == {first} and also_reads.pred == {first}
    assert writes.pred == {reads, also_reads}
    assert again.pred == {writes}


def test_bytes_count_not_allocations(g, memory):
    with g.task_flow() as tf:
        left, right = tf.memset(memory, 0, 64), tf.memset(memory + 64, 0, 64)
        both = tf.memset(memory + 60, 1, 8)
        after_left = tf.memset(memory, 2, 4)
        rows = tf.memset(memory + 4, 3, 4, 16, 8)
        between = tf.memset(memory, 4, 4, 16, 8)
    assert both.pred == {left, right}
    assert after_left.pred == {left}
    assert rows.pred == {both}
    assert between.pred == {both, after_left}


def test_kernels_count_with_what_is_declared(g, memory, kernels):
    with g.task_flow() as tf:
        a = tf.launch(ONE, kernels.nothing, writes=[(memory, 4)])
        b = tf.launch(ONE, kernels.nothing, reads=[(memory, 4)])
        c = tf.launch(ONE, kernels.nothing, reads=[(memory, 8)], writes=[(memory + 16, 4)])
        d = tf.launch(ONE, kernels.nothing, writes=[(memory, 32)])
    assert (a.pred, b.pred, c.pred, d.pred) == (set(), {a}, {a}, {b, c})


def test_kernel_of_unknown_accesses_follows_all_that_it_could_touch(g, memory, other, kernels):
    with g.task_flow() as tf:
        first, last = tf.memset(memory, 0, 4), tf.memset(memory + 4092, 0, 4)
        elsewhere = tf.memset(other, 0, 4)
        unknown = tf.launch(ONE, kernels.affine, memory + 100, 1, 1)
        after = tf.memset(memory + 8, 0, 4)
    assert unknown.pred == {first, last}
    assert after.pred == {unknown}
    assert elsewhere.succ == set()
    assert g.check().unknown == (unknown,)


CONST = """
struct Node { Node* next; };
extern "C" __global__ void read(const float* from, float* to) { to[0] = from[0]; }
extern "C" __global__ void read_all(const float* from, const volatile int* flag) {}
extern "C" __global__ void follow(const Node* from, float* const* names) {}
extern "C" __global__ void number(unsigned long long address) {}
"""


@pytest.fixture(scope="module")
def const(session_device):
    code = cg.Program(CONST).compile()
    return {name: code.get_kernel(name) for name in ("read", "read_all", "follow", "number")}


def test_kernels_that_read_through_const_pointers_have_no_edge(g, memory, other, const):
    with g.task_flow() as tf:
        fill = tf.memset(memory, 0, 4)
        readers = [tf.launch(ONE, const["read_all"], memory + 4 * i, 0) for i in range(3)]
        one = tf.launch(ONE, const["read"], memory, other)
        two = tf.launch(ONE, const["read"], memory, other)
        after = tf.memset(memory + 2048, 0, 4)
    assert all(node.pred == {fill} for node in (*readers, one))
    assert two.pred == {one}  # both may write to `other`
    assert after.pred == {*readers, two}
    assert not tf.explain(readers[0], readers[1]).conflicts and tf.explain(one, two).conflicts
    assert "may read" in str(tf.explain(two, after))


def test_const_pointers_to_possible_addresses_are_unknown_and_numbers_too(g, memory, const):
    with g.task_flow() as tf:
        first = tf.launch(ONE, const["follow"], memory, 0)
        second = tf.launch(ONE, const["follow"], 0, memory)
        third = tf.launch(ONE, const["number"], memory)
        fourth = tf.launch(ONE, const["number"], memory)
    assert [node.pred for node in (second, third, fourth)] == [{first}, {second}, {third}]


def test_declarations_replace_what_const_tells(g, memory, const):
    with g.task_flow() as tf:
        first = tf.launch(ONE, const["read_all"], memory, 0, writes=[(memory, 4)])
        second = tf.launch(ONE, const["read_all"], memory, 0)
        third = tf.launch(ONE, const["read"], memory, memory + 64, reads=[], writes=[(memory + 64, 4)])
        fourth = tf.launch(ONE, const["read"], memory, memory + 128, reads=[], writes=[(memory + 128, 4)])
    assert second.pred == {first} and third.pred == {second} and fourth.pred == {second}


def test_parameters_that_are_read_through_const_have_no_edge(g, const):
    x = g.param("x", cg.pointer)
    with g.task_flow() as tf:
        first, second = (tf.launch(ONE, const["read_all"], x, 0) for _ in range(2))
        third = tf.launch(ONE, const["read"], 0, x)
    assert second.pred == set() and third.pred == {first, second}


def test_a_possible_read_is_no_finding_of_check(g, memory, const):
    reader = g.launch(ONE, const["read_all"], memory, 0)
    g.memset(memory + 64, 0, 4)
    report = g.check()
    assert not report and report.unknown == (reader,)


def test_captured_launches_are_known_by_const(g, stream, memory, const):
    with stream.create_graph_builder() as builder:
        cg.launch(builder, ONE, const["read_all"], memory, 0)
    with g.task_flow() as tf:
        captured = tf.embed(builder.graph_definition)
        reader = tf.launch(ONE, const["read_all"], memory, 0)
        writer = tf.memset(memory, 0, 4)
    assert reader.pred == set() and writer.pred == {captured, reader}


def test_callback_of_unknown_accesses_stays_in_its_place(g, memory, other):
    with g.task_flow() as tf:
        first, second = tf.memset(memory, 0, 4), tf.memset(other, 0, 4)
        anything = tf.callback(print)
        after = tf.memset(memory + 64, 0, 4)
        declared = tf.callback(print, reads=[(other, 4)])
        nothing = tf.callback(print, reads=[])
    assert anything.pred == {first, second}
    assert after.pred == {anything} and declared.pred == {anything}
    assert nothing.pred == set()
    assert g.check().unknown == (anything,)


def test_events_stay_in_their_place(g, memory, other, device, stream):
    event = device.create_event()
    with g.task_flow() as tf:
        first, second = tf.memset(memory, 0, 4), tf.memset(other, 0, 4)
        record = tf.record_event(event)
        wait = tf.wait_event(event)
        after = tf.memset(memory, 0, 4)
    assert (record.pred, wait.pred, after.pred) == ({first, second}, {record}, {wait})
    assert g.check().is_complete
    event.close()


def test_parameters_are_memory_of_their_own(g, memory):
    x, y = g.param("x", cg.pointer, memory), g.param("y", cg.pointer, memory + 512)
    with g.task_flow() as tf:
        a, b = tf.memset(x, 0, 4), tf.memset(y, 0, 4)
        c = tf.memcpy(y, x, 4)
        d = tf.memset(memory + 1024, 0, 4)
    assert (c.pred, d.pred) == ({a, b}, set())


def test_size_that_comes_with_a_launch_may_be_any(g, memory, other):
    size = g.param("size", cg.u64, 8)
    with g.task_flow() as tf:
        beyond = tf.memset(memory + 2048, 0, 4)
        copy = tf.memcpy(memory, other, size)
    assert copy.pred == {beyond}


def test_body_counts_as_its_node_and_has_a_flow_of_its_own(g, memory, other, kernels):
    with g.task_flow() as tf:
        before = tf.memset(memory, 0, 4)
        loop = tf.while_loop(g.create_condition(0))
        with loop.body.task_flow() as body:
            one = body.memset(memory, 1, 4)
            two = body.memset(other, 1, 4)
            both = body.memcpy(other, memory, 4)
        deeper = both.if_then(g.create_condition(0)).then
        deeper.memset(memory + 512, 2, 4)
        after = tf.memset(other, 2, 4)
        last = tf.memset(memory + 512, 3, 4)
        elsewhere = tf.memset(memory + 1024, 3, 4)
    assert both.pred == {one, two}
    assert (loop.pred, after.pred, last.pred, elsewhere.pred) == ({before}, {loop}, {loop}, set())


def test_condition_is_set_before_it_is_looked_at(g, memory, kernels):
    condition = g.create_condition()
    with g.task_flow() as tf:
        first = tf.launch(ONE, kernels.set, condition, 1)
        second = tf.launch(ONE, kernels.set, condition, 0)
        node = tf.if_then(condition)
        node.then.memset(memory, 0, 4)
        after = tf.launch(ONE, kernels.set, condition, 1)
    assert (first.pred, second.pred, node.pred, after.pred) == (set(), {first}, {second}, {node})


def test_embedded_graph_counts_as_its_node(g, memory, other):
    child = cg.GraphDef()
    child.memset(memory, 0, 4).memcpy(other, memory, 4)
    with g.task_flow() as tf:
        a, b = tf.memset(memory, 1, 4), tf.memset(other, 1, 4)
        node = tf.embed(child)
        after = tf.memcpy(memory + 64, other, 4)
    assert (node.pred, after.pred) == ({a, b}, {node})


def test_allocations_are_freed_after_their_users_at_the_end(g, memory, kernels):
    with g.task_flow() as tf:
        kept, freed = tf.alloc(64), tf.alloc(64)
        fill = tf.memset(kept.dptr, 0, 64)
        reads = [tf.memcpy(memory + 64 * i, kept.dptr, 64) for i in range(2)]
        use = tf.launch(ONE, kernels.nothing, writes=[freed])
        own = tf.free(freed.dptr)
        unused = tf.alloc(16)
    frees = {node.dptr: node for node in g.nodes() if isinstance(node, cg.FreeNode)}
    assert fill.pred == {kept}
    assert frees[kept.dptr].pred == set(reads)
    assert own.pred == {use} and frees[freed.dptr] is own
    assert frees[unused.dptr].pred == {unused}
    assert len(frees) == 3
    assert not g.check()


def test_memory_is_not_used_after_its_free_node(g, memory, kernels):
    with g.task_flow() as tf:
        freed = tf.alloc(64)
        tf.free(freed.dptr)
        for use in (
            lambda: tf.memset(freed.dptr, 0, 4),
            lambda: tf.memcpy(memory, freed.dptr + 60, 4),
            lambda: tf.launch(ONE, kernels.affine, freed, 1, 1),
            lambda: tf.launch(ONE, kernels.nothing, reads=[freed]),
        ):
            with pytest.raises(ValueError, match=r"cannot add .*: FreeNode \(.*has freed the memory before"):
                use()
    assert {type(node) for node in g.nodes()} == {cg.AllocNode, cg.FreeNode}


def test_addresses_that_the_driver_uses_again_belong_to_the_new_allocation(g, device):
    """Allocations after a free node, by an event and by an edge: the driver may give them the freed address."""
    event = device.create_event()
    with g.task_flow() as tf:
        first = tf.alloc(64)
        freed = tf.free(first)
        beside = freed.alloc(64)
        fill = tf.memset(beside, 0, 64)
        end = tf.free(beside)
        tf.record_event(event)
        again = tf.alloc(64)
        last = tf.memset(again, 0, 64)
    (rest,) = last.succ
    frees = {node for node in g.nodes() if isinstance(node, cg.FreeNode)}
    assert frees == {freed, end, rest}
    assert (fill.pred, end.pred, rest.pred) == ({beside}, {fill}, {last})
    assert rest.dptr == again.dptr
    assert not g.check()


def test_slices_of_allocated_arrays_count_with_their_bytes(g, memory):
    with g.task_flow() as tf:
        array = tf.alloc(shape=(16,), dtype=cg.f32)
        left, right = tf.memset(array[:8], 0.0), tf.memset(array[8:], 1.0)
        both = tf.memcpy(memory, array[7:9])
    assert (left.pred, right.pred, both.pred) == ({array}, {array}, {left, right})
    (free,) = both.succ
    assert free.pred == {both}


def test_nodes_that_are_there_already_and_nodes_that_others_add_take_part(g, memory, other):
    a, b = g.memset(memory, 0, 4), g.memset(memory, 1, 4)  # no order: the flow adds none
    c = g.memcpy(other, memory + 64, 4)
    with g.task_flow() as tf:
        copy = tf.memcpy(memory + 512, memory, 4)
        by_hand = g.memset(other, 1, 4)
        joined = by_hand.join(c)
        last = tf.memset(other, 2, 4)
    assert (a.succ, b.succ) == ({copy}, {copy})
    assert by_hand.pred == {c}
    assert joined.pred == {by_hand, c}
    assert last.pred == {by_hand}


def test_nodes_of_a_call_take_part_one_by_one(g, stream):
    u32s = cg.types.ndarray(cg.u32, 1)

    @cg.kernel
    def tasks(x: u32s, y: u32s):
        for i in range(x.shape[0]):
            x[i] = x[i] + 1
        for i in range(y.shape[0]):
            y[i] = y[i] + x[0]

    x, y = cg.ndarray(cg.u32, (4,)), cg.ndarray(cg.u32, (4,))
    with g.task_flow() as tf:
        fill_x, fill_y = tf.memset(x, 1), tf.memset(y, 1)
        last = tf.call(tasks, x, y)
        (first,) = last.pred - {fill_y}
        after = tf.memset(x, 2)
    assert first.pred == {fill_x}
    assert last.pred == {first, fill_y}
    assert after.pred == {last}
    assert g.check().is_complete
    tasks.forget()
    del first, last


def test_ten_thousand_tasks_have_few_edges(g, memory):
    with g.task_flow() as tf:
        for i in range(10_000):
            tf.memset(memory + i * 37 % 4093, i % 256, 3)
    nodes = g.nodes()
    assert len(nodes) == 10_000
    assert sum(len(node.pred) for node in nodes) <= 3 * len(nodes)  # a byte has one last writer


# ---- explanations


def test_explanation_names_the_bytes_and_the_lines(g, memory, other):
    with g.task_flow() as tf:
        fill = tf.memset(memory, 0, 64, name="fill")
        copy = tf.memcpy(other, memory + 32, 64, name="copy")
        again = tf.memset(memory, 1, 64, name="again")
        away = tf.memset(memory + 2048, 1, 64, name="away")
        edge, none, path = tf.explain(fill, copy), tf.explain(fill, away), tf.explain(fill, again)
    assert edge.has_edge and not none.has_edge and not path.has_edge
    ((first, second),) = edge.conflicts
    assert (first.node, second.node, first.mode, second.mode) == (fill, copy, "writes", "reads")
    assert first.span == cg.Span(memory, 64) and second.span == cg.Span(memory + 32, 64)
    assert f"MemsetNode 'fill' ({fill.source}) fills {memory:#x}..{memory + 63:#x}" in str(edge)
    assert f"MemcpyNode 'copy' ({copy.source}) copies from {memory + 32:#x}" in str(edge)
    assert str(edge).startswith("There is an edge between")
    assert (none.conflicts, none.path) == ((), ())
    assert "There is no order between" in str(none) and "no common bytes" in str(none)
    assert path.path == (fill, copy, again)
    assert "the path over MemcpyNode 'copy'" in str(path)


def test_explanation_names_nodes_that_count_as_accessing_everything(g, memory):
    with g.task_flow() as tf:
        fill = tf.memset(memory, 0, 4)
        call = tf.callback(print, name="hello")
    explanation = tf.explain(fill, call)
    assert explanation.barriers == (call,)
    assert "HostCallbackNode 'hello'" in str(explanation)
    assert "counts as accessing everything" in str(explanation)


def test_explanation_takes_nodes_of_the_graph(g, memory):
    stranger = cg.GraphDef().memset(memory, 0, 4)
    with g.task_flow() as tf:
        node = tf.memset(memory, 0, 4)
        with pytest.raises(TypeError, match=r"before must be a GraphNode, got int"):
            tf.explain(1, node)
        with pytest.raises(TypeError, match=r"after must be a GraphNode, got NoneType"):
            tf.explain(node, None)
        with pytest.raises(ValueError, match=r"after is MemsetNode .* a node of another graph"):
            tf.explain(node, stranger)


# ---- use


def test_a_flow_is_used_in_one_block_only(g, memory):
    tf = g.task_flow()
    with pytest.raises(RuntimeError, match=r"this task flow has not begun: write `with graph.task_flow"):
        tf.memset(memory, 0, 4)
    with tf:
        tf.memset(memory, 0, 4)
    for use in (lambda: tf.memset(memory, 0, 4), lambda: tf.call(None), lambda: tf.join()):
        with pytest.raises(RuntimeError, match=r"this task flow has ended: begin another one"):
            use()
    with pytest.raises(RuntimeError, match=r"one `with` block only"):
        tf.__enter__()
    with pytest.raises(RuntimeError, match=r"this task flow has ended"):
        tf.__exit__(None, None, None)
    assert len(g.nodes()) == 1
    with pytest.raises(RuntimeError, match="no public constructor"):
        type(tf)()


def test_a_graph_has_one_open_flow(g, memory):
    with g.task_flow(), pytest.raises(RuntimeError, match=r"GraphDef has an open task flow: end its block"):
        g.task_flow().__enter__()
    with g.task_flow() as tf:
        loop = tf.while_loop(g.create_condition(0))
        body = loop.body.task_flow().__enter__()
        with pytest.raises(RuntimeError, match=r"the task flow of `body` of WhileNode .* is open: end its"):
            tf.memset(memory, 0, 4)
        body.__exit__(None, None, None)
        tf.memset(memory, 0, 4)
    assert len(g.nodes()) == 2


def test_a_flow_that_is_dropped_in_its_block_ends(g, memory):
    tf = g.task_flow().__enter__()
    del tf
    gc.collect()
    with g.task_flow() as tf:
        tf.memset(memory, 0, 4)


def test_an_error_adds_nothing_and_the_flow_goes_on(g, memory, kernels):
    with g.task_flow() as tf:
        first = tf.memset(memory, 0, 4)
        with pytest.raises(TypeError, match="parameter 1"):
            tf.launch(ONE, kernels.affine, memory, "1", 1)
        with pytest.raises(ValueError, match="block=4096"):
            tf.launch(cg.LaunchConfig(grid=1, block=4096), kernels.affine, memory, 1, 1)
        with pytest.raises(cg.CUDAError):
            tf.alloc(0)
        with pytest.raises(ValueError, match=r"edge=... is not for a task flow"):
            tf.launch(ONE, kernels.affine, memory, 1, 1, edge=cg.EdgeData())
        second = tf.memset(memory, 1, 4)
    assert g.nodes() == {first, second}
    assert second.pred == {first}


def test_after_an_exception_the_flow_adds_no_more_nodes(g):
    def fail():
        with g.task_flow() as tf:
            tf.alloc(64)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert [type(node) for node in g.nodes()] == [cg.AllocNode]


def test_a_node_that_was_destroyed_in_the_block_is_reported(g, memory):
    tf = g.task_flow().__enter__()
    tf.memset(memory, 0, 4).destroy()
    with pytest.raises(RuntimeError, match="a node was destroyed inside of the task flow"):
        tf.memset(memory, 1, 4)


def test_nodes_after_one_that_was_destroyed_are_not_forgotten(g, memory):
    tf = g.task_flow().__enter__()
    first = tf.memset(memory, 0, 4)
    beside, after = g.memset(memory + 64, 0, 4), g.memset(memory, 1, 4)
    first.destroy()
    for _ in range(2):
        with pytest.raises(RuntimeError, match="a node was destroyed inside of the task flow"):
            tf.memset(memory + 128, 0, 4)
    with pytest.raises(RuntimeError, match="a node was destroyed inside of the task flow"):
        tf.__exit__(None, None, None)
    assert g.nodes() == {beside, after}


def test_edges_that_the_driver_refuses_are_added_by_the_next_use(g, memory, driver_table):
    with g.task_flow() as tf:
        fill = tf.memset(memory, 0, 4)
        choice = tf.if_then(g.create_condition(0))
        choice.then.memset(memory, 1, 4)
        driver_table.refuse_once("cuGraphAddDependencies", 2)
        with pytest.raises(cg.CUDAOutOfMemoryError, match="add 1 edges to GraphDef"):
            tf.memset(memory, 2, 4)
        assert g.nodes() == {fill, choice} and not g.edges()
        last = tf.memset(memory, 2, 4)
    assert g.edges() == {(fill, choice), (choice, last)}


def test_a_flow_of_a_graph_that_is_gone_is_refused(g):
    loop = g.while_loop(g.create_condition(0))
    body = loop.body
    tf = body.task_flow()
    loop.destroy()
    with pytest.raises(RuntimeError, match=r"no longer valid"):
        body.task_flow()
    with pytest.raises(RuntimeError, match=r"no longer valid"):
        tf.__enter__()


def test_a_flow_of_a_cyclic_graph_is_refused(g):
    a = g.join()
    b = a.join()
    b.succ.add(a)
    with pytest.raises(ValueError, match=r"GraphDef has a cycle of edges"), g.task_flow():
        pass


def test_representation_says_the_state(g):
    tf = g.task_flow()
    assert repr(tf) == f"<TaskFlow new of {g!r}>"
    with tf:
        assert tf.graph == g and repr(tf) == f"<TaskFlow open of {g!r}>"
    assert repr(tf) == f"<TaskFlow closed of {g!r}>"
