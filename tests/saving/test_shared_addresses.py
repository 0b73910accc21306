# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: alloc nodes stay apart in a file, also where the driver gave one the address of another one that is freed before
it, as libcuda does (CUDA Programming Guide, "Graph Memory Nodes", address reuse)."""

import pytest

import cuda_graphs as cg
from cuda_graphs.saving.addresses import Memory
from cuda_graphs.saving.codes import Blobs

BYTES = 100


def test_arrays_that_are_freed_before_others_are_allocated(stream, tmp_path):
    path = tmp_path / "saved.cgg"
    found = {name: cg.zeros(BYTES, cg.u8) for name in ("first", "second", "third")}
    g = cg.GraphDef()
    at = g
    for number, array in enumerate(found.values(), 1):
        memory = at.alloc(BYTES)
        branch = memory.memset(memory.dptr, number, BYTES).if_then(g.create_condition(default_value=1))
        branch.then.memset(memory.dptr, 10 * number, BYTES // 2)
        at = branch.memcpy(array, memory.dptr, BYTES).free(memory.dptr)
    g.save(path, outputs=found)
    graph = cg.load(path).instantiate()
    for _ in range(2):
        for array in found.values():
            array.fill(0)
        graph.launch(stream, **found)
        stream.sync()
        for number, array in enumerate(found.values(), 1):
            assert array.to_numpy().tolist() == [10 * number] * 50 + [number] * 50


def test_an_address_belongs_to_the_alloc_node_that_was_read_last():
    memory = Memory(Blobs())
    memory.add_words(100, 50)
    memory.add_alloc(1000, 400, 0)
    memory.add_alloc(1600, 400, 1)
    memory.add_alloc(1200, 500, 2)  # in parts of both
    memory.add_alloc(2000, 8, 3)
    wanted = {100: ["m", 0, 0], 1000: None, 1199: None, 1210: ["a", 2, 10], 1699: ["a", 2, 499], 1700: None}
    assert {at: memory.find(at) for at in wanted} == wanted
    assert memory.find(2001) == ["a", 3, 1]
    with pytest.raises(ValueError, match="is memory of an alloc node"):
        memory.add_alloc(120, 8, 4)
