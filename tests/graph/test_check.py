# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: `GraphDef.check` finds what is wrong with a definition, wherever in it, names it, and finds nothing else."""

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes
from cuda_graphs.graph.analysis.liveness import find_lifetimes
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


UNFINISHED = ("empty_body", "unset_loop", "unused_parameter")


def found(definition, *kinds):
    """{(kind, nodes)} of the findings of some kinds; without kinds, of all but UNFINISHED."""
    return {
        (f.kind, frozenset(f.nodes))
        for f in definition.check()
        if f.kind in kinds or (not kinds and f.kind not in UNFINISHED)
    }


def finding(kind, *nodes):
    return kind, frozenset(nodes)


# ---- reports


def test_a_definition_with_nothing_wrong_gives_a_report_that_is_false(g, memory):
    g.memset(memory, 0, 64).memset(memory, 1, 64)
    report = g.check()
    assert not report
    assert (len(report), list(report), str(report), report.is_complete) == (0, [], "nothing found", True)
    assert not cg.GraphDef().check()


def test_a_report_says_each_finding_in_a_line_with_names_and_source_lines(g, memory):
    clear = g.memset(memory, 0, 64, name="clear")
    inside = g.while_loop(g.create_condition(0), name="loop").body.memcpy(memory + 128, memory + 32, 16)
    g.create_condition(0)
    report = g.check()
    assert report
    assert [f.kind for f in report] == ["unordered", "unused_condition", "unset_loop"]
    assert report[0].nodes in ((clear, inside), (inside, clear))
    lines = str(report).split("\n")
    assert len(lines) == 3
    assert lines[0].startswith("unordered: ")
    assert f"MemsetNode 'clear' ({clear.source}) fills {memory:#x}..{memory + 63:#x}" in lines[0]
    assert f"MemcpyNode ({inside.source}) in `body` of WhileNode 'loop' (" in lines[0]
    assert f"copies from {memory + 32:#x}..{memory + 47:#x}" in lines[0]
    assert f"({__file__}:" in lines[1]
    assert lines[2].startswith("unset_loop: no kernel in the body of WhileNode 'loop' (")


def test_a_report_says_when_there_is_more(g, memory):
    for _ in range(5):
        g.memset(memory, 0, 4)
    assert len(g.check()) == 10
    assert g.check().is_complete
    report = g.check(limit=3)
    assert len(report) == 3
    assert not report.is_complete
    assert "There is more" in str(report)


@pytest.mark.parametrize(
    ("limit", "error"), [(-1, OverflowError), (1.5, TypeError), ("3", TypeError), (None, TypeError)]
)
def test_the_limit_is_a_count(limit, error, g):
    with pytest.raises(error, match="limit"):
        g.check(limit=limit)


def test_a_report_of_a_graph_that_is_gone_is_refused(g):
    loop = g.while_loop(g.create_condition(0))
    body = loop.body
    loop.destroy()
    with pytest.raises(RuntimeError, match="no longer valid"):
        body.check()


# ---- memory without order


def test_fills_and_copies_of_the_same_bytes_need_an_order(g, memory):
    a = g.memset(memory, 0, 64)
    b = g.memset(memory + 63, 0, 1)
    c = g.memset(memory + 64, 0, 64)
    copy = g.memcpy(memory + 256, memory, 64)
    other = g.memcpy(memory + 512, memory, 64)
    assert found(g) == {
        finding("unordered", a, b),
        finding("unordered", a, copy),
        finding("unordered", a, other),
        finding("unordered", b, copy),
        finding("unordered", b, other),
    }
    # Two that read need none, nor do two that an edge, or a path, orders.
    b.pred = {a}
    copy.pred = {b}
    other.pred = {copy, c}
    assert found(g) == set()


def test_rows_are_looked_at_one_by_one(g, memory):
    left = g.memset(memory, 0, 8, 16, 64)
    g.memset(memory + 8, 1, 8, 16, 64)
    across = g.memset(memory + 64, 2, 64)
    assert found(g) == {
        finding("unordered", left, across),
        *(finding("unordered", n, across) for n in g.nodes() if n not in (left, across)),
    }


