# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: arrays of alloc nodes without an address are read with the addresses of stand-ins, which no text that users see
contains, and no code of users gets."""

import re
import weakref

import numpy as np
import pytest

import cuda_graphs as cg
from tests.graph.test_changed_places import COPY
from tests.graph.test_shared_arrays import N, combine
from tests.graph_rig import ONE

FIRST = 1 << 63


@pytest.fixture(autouse=True)
def kernels_keep_no_code(device):
    yield
    device.sync()
    combine.forget()


class Program:
    """A definition that uses two arrays in all ways. `swaps` exchanges them."""

    def __init__(self, out, swaps=False):
        code = cg.Program(COPY, code_type="c++").compile("cubin").get_kernel("copy_all")
        g = self.g = cg.GraphDef()
        a = g.alloc(shape=N, dtype=cg.f32, name="a")
        b = a.alloc(shape=N, dtype=cg.f32, name="b")
        self.arrays = a, b
        one, other = (b, a) if swaps else (a, b)
        node = b.memset(one, np.float32(5), name="fill").memcpy(other, one, name="copy")
        node = node.memcpy(other[:10], one[5:15], name="part").call(
            combine, out, one, other, 0.0, name="call"
        )
        node = node.call(combine, out[:20], one[10:30], one[40:60], 0.0, name="parts")
        node = node.launch(ONE, code, one, other, reads=[other], writes=[one], name="declared")
        node = node.launch(ONE, code, one, other, name="opaque")
        node.free(a, name="free a").free(b, name="free b")

    def texts(self):
        for node in self.g.nodes():
            yield from (repr(node), node._identify())
        yield from map(str, (self.g, self.g.check(), self.g.memory))

    def places(self):
        return [each._place() for each in self.arrays]


def numbers_in(text):
    """Return the numbers of a text that may be addresses."""
    return [int(each, 0) for each in re.findall(r"0x[0-9a-f]+|\b[0-9]{9,}\b", text)]


def assert_no_stand_in(texts):
    for text in texts:
        assert all(number < FIRST for number in numbers_in(text)), text


def test_texts_name_arrays_without_an_address(tmp_path):
    out = cg.zeros(N)
    program, other = Program(out), Program(out, swaps=True)
    difference = program.g.diff(other.g)
    assert "src was AllocNode 'a'" in str(difference)
    assert "byte 20 of AllocNode 'a'" in str(difference)
    assert_no_stand_in([*program.texts(), str(difference), *map(repr, difference.changed)])
    for kind in ("svg", "html", "dot"):
        for number, each in enumerate((program.g, difference)):
            each.draw(tmp_path / f"{number}.{kind}")
            assert_no_stand_in([(tmp_path / f"{number}.{kind}").read_text()])
    with pytest.raises(cg.SavedGraphError) as refused:
        program.g.save(tmp_path / "refused.cgg")
    assert_no_stand_in([str(refused.value)])
    assert program.places() == other.places() == ["shared", "shared"]


def test_definitions_of_one_program_do_not_differ():
    out = cg.zeros(N)
    program, other = Program(out), Program(out)
    assert not program.g.diff(other.g)
    assert program.arrays[0].dptr < FIRST
    assert not program.g.diff(other.g)
    assert other.places() == ["shared", "shared"]


def test_refusals_of_the_driver_name_arrays_without_an_address():
    g = cg.GraphDef()
    array = g.alloc(shape=N, dtype=cg.f32, name="array")
    array.free(array)
    with pytest.raises(cg.CUDAError, match=r"Attempted: add a free of AllocNode 'array'"):
        array.free(array)
    other = cg.GraphDef().alloc(64)
    with pytest.raises(cg.CUDAError) as refused:
        array.free(array[10:].node._address + 40)
    assert_no_stand_in([str(refused.value)])
    assert other.dptr < FIRST and array._place() == "shared"


class Wrapper:
    """An array of another library in the memory of an alloc node, which notes the addresses that it gets."""

    def __init__(self, array, seen):
        self.array = weakref.ref(array)  # a graph that kept its own nodes would never be destroyed
        self.seen = seen

    @property
    def __cuda_array_interface__(self):
        self.seen.append(self.array().dptr)
        return {"shape": (N,), "typestr": "<f4", "data": (self.seen[-1], False), "version": 3}


def use_in_kernel(node, wrapper, out):
    return node.call(combine, out, wrapper, wrapper, 0.0)


def use_in_copy(node, wrapper, out):
    return node.memcpy(out, wrapper)


def use_in_update(node, wrapper, out):
    call = node.call(combine, out, out, out, 0.0)
    call.update(args=(out, wrapper, wrapper, 0.0))
    return call


@pytest.mark.parametrize("use", [use_in_kernel, use_in_copy, use_in_update])
def test_code_that_reads_an_address_while_a_node_is_read_may_keep_it(use, stream):
    g, out, seen = cg.GraphDef(), cg.zeros(N), []
    array = g.alloc(shape=N, dtype=cg.f32)
    use(array.memset(array, np.float32(3)), Wrapper(array, seen), out).free(array)
    assert set(seen) == {array.dptr} and array.dptr < FIRST
    g.instantiate().launch(stream)
    stream.sync()
    assert (out.to_numpy() == 3).all()
