# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: once a definition frees memory of one of its alloc nodes, no new fill, copy or free node names that memory, and
the refusal says which node frees it. Both drivers refuse so, whatever the order of the nodes is.
"""

import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE

USES = {
    "memset": lambda p, at, plain: p.memset(at, 0, 4),
    "memset of rows": lambda p, at, plain: p.memset(at + 8, 0, 4, 2, 8),
    "copy to": lambda p, at, plain: p.memcpy(at, plain, 4),
    "copy from": lambda p, at, plain: p.memcpy(plain, at + 60, 4),
}


@pytest.fixture
def plain(device, stream):
    buffer = cg.DeviceMemoryResource(device).allocate(64, stream=stream)
    yield int(buffer.handle)
    buffer.close()


@pytest.fixture
def freed(device):
    """A definition with an alloc node and its free node."""
    g = cg.GraphDef()
    alloc = g.join(name="first").alloc(64, name="memory")
    return g, alloc, alloc.free(alloc.dptr, name="the end")


PLACES = {
    "after the alloc node": lambda g, alloc, free: alloc,
    "after the free node": lambda g, alloc, free: free,
    "before both": lambda g, alloc, free: next(iter(alloc.pred)),
    "beside": lambda g, alloc, free: g,
    "in a body": lambda g, alloc, free: alloc.while_loop(g.create_condition(0)).body,
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_freed_memory_is_refused_and_the_nodes_named(use, place, freed, plain):
    _, alloc, free = freed
    target = place(*freed)
    before = freed[0].nodes()
    with pytest.raises(cg.CUDAError, match="INVALID_VALUE") as caught:
        use(target, alloc.dptr, plain)
    assert (
        f"{alloc._identify()} allocates the memory and {free._identify()} frees it"
        in caught.value.explanation
    )
    assert "'memory'" in caught.value.explanation and "'the end'" in caught.value.explanation
    assert caught.value.remedy == "Add the nodes that use the memory before the node that frees it."
    assert freed[0].nodes() == before


def test_memory_is_freed_once_and_the_second_free_says_where(freed):
    _, alloc, free = freed
    with pytest.raises(cg.CUDAError, match="FreeNode 'the end'") as caught:
        free.free(alloc.dptr)
    assert caught.value.attempt.startswith(f"add a free of {alloc.dptr:#x} to FreeNode 'the end'")


def test_a_refusal_for_another_reason_names_no_free_node(freed, plain):
    g, _, free = freed
    other = free.alloc(64)  # where the memory before it was, as far as the driver likes
    other.memset(other.dptr, 0, 64)
    for refused in (lambda: other.memset(other.dptr, 0, 65), lambda: g.free(plain), lambda: g.free(0)):
        with pytest.raises(cg.CUDAError) as caught:
            refused()
        assert "frees it" not in caught.value.attempt


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_before_there_is_a_free_node_any_place_will_do(use, device, plain, kernels):
    g = cg.GraphDef()
    first = g.join()
    alloc = first.alloc(64)
    for place in (g, first, alloc, alloc.while_loop(g.create_condition(0)).body):
        use(place, alloc.dptr, plain)
    assert {f.kind for f in g.check()} >= {"unordered", "never_freed"}


def test_kernels_and_updates_are_not_refused_but_found_by_check(freed, plain, kernels):
    g, alloc, free = freed
    kernel = free.launch(ONE, kernels.affine, alloc.dptr, 1, 1, writes=[alloc])
    fill = kernel.memset(plain, 0, 4)
    copy = fill.memcpy(plain + 8, plain + 16, 4)
    assert not g.check()[1:]
    fill.update(dst=alloc.dptr)
    copy.update(src=alloc.dptr + 8)
    assert {(f.kind, f.nodes[0]) for f in g.check()} == {
        ("use_after_free", node) for node in (kernel, fill, copy)
    }


def test_memory_freed_in_another_definition_may_still_be_named(device, plain):
    g, other = cg.GraphDef(), cg.GraphDef()
    alloc = g.alloc(64)
    free = other.free(alloc.dptr)
    for place in (alloc, free, other):
        place.memset(alloc.dptr, 0, 4).memcpy(plain, alloc.dptr, 4)
    assert len(g.nodes()) == 3
    assert len(other.nodes()) == 5


def test_memory_freed_by_its_own_definition_may_not_be_named_by_another(freed, plain):
    _, alloc, _ = freed
    other = cg.GraphDef()
    for use in USES.values():
        with pytest.raises(cg.CUDAError, match="INVALID_VALUE"):
            use(other, alloc.dptr, plain)
    assert other.nodes() == set()