def test_elements_have_their_size(g, memory):
    g.memset(memory, b"\1\2\3\4", 4)
    after = g.memset(memory + 12, 0, 1)
    beyond = g.memset(memory + 16, 0, 1)
    (first,) = g.nodes() - {after, beyond}
    assert found(g) == {finding("unordered", first, after)}


def test_kernels_count_where_they_say_what_they_touch(g, memory, kernels):
    silent = g.launch(ONE, kernels.affine, memory, 1, 1)
    writes = g.launch(ONE, kernels.affine, memory, 1, 1, writes=[(memory, 4)])
    reads = g.launch(ONE, kernels.affine, memory, 1, 1, reads=[(memory, 4)])
    g.launch(ONE, kernels.affine, memory, 1, 1, reads=[(memory, 4)])
    others = g.nodes() - {silent, writes, reads}
    assert found(g) == {finding("unordered", writes, r) for r in (reads, *others)}


def test_branches_of_one_node_never_meet(g, memory, kernels):
    switch = g.switch(g.create_condition(0), 3)
    for branch in switch.branches:
        branch.memset(memory, 0, 4)
    either = switch.if_else(g.create_condition(0))
    either.then.memset(memory, 0, 4)
    either.else_.memset(memory, 0, 4).memset(memory, 1, 4)
    assert found(g) == set()


def test_a_body_is_ordered_as_its_node_is(g, memory):
    before = g.memset(memory, 0, 4)
    loop = before.while_loop(g.create_condition(0))
    first = loop.body.memset(memory, 1, 4)
    deeper = first.if_then(g.create_condition(0)).then.memset(memory, 2, 4)
    loop.memset(memory, 3, 4)
    assert found(g) == set()
    beside = g.memset(memory, 4, 4)
    second = loop.body.memset(memory, 5, 4)
    loop.body.memset(memory + 64, 5, 4)
    after = next(n for n in loop.succ)
    assert found(g) == {
        *(finding("unordered", beside, n) for n in (before, after, first, deeper, second)),
        finding("unordered", second, first),
        finding("unordered", second, deeper),
    }
    # A check of a body alone ignores the graph around it.
    assert found(loop.body) == {finding("unordered", second, first), finding("unordered", second, deeper)}


def test_embedding_node_accesses_the_memory_of_its_embedded_graph(g, memory, kernels):
    child = cg.GraphDef()
    child.memset(memory, 0, 4, name="inside")
    child.launch(ONE, kernels.affine, memory + 64, 1, 1, writes=[(memory + 64, 4)], name="kernel inside")
    outer = cg.GraphDef()
    outer.join().embed(child)
    node = g.embed(outer)
    beside = g.memset(memory, 0, 128)
    assert {f.kind for f in g.check()} == {"unordered"}
    names = {frozenset(n.name for n in f.nodes) for f in g.check()}
    assert names == {frozenset({"memset", "inside"}), frozenset({"memset", "kernel inside"})}
    assert all("in `child_graph` of ChildGraphNode" in f.text for f in g.check())
    beside.succ.add(node)
    assert found(g) == set()


@pytest.mark.parametrize("trigger", ["programmatic", "launch_order"])
def test_a_programmatic_edge_is_an_order_and_so_is_what_leads_over_it(trigger, g, memory, kernels):
    data = cg.EdgeData.programmatic(trigger)
    first = g.launch(ONE, kernels.nothing, writes=[(memory, 4)])
    second = first.launch(ONE, kernels.nothing, edge=data, writes=[(memory, 4)])
    second.launch(ONE, kernels.nothing, edge=data).memset(memory, 0, 4)
    assert found(g) == set()


def test_an_edge_that_lets_go_when_a_kernel_begins_is_no_order(g, memory, kernels):
    begun = cg.EdgeData(from_port=2)
    first = g.launch(ONE, kernels.nothing, writes=[(memory, 4)])
    beside = first.launch(ONE, kernels.nothing, edge=begun, reads=[(memory, 4)])
    after = beside.memset(memory, 0, 4)
    assert found(g) == {finding("unordered", first, beside), finding("unordered", first, after)}
    first.succ.add(after)
    assert found(g) == {finding("unordered", first, beside)}
    first.succ.discard(beside)
    first.succ.add(beside)
    assert found(g) == set()


