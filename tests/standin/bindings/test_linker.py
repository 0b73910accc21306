# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: PTX texts that name each other's functions and variables become one module by cuLink*."""

import numpy as np
import pytest

from tests.standin.bindings.answers import INVALID_HANDLE, d, ok

pytestmark = pytest.mark.usefixtures("primary")

HEAD = b".version 8.0\n.target sm_50\n.address_size 64\n"
FUNCTION = b"""%s .func (.param .b32 out) %s(.param .b32 in) {
    .reg .b32 %%r;
    ld.param.b32 %%r, [in];
    mad.lo.u32 %%r, %%r, %d, %d;
    st.param.b32 [out], %%r;
    ret;
}
"""
KERNEL = b""".visible .entry %s(.param .u64 at) {
    .reg .b64 %%a;
    .reg .b32 %%r<3>;
    ld.param.u64 %%a, [at];
    {
        .param .b32 x, y;
        st.param.b32 [x], 10;
        call (y), %s, (x);
        ld.param.b32 %%r1, [y];
    }
    ld.global.u32 %%r2, [%s];
    add.u32 %%r1, %%r1, %%r2;
    st.global.u32 [%%a], %%r1;
    ret;
}
"""
DECLARED = b".extern .func (.param .b32 out) change(.param .b32 in);\n.extern .global .align 4 .u32 base;\n"
CALLER = HEAD + DECLARED + KERNEL % (b"main", b"change", b"base")
BASE = b".visible .global .align 4 .u32 base = 1000;\n"
CALLED = HEAD + BASE + FUNCTION % (b".visible", b"change", 2, 1)
WEAK = HEAD + FUNCTION % (b".weak", b"change", 3, 0)
LOG_BYTES = 1024
NAMES = (b"A", b"B in 'b.cu'", b"C", b"D")
INVALID_SOURCE = d.CUresult.CUDA_ERROR_INVALID_SOURCE
INVALID_IMAGE = d.CUresult.CUDA_ERROR_INVALID_IMAGE


class Linked:
    """A link of texts that have NAMES: statuses of what was added and of the whole, and the module, if there is one."""

    def __init__(self, *texts):
        option = d.CUjit_option
        self.log = bytes(bytearray(LOG_BYTES))  # cuda.bindings lets the driver write there
        options = [option.CU_JIT_ERROR_LOG_BUFFER, option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
        state = ok(d.cuLinkCreate(2, options, [self.log, LOG_BYTES]))
        kind = d.CUjitInputType.CU_JIT_INPUT_PTX
        self.added = [
            d.cuLinkAddData(state, kind, text + b"\0", len(text) + 1, name, 0, [], [])[0]
            for text, name in zip(texts, NAMES, strict=False)
        ]
        self.errors = self.log.split(b"\0")[0].decode().splitlines()  # of what was added last
        self.status, image, size = d.cuLinkComplete(state)
        self.errors += self.log.split(b"\0")[0].decode().splitlines()
        self.module = None
        if int(self.status) == 0:
            assert size > 0
            self.module = ok(d.cuModuleLoadData(image))
        ok(d.cuLinkDestroy(state))

    def run(self, kernel=b"main"):
        """Runs a kernel of the module and returns the word that it writes."""
        function, memory = ok(d.cuModuleGetFunction(self.module, kernel)), ok(d.cuMemAlloc(4))
        ok(d.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, ((memory,), (None,)), 0))
        word = np.zeros(1, "u4")
        ok(d.cuMemcpyDtoH(word.ctypes.data, memory, 4))
        ok(d.cuMemFree(memory))
        return int(word[0])


@pytest.mark.parametrize("texts", [(CALLER, CALLED), (CALLED, CALLER)], ids=["caller first", "called first"])
def test_texts_define_the_symbols_that_others_declare(texts):
    linked = Linked(*texts)
    assert linked.run() == 1000 + 21
    address, size = ok(d.cuModuleGetGlobal(linked.module, b"base"))
    assert size == 4
    ok(d.cuMemsetD32(address, 5, 1))
    assert linked.run() == 5 + 21
    ok(d.cuModuleUnload(linked.module))


def test_weak_definition_gives_way_to_a_strong_one():
    for texts, result in (
        ((CALLER, WEAK, CALLED), 1021),
        ((CALLER, WEAK, WEAK.replace(b", 3, 0", b", 4, 0"), HEAD + BASE), 1030),
    ):
        linked = Linked(*texts)
        assert linked.run() == result
        ok(d.cuModuleUnload(linked.module))


def test_names_without_linkage_are_each_texts_own():
    def text(kernel, factor):
        variable = b".global .align 4 .u32 own = %d;\n" % (100 * factor)
        return HEAD + variable + FUNCTION % (b"", b"local", factor, 0) + KERNEL % (kernel, b"local", b"own")

    linked = Linked(text(b"one", 1), text(b"two", 2), text(b"three", 3))
    assert [linked.run(name) for name in (b"one", b"two", b"three")] == [110, 220, 330]
    assert ok(d.cuModuleGetGlobal(linked.module, b"own"))[1] == 4  # of one of them
    ok(d.cuModuleUnload(linked.module))


def test_a_reference_to_nothing_is_an_error_of_the_whole():
    linked = Linked(CALLER)
    assert [int(status) for status in linked.added] == [0]
    assert linked.module is None
    for name in ("base", "change"):
        assert any(f"Undefined reference to '{name}'" in line for line in linked.errors)


def test_a_declaration_without_a_use_does_not_count():
    linked = Linked(CALLED, HEAD + DECLARED.replace(b".b32 in", b".b64 in"), CALLER)
    assert linked.run() == 1021
    ok(d.cuModuleUnload(linked.module))


def test_a_prototype_that_passes_the_same_bytes_is_the_same():
    linked = Linked(CALLED, HEAD + DECLARED.replace(b".b32 in", b".f32 in"), CALLER)
    assert linked.run() == 1021
    ok(d.cuModuleUnload(linked.module))


def test_two_definitions_are_an_error():
    linked = Linked(CALLED, CALLED)
    assert [int(status) == 0 for status in linked.added] == [True, False]
    assert linked.module is None
    assert linked.added[1] == INVALID_SOURCE
    assert linked.errors[0] == (
        f"error   : Multiple definition of 'change' in '{NAMES[1].decode()}', first defined in 'A'"
    )


def test_wrong_ptx_is_an_error_where_it_is_added_and_does_not_count():
    linked = Linked(CALLED, HEAD + b".visible .entry wrong() { bogus; }", CALLER)
    assert linked.added[1] == d.CUresult.CUDA_ERROR_INVALID_PTX
    assert linked.run() == 1021
    ok(d.cuModuleUnload(linked.module))


def test_nothing_is_a_module_too():
    linked = Linked()
    assert linked.module is not None
    ok(d.cuModuleUnload(linked.module))


def test_a_link_is_completed_once():
    state = ok(d.cuLinkCreate(0, [], []))
    kind = d.CUjitInputType.CU_JIT_INPUT_PTX
    assert d.cuLinkAddData(state, kind, b"garbage\0", 8, b"text", 0, [], [])[0] == INVALID_IMAGE
    ok(d.cuLinkAddData(state, kind, CALLED + b"\0", len(CALLED) + 1, b"text", 0, [], []))
    ok(d.cuLinkComplete(state))
    assert d.cuLinkComplete(state)[0] == INVALID_HANDLE
    ok(d.cuLinkDestroy(state))
