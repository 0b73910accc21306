# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the host driver's linker alone: its error lines, and prototypes that differ.

libcuda 580 on an H200 takes a text that only has the address of a function of another prototype. Calls of such a
function, and the order of the lines in the log, were not measured.
"""

import pytest

from tests.standin.bindings.answers import d
from tests.standin.bindings.test_linker import (
    CALLED,
    CALLER,
    DECLARED,
    HEAD,
    INVALID_SOURCE,
    NAMES,
    WEAK,
    Linked,
)

pytestmark = pytest.mark.usefixtures("primary")

USER = b""".visible .entry user(.param .u64 at) {
    .reg .b64 %a, %f;
    ld.param.u64 %a, [at];
    mov.u64 %f, change;
    st.global.u64 [%a], %f;
    ret;
}
"""


def test_log_has_a_line_for_each_undefined_name():
    assert Linked(CALLER).errors == [
        "error   : Undefined reference to 'base' in 'A'",
        "error   : Undefined reference to 'change' in 'A'",
    ]


def test_a_reference_to_nothing_is_told_of_each_text_that_has_it():
    linked = Linked(WEAK, CALLER, CALLER.replace(b"main", b"other"))
    assert linked.errors == [
        f"error   : Undefined reference to 'base' in '{name.decode()}'" for name in NAMES[1:3]
    ]


@pytest.mark.parametrize(
    "other",
    [
        DECLARED.replace(b".param .b32 in", b".param .b64 in"),
        DECLARED.replace(b".param .b32 in", b".param .b32 in, .param .b32 more"),
        DECLARED.replace(b"(.param .b32 out) ", b""),
        DECLARED.replace(b".param .b32 in", b".param .align 8 .b8 in[16]"),
    ],
)
@pytest.mark.parametrize("before", [CALLED, CALLER], ids=["defined", "declared"])
def test_a_function_of_another_prototype_is_an_error_where_it_is_added(before, other):
    linked = Linked(before, HEAD + other + USER)
    assert linked.added == [d.CUresult.CUDA_SUCCESS, INVALID_SOURCE]
    assert linked.module is None
    assert linked.errors[0] == (
        f"error   : Prototype doesn't match for 'change' in '{NAMES[1].decode()}', first declared in 'A'"
    )