# ---- allocations


def test_memory_that_is_allocated_used_and_freed_in_order_is_right(g, kernels):
    a = g.alloc(64)
    a.memset(a.dptr, 0, 64).launch(ONE, kernels.affine, a.dptr, 1, 1, writes=[a]).free(a.dptr)
    b = g.alloc(64)
    b.free(b.dptr)
    assert found(g) == set()


def test_memory_that_is_never_freed_is_found(g):
    kept = g.alloc(64, name="kept")
    a = g.alloc(64)
    a.free(a.dptr)
    assert found(g) == {finding("never_freed", kept)}


def test_memory_that_is_freed_twice_is_found(g, monkeypatch):
    """No driver takes a second free node, so one is made up."""
    a = g.alloc(64, name="memory")
    first = a.free(a.dptr)
    second = first.join(name="frees too")

    def twice(order, allocs, frees):
        return find_lifetimes(order, allocs, [*frees, (a.dptr, order.steps[second])])

    monkeypatch.setattr("cuda_graphs.graph.analysis.check.find_lifetimes", twice)
    (report,) = g.check()
    assert (report.kind, report.nodes[0], {*report.nodes[1:]}) == ("freed_twice", a, {first, second})
    assert report.text.startswith("the memory of AllocNode 'memory' (")
    assert "is freed by FreeNode (" in report.text and "EmptyNode 'frees too' (" in report.text


def test_a_free_node_that_is_not_after_its_alloc_node_is_found(g):
    a = g.alloc(64)
    free = g.free(a.dptr)
    assert found(g) == {finding("unordered", a, free), finding("never_freed", a)}
    free.succ.add(a)
    assert found(g) == {finding("use_before_alloc", free, a), finding("never_freed", a)}


# Kernels name the memory of alloc nodes here: drivers take no new fill or copy of memory that their graph frees.


def test_use_of_memory_after_its_free_node_is_found(g, kernels):
    def use(place, *, start=0):
        return place.launch(ONE, kernels.nothing, reads=[(a.dptr + start, 4)])

    a = g.alloc(64)
    free = a.free(a.dptr)
    first = use(free)
    last = use(first.join(), start=60)
    use(free, start=64)  # behind it
    inside = use(free.while_loop(g.create_condition(0)).body)
    child = cg.GraphDef()
    use(child)
    embedded = free.embed(child)
    (copy,) = embedded.child_graph.nodes()
    assert found(g) == {finding("use_after_free", node, a, free) for node in (first, last, inside, copy)}


def test_use_of_memory_before_its_alloc_node_is_found(g, kernels):
    a = g.alloc(64, name="late")
    use = g.launch(ONE, kernels.nothing, writes=[a])
    use.succ.add(a)
    a.free(a.dptr)
    (report,) = g.check()
    assert (report.kind, report.nodes) == ("use_before_alloc", (use, a))
    assert "which is of AllocNode 'late'" in report.text


def test_use_of_memory_without_an_order_to_its_alloc_and_free_nodes_is_found(g, kernels):
    a = g.alloc(64)
    free = a.free(a.dptr)
    beside = g.launch(ONE, kernels.nothing, reads=[a])
    assert found(g) == {finding("unordered", a, beside), finding("unordered", beside, free)}
    beside.pred.add(a)
    assert found(g) == {finding("unordered", beside, free)}
    beside.succ.add(free)
    assert found(g) == set()


def test_fills_and_copies_of_memory_of_alloc_nodes_count(g, memory):
    a, b = g.alloc(64), g.alloc(64)
    fill, copy = a.memset(a.dptr, 0, 64), b.memcpy(memory, b.dptr, 64)
    frees = a.free(a.dptr), b.free(b.dptr)
    assert found(g) == {finding("unordered", fill, frees[0]), finding("unordered", copy, frees[1])}
    fill.succ.add(frees[0])
    copy.succ.add(frees[1])
    assert found(g) == set()


def test_memory_of_another_definition_that_is_freed_here_is_found(g):
    other = cg.GraphDef()
    a = other.alloc(64)
    free = g.free(a.dptr)
    assert found(g) == {finding("foreign_free", free)}
    assert found(other) == {finding("never_freed", a)}


# ---- conditions


def test_a_condition_that_no_node_looks_at_is_found(g, memory):
    g.create_condition(0)
    used = g.create_condition(0)
    body = g.if_then(used).then
    body.memset(memory, 0, 4)
    body.create_condition(0)
    assert [f.kind for f in g.check()] == ["unused_condition"] * 2
    assert [f.kind for f in body.check()] == ["unused_condition"]


def test_a_condition_that_nothing_can_set_and_that_has_no_default_is_found(g, kernels):
    never = g.if_then(g.create_condition())
    g.if_then(g.create_condition(0))
    by_object, by_handle = g.create_condition(), g.create_condition()
    setter = g.launch(ONE, kernels.set, by_object, 1)
    setter.launch(ONE, kernels.set, by_handle.handle, 1).if_then(by_handle).then.if_then(by_object)
    assert found(g) == {finding("unset_condition", never)}


def test_a_kernel_that_sets_a_condition_needs_an_order_to_the_node_that_looks_at_it(g, kernels):
    condition = g.create_condition(0)
    node = g.while_loop(condition)
    node.body.launch(ONE, kernels.set, condition, 0).launch(ONE, kernels.set, condition, 1)
    beside = g.launch(ONE, kernels.set, condition, 1)
    g.launch(ONE, kernels.set, condition, 1).succ.add(node)  # two that set it need none
    assert found(g) == {finding("unordered_condition", beside, node)}
    beside.succ.add(node)
    assert found(g) == set()


# ---- events, and circles


def test_a_record_needs_an_order_to_every_other_use_of_the_event(g, device):
    one, other = device.create_event(), device.create_event()
    record, wait = g.record_event(one), g.wait_event(one)
    g.record_event(other)
    g.wait_event(one)
    second = g.nodes() - {record, wait}
    assert found(g) == {
        finding("unordered_event", record, wait),
        *(finding("unordered_event", record, n) for n in second if getattr(n, "event", None) == one),
    }
    again = wait.record_event(one)
    assert finding("unordered_event", record, again) in found(g)


def test_a_circle_is_found_and_the_rest_is_looked_at_all_the_same(g, memory):
    a, b = g.join(name="a"), g.join(name="b")
    a.succ.add(b)
    b.succ.add(a)
    body = g.if_then(g.create_condition(0)).then
    x, y = body.memset(memory, 0, 4), body.memset(memory, 0, 4)
    assert found(g) == {finding("cycle", a, b), finding("unordered", x, y)}


# ---- reads and writes


def test_accesses_of_a_kernel_are_kept_as_spans(g, device, stream, kernels):
    buffer = cg.DeviceMemoryResource(device).allocate(256, stream=stream)
    start = int(buffer.handle)
    a = g.alloc(64)
    node = a.launch(
        ONE,
        kernels.nothing,
        reads=[buffer, (buffer, 8), (start + 8, 8)],
        writes=[a, start, start + 200, (start, 0)],
    )
    assert [tuple(span) for span in node.reads] == [(start, 256, ()), (start, 8, ()), (start + 8, 8, ())]
    assert [tuple(span) for span in node.writes] == [
        (a.dptr, 64, ()),
        (start, 256, ()),
        (start + 200, 56, ()),
    ]
    handle = node.handle
    del node
    (again,) = (n for n in g.nodes() if n.handle == handle)
    assert (len(again.reads), len(again.writes)) == (3, 3)
    plain = g.launch(ONE, kernels.nothing)
    assert (plain.reads, plain.writes) == (None, None)
    buffer.close()


def test_saying_that_memory_is_touched_does_not_keep_it(g, device, stream, kernels, eventually):
    buffer = cg.DeviceMemoryResource(device).allocate(256, stream=stream)
    before = boxes.live()["pointer"]
    g.launch(ONE, kernels.nothing, reads=[buffer], writes=[(buffer, 8)])
    buffer.close()
    eventually(lambda: boxes.live()["pointer"] < before)


def test_an_array_is_touched_where_its_elements_are(g, kernels, pinned):
    array = pinned(np.arange(64)).reshape(8, 8)
    start = array.ctypes.data
    node = g.launch(
        ONE, kernels.nothing, reads=[array, array[:, 2], array[::-1, 4:6], array[:0]], writes=[array.T]
    )
    assert [tuple(span) for span in node.reads] == [
        (start, 256, ()),
        (start + 8, 4, ((8, 32),)),
        (start + 16, 8, ((8, 32),)),
    ]
    assert [tuple(span) for span in node.writes] == [(start, 256, ())]
    column = g.launch(ONE, kernels.nothing, writes=[array[:, 3]])
    assert found(g) == {finding("unordered", node, column)}
    node.destroy()
    other = g.launch(ONE, kernels.nothing, writes=[array[:, 4]])
    row = g.memset(start + 32, 0, 32)
    assert found(g) == {finding("unordered", column, row), finding("unordered", other, row)}


def test_a_copy_of_rows_and_planes_touches_them_and_no_more(g, pinned):
    target, source = pinned(np.zeros((4, 8, 8))), pinned(np.zeros((4, 8, 8)))
    copy = g.memcpy(target[1:3, 2:5, 3:6], source[1:3, 2:5, 3:6])
    inside, above = g.memset(target[2, 4].ctypes.data + 20, 0, 4), g.memset(target[2, 5].ctypes.data, 0, 32)
    left, plane = g.memset(target[1, 3].ctypes.data, 0, 12), g.memset(target[3].ctypes.data, 0, 256)
    under = g.memset(source[1, 2].ctypes.data, 0, 32)
    assert above.is_valid and left.is_valid and plane.is_valid
    assert found(g) == {finding("unordered", copy, inside), finding("unordered", copy, under)}


def wrong(name, error, match, make):
    return pytest.param(error, match, make, id=name)


@pytest.mark.parametrize("keyword", ["reads", "writes"])
@pytest.mark.parametrize(
    ("error", "match", "make"),
    [
        wrong(
            "buffer",
            TypeError,
            "must be a list of the memory that is accessed, got Buffer",
            lambda b: b,
        ),
        wrong("address", TypeError, "must be a list", lambda b: int(b.handle)),
        wrong("item", TypeError, r"\[1\] must be an address", lambda b: [b, "x"]),
        wrong("float", TypeError, r"\[0\] must be an address", lambda b: [1.5]),
        wrong("triple", TypeError, r"\[0\] must be a pair \(address, bytes\)", lambda b: [(1, 2, 3)]),
        wrong("size", TypeError, r"the size of \w+\[0\] must be an int", lambda b: [(b, "x")]),
        wrong("negative", OverflowError, r"the size of \w+\[0\]", lambda b: [(b, -1)]),
        wrong(
            "nowhere", ValueError, r"\[0\]=0x10 is in no memory .* give \(address, bytes\)", lambda b: [16]
        ),
    ],
)
def test_access_to_wrong_memory_is_refused_and_adds_nothing(
    keyword, error, match, make, g, device, stream, kernels
):
    buffer = cg.DeviceMemoryResource(device).allocate(256, stream=stream)
    with pytest.raises(error, match=keyword if match is None else match):
        g.launch(ONE, kernels.nothing, **{keyword: make(buffer)})
    assert g.nodes() == set()
    buffer.close()
    with pytest.raises(ValueError, match=rf"{keyword}\[0\] is a closed Buffer"):
        g.launch(ONE, kernels.nothing, **{keyword: [buffer]})


# ---- parameters, and updates


def test_pointer_parameter_stands_for_memory_of_its_own(g, memory, kernels):
    x, y = g.param("x", cg.pointer), g.param("y", cg.pointer, default=memory)
    fill, other, plain = g.memset(x, 0, 64), g.memset(y, 0, 64), g.memset(memory, 0, 64)
    assert found(g) == set()
    copy = g.memcpy(y, x, 8)
    assert found(g) == {finding("unordered", fill, copy), finding("unordered", other, copy)}
    assert any("copies from memory of parameter 'x'" in f.text for f in g.check())
    kernel = plain.launch(ONE, kernels.affine, x, 1, 1, reads=[(y, 4)], writes=[x])
    assert [span.start for span in (*kernel.reads, *kernel.writes)] == ["y", "x"]
    assert found(g) == {
        *(finding("unordered", a, b) for a in (fill, other) for b in (copy, kernel)),
        finding("unordered", copy, kernel),
    }


def test_an_embedded_copy_touches_what_its_source_does(g, memory, kernels):
    child = cg.GraphDef()
    x = child.param("x", cg.pointer)
    child.launch(ONE, kernels.affine, x, 1, 1, writes=[x], reads=[(memory, 4)], name="inside")
    embedded = g.embed(child)
    (inside,) = embedded.child_graph.nodes()
    assert ([s.start for s in inside.writes], [s.start for s in inside.reads]) == (["x"], [memory])
    beside = g.memset(g.param("x", cg.pointer), 0, 4)
    other = g.memset(memory, 0, 4)
    assert found(g) == {finding("unordered", inside, beside), finding("unordered", inside, other)}


def test_only_a_pointer_can_be_touched(g, kernels):
    count = g.param("count", cg.u64)
    with pytest.raises(
        TypeError, match=r"reads\[0\] must be memory, but <Parameter 'count' u64> is not a pointer"
    ):
        g.launch(ONE, kernels.nothing, reads=[count])
    with pytest.raises(TypeError, match=r"writes\[0\] must be memory"):
        g.launch(ONE, kernels.nothing, writes=[(count, 8)])
    assert g.nodes() == set()


def test_an_update_of_a_kernel_node_changes_what_it_touches_where_it_says_so(g, memory, kernels):
    condition = g.create_condition(0)
    loop = g.while_loop(condition)
    node = g.launch(ONE, kernels.set, condition, 1, reads=[(memory, 4)], writes=[(memory + 4, 4)])
    assert found(g) == {finding("unordered_condition", node, loop)}
    node.update(writes=[])
    assert ([s.start for s in node.reads], node.writes) == ([memory], ())
    node.update(kernel=kernels.affine, args=(memory, 1, 1))
    assert found(g) == set()
    assert [s.start for s in node.reads] == [memory]
    with pytest.raises(TypeError, match=r"reads\[0\] must be an address"):
        node.update(args=(memory, 2, 2), reads=["x"])
    node.update(reads=[], writes=[(memory, 4)])
    fill = g.memset(memory, 0, 4)
    assert found(g) == {finding("unordered", node, fill)}


def test_updates_of_fills_and_copies_count(g, memory):
    first, second = g.memset(memory, 0, 4), g.memset(memory + 64, 0, 4)
    second.update(dst=memory)
    assert found(g) == {finding("unordered", first, second)}
    first.update(dst=memory + 128)
    assert found(g) == set()


# ---- what is unfinished


def test_a_loop_whose_condition_its_body_does_not_set_is_found(g, kernels):
    condition, other = g.create_condition(1), g.create_condition(1)
    loop, inner = g.while_loop(condition), None
    body = loop.body.launch(ONE, kernels.set, other, 0)
    inner = body.while_loop(other)
    last = inner.body.launch(ONE, kernels.nothing)
    assert found(g, "unset_loop") == {finding("unset_loop", loop), finding("unset_loop", inner)}
    last.launch(ONE, kernels.set, other, 0)
    assert found(g, "unset_loop") == {finding("unset_loop", loop)}
    # A handle in any type counts, also in a body of the body.
    last.launch(ONE, kernels.set, condition.handle, 0)
    assert found(g, "unset_loop") == set()
    assert "no kernel in the body of WhileNode" in str(
        next(f for f in g_with_a_loop_of_nothing(kernels).check() if f.kind == "unset_loop")
    )


def g_with_a_loop_of_nothing(kernels):
    graph = cg.GraphDef()
    graph.while_loop(graph.create_condition(1)).body.launch(ONE, kernels.nothing)
    return graph


def test_an_empty_body_is_found(g, memory, kernels):
    then, loop = g.if_then(g.create_condition(0)), g.while_loop(g.create_condition(0))
    either, switch = g.if_else(g.create_condition(0)), g.switch(g.create_condition(0), 2)
    either.then.memset(memory, 0, 4)
    assert found(g, "empty_body") == {finding("empty_body", n) for n in (then, loop, either, switch)}
    (text,) = (f.text for f in g.check() if f.nodes == (either,) and f.kind == "empty_body")
    assert text.startswith("`else_` of IfElseNode (") and text.endswith("holds no nodes")
    # A switch may do nothing for some values.
    switch.branches[1].memset(memory, 0, 4)
    for body in (then.then, loop.body, either.else_):
        body.memset(memory, 0, 4)
    assert found(g, "empty_body") == set()


def test_a_parameter_that_no_node_uses_is_found(g, memory, kernels):
    used, inside, count = g.param("used", cg.u32), g.param("inside", cg.pointer), g.param("count", cg.u64)
    g.param("unused", cg.f32)
    g.launch(ONE, kernels.affine, memory, used, 1)
    g.if_then(g.create_condition(0)).then.memset(inside, 0, count)
    found_texts = [f.text for f in g.check() if f.kind == "unused_parameter"]
    assert found_texts == ["no node uses <Parameter 'unused' f32>"]
    (node,) = (n for n in g.nodes() if isinstance(n, cg.KernelNode))
    node.destroy()
    assert len([f for f in g.check() if f.kind == "unused_parameter"]) == 2


# ---- what is unknown


def test_nodes_of_unknown_accesses_are_listed_and_are_no_findings(g, memory, kernels):
    plain = g.launch(ONE, kernels.affine, memory, 1, 1)
    g.launch(ONE, kernels.affine, memory, 1, 1, writes=[(memory, 4)])
    call = g.callback(print)
    g.callback(print, reads=[])
    g.launch(ONE, kernels.nothing)  # takes no memory
    inside = g.if_then(g.create_condition(0)).then.launch(ONE, kernels.affine, memory, 1, 1)
    report = g.check()
    assert not report and not report.is_complete and not report.is_limited
    assert set(report.unknown) == {plain, call, inside}
    assert str(report).startswith("nothing found\nThe accesses of ")
    assert "are unknown: give reads= and writes=." in str(report)
    for node in (plain, inside):
        node.update(writes=[(memory, 4)])
    call.update(print, writes=[(memory + 64, 4)])
    assert g.check().unknown == () and g.check().is_complete


def test_a_report_names_a_few_unknown_nodes_and_counts_the_others(g, memory, kernels):
    node = g
    for i in range(5):
        node = node.launch(ONE, kernels.affine, memory, 1, 1, name=f"number {i}")
    assert len(g.check().unknown) == 5
    assert " and 2 more nodes are unknown" in str(g.check())


def test_addresses_among_arguments_are_matched_with_alloc_nodes(g, kernels):
    a = g.alloc(64)
    late = a.launch(ONE, kernels.affine, a.dptr + 60, 1, 1)
    free = a.free(a.dptr)
    early = g.launch(ONE, kernels.affine, a.dptr, 1, 1)
    after = free.launch(ONE, kernels.affine, a.dptr + 4, 1, 1)
    assert found(g) == {
        finding("unordered", late, free),
        finding("unordered", early, free),
        finding("unordered", early, a),
        finding("use_after_free", after, a, free),
    }
    early.succ.add(a)
    late.succ.add(free)
    assert found(g) == {finding("use_before_alloc", early, a), finding("use_after_free", after, a, free)}


def test_arguments_that_other_code_packed_are_unknown(stream, memory, kernels, driver_table):
    """`extra` of cuLaunchKernel: one block of bytes in place of an address for each argument."""
    launch = driver_table.original("cuLaunchKernel")
    packed = np.array([memory, 1 | 1 << 32], np.uint64)
    size = np.array([packed.nbytes], np.uint64)
    buffer_pointer, buffer_size, end = 1, 2, 0
    extra = np.array([buffer_pointer, packed.ctypes.data, buffer_size, size.ctypes.data, end], np.uint64)
    with stream.create_graph_builder() as builder:
        shape = (1, 1, 1, 1, 1, 1, 0)
        assert launch(kernels.affine.handle, *shape, stream.handle, None, extra.ctypes.data) == 0
    g = builder.graph_definition
    (node,) = g.nodes()
    loop = node.while_loop(g.create_condition(1))
    loop.body.memset(memory, 0, 4)
    report = g.check()
    assert report.unknown == (node,)
    assert [(f.kind, f.nodes) for f in report] == [("unset_loop", (loop,))]
    with g.task_flow() as tf:
        assert tf.memset(memory, 0, 4).pred == {loop}


def test_accesses_of_compiled_kernels_are_known(g, stream):
    u32s = cg.types.ndarray(cg.u32, 1)

    @cg.kernel
    def add(x: u32s, y: u32s):
        for i in range(x.shape[0]):
            x[i] = x[i] + y[i]

    x, y = cg.ndarray(cg.u32, (4,)), cg.ndarray(cg.u32, (4,))
    one = g.launch(None, add, x, y)
    other = g.call(add, y, x)
    assert found(g) == {finding("unordered", one, other)}
    assert g.check().is_complete
    assert [span.run for span in one.writes] == [16]
    add.forget()


@cg.kernel
def shift(x: cg.Array1[cg.f32], y: cg.Array1[cg.f32]) -> None:
    for i in x:
        y[i] = x[i] + 1


def in_definition(g, x, y):
    with cg.capture() as builder:
        shift(x, y)
    g.embed(builder.graph_definition)


def in_two_definitions(g, x, y):
    inner = cg.GraphDef()
    in_definition(inner, x, y)
    g.embed(inner)


def in_capture(g, x, y):
    with cg.capture() as child:
        shift(x, y)
    with cg.capture() as builder:
        builder.embed(child)
    g.embed(builder.graph_definition)


def in_captured_call(g, x, y):
    g.capture_call(shift, x, y)


def in_copy_of_captured_call(g, x, y):
    inner = cg.GraphDef()
    inner.capture_call(shift, x, y)
    g.embed(inner)


def in_updated_node(g, x, y):
    with cg.capture() as builder:
        shift(x, y)
    g.embed(cg.GraphDef()).update(builder.graph_definition)


def in_capture_into_a_copy(g, x, y):
    inner = cg.GraphDef()
    inner.embed(cg.GraphDef()).child_graph.capture_call(shift, x, y)
    g.embed(inner)


def innermost(definition):
    """The one node that embeds no other."""
    (node,) = definition.nodes()
    return innermost(node.child_graph) if isinstance(node, cg.ChildGraphNode) else node


@pytest.mark.parametrize(
    "embed",
    [
        in_definition,
        in_two_definitions,
        in_capture,
        in_captured_call,
        in_copy_of_captured_call,
        in_updated_node,
        in_capture_into_a_copy,
    ],
)
def test_embedded_copies_of_captured_kernels_have_the_accesses_of_the_kernels(embed, g):
    x, y, z = (cg.zeros(8) for _ in range(3))
    embed(g, x, y)
    node = innermost(g)
    assert found(g) == set() and g.check().is_complete
    other = g.call(shift, y, z)
    assert found(g) == {finding("unordered", node, other)}
    assert g.check().is_complete
    shift.forget()


def test_new_arguments_of_a_captured_kernel_that_was_embedded_change_its_accesses(g):
    x, y, z = (cg.zeros(8) for _ in range(3))
    with cg.capture() as builder:
        shift(x, y)
    definition = builder.graph_definition
    cg.GraphDef().embed(definition)
    (node,) = definition.nodes()
    node.update(args=(x, z))
    g.embed(definition)
    copied = innermost(g)
    other = g.call(shift, z, y)
    assert found(g) == {finding("unordered", copied, other)}
    shift.forget()
