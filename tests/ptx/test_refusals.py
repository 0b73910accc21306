# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""PTX that cannot be run is refused at load with the instruction, its line and its kernel."""

import pytest

from cuda_graphs.hostdriver.ptx.errors import (
    INVALID_IMAGE,
    INVALID_PTX,
    NO_BINARY_FOR_GPU,
    OUT_OF_MEMORY,
    UNSUPPORTED_PTX_VERSION,
    ImageError,
)
from tests.ptx.rig import HEADER, load

KERNEL = (
    HEADER
    + """.visible .entry victim(.param .u64 p) {{
 .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p; .reg .f32 %f<3>;
 {code}
 ret;
}}
"""
)


def refusal(image) -> ImageError:
    with pytest.raises(ImageError) as caught:
        load(image)
    return caught.value


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("frobnicate.u32 %r1, %r2;", "frobnicate.u32"),
        ("add.u32.strange %r1, %r2, %r3;", "strange"),
        ("add.b32 %r1, %r2, %r3;", "b32"),
        ("add.u32 %r1, %r2;", "operands"),
        ("shfl.up.b32 %r1, %r2, 1, 31;", "operands"),
        ("shfl.up.b32 %r1, %r2, 1, 31, -1;", ".sync"),
        ("shfl.sync.b32 %r1, %r2, 1, 31, -1;", "mode"),
        ("vote.sync.any.b32 %r1, %p, -1;", "type"),
        ("vote.any.pred %p, %p, -1;", ".sync"),
        ("redux.sync.add.b32 %r1, %r2, -1;", "type"),
        ("redux.sync.add.f32 %f1, %f2, -1;", "f32"),
        ("match.sync.b32 %r1, %r2, -1;", "mode"),
        ("match.any.sync.b32 %r1|%p, %r2, -1;", "one result"),
        ("bar.red.popc.pred %p, 0, %p;", "type"),
        ("bar.red.and.u32 %r1, 0, %p;", "type"),
        ("bar.red.popc.u32 %r1, %p;", "operand"),
        ("bar.sync.u32 0;", "type"),
        ("rcp.approx.f64 %rd1, %rd2;", "rcp.approx.ftz"),
        ("sqrt.approx.ftz.f64 %rd1, %rd2;", "rsqrt.approx"),
        ("div.full.f64 %rd1, %rd2, %rd2;", "quotient"),
        ("bar.sync 0, 33;", "multiple of 32"),
        ("bar.warp.sync -1, 2;", "operands"),
        ("bar.arrive 0;", "operands"),
        ("tex.2d.v4.f32.f32 {%f0, %f1, %f0, %f1}, [p, {%f0, %f1}];", "no textures"),
        ("tld4.r.2d.v4.f32.f32 {%f0, %f1, %f0, %f1}, [%rd1, {%f0, %f1}];", "no textures"),
        ("txq.width.b32 %r1, [%rd1];", "no textures"),
        ("suld.b.1d.b32.trap {%r1}, [%rd1, {%r2}];", "no textures and surfaces"),
        ("sust.b.2d.b32.trap [%rd1, {%r1, %r1}], {%r2};", "no textures and surfaces"),
        ("sured.b.add.1d.u32.clamp [%rd1, {%r1}], %r2;", "no textures and surfaces"),
        ("suq.width.b32 %r1, [%rd1];", "no textures and surfaces"),
        ("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%f0}, {%f0}, {%f0}, {%f0};", "tensor cores"),
        ("mov.u32 %r1, %envreg3;", "%envreg3"),
        ("mov.u32 %r1, nothing;", "nothing"),
        ("call calloc, ();", "calloc"),
        ("bra nowhere;", "nowhere"),
        ("add.u64 %rd1, %r1, %rd2;", "narrower"),
        ("ld.global.f32 %f1, %rd1;", "brackets"),
        ("cvt.f32.f64 %f1, 1;", "integer"),
        ("setp.lt.s32 %p, %r1;", "operands"),
        ("mul.rn.s32 %r1, %r2, %r3;", "rn"),
        ("@%r1 add.u32 %r1, %r2, %r3;", "predicate"),
        ("cvt.rna.tf32.f32 %r1, %f1;", "rna"),
        ("wgmma.fence.sync.aligned;", "wgmma"),
    ],
)
def test_an_unsupported_instruction_is_named_with_its_line_and_kernel(code, word):
    error = refusal(KERNEL.format(code=code))
    assert error.code == INVALID_PTX
    assert word in str(error)
    assert "line 6" in str(error)
    assert "`victim`" in str(error)
    if not code.startswith("@"):
        assert f"`{code.replace(';', ' ').split()[0]}`" in str(error)


@pytest.mark.parametrize(
    ("image", "code"),
    [
        (b"\x00\x01garbage", INVALID_IMAGE),
        (b"", INVALID_IMAGE),
        (b"hello world", INVALID_IMAGE),
        (b"\x7fELF" + bytes(60), NO_BINARY_FOR_GPU),
        (b"\x50\xed\x55\xba" + bytes(60), NO_BINARY_FOR_GPU),
        (b".version 12.0\n.target sm_90\n.address_size 64\n", UNSUPPORTED_PTX_VERSION),
        (b".version 9.0\n.target sm_90\n.address_size 32\n", INVALID_PTX),
        (b".version 9.0\n.target\n", INVALID_PTX),
        (b".version 9.0\n.target sm_90\n.visible .entry k() { add.u32 \xff }", INVALID_PTX),
        (b"// only a comment", INVALID_PTX),
        (b".version 9.0\n.target sm_90\n.visible .entry k() { ret;", INVALID_PTX),
        (b".version 9.0\n.target sm_90\n.visible .entry k() { ret; }}", INVALID_PTX),
        (b".version 9.0\n.target sm_90\n.global .u32 x = {1, 2};", INVALID_PTX),
        (b".version 9.0\n.target sm_90\n.global .u32 x[2] = {1, 2, 3};", INVALID_PTX),
        (b".version 9.0\n.target sm_90\n.global .texref t;", INVALID_PTX),
        (b".version 9.0\n.target sm_90\n.global .u64 x = nothing;", INVALID_PTX),
        (b".version 9.0\n.target sm_90\n.strange directive;", INVALID_PTX),
        (b".version 9.0\n.target sm_90\n.visible .entry k(.param .u32 a { ret; }", INVALID_PTX),
    ],
)
def test_an_image_that_is_none_gets_the_code_of_the_driver(image, code):
    assert refusal(image).code == code


@pytest.mark.parametrize("kind", ["texref", "samplerref", "surfref"])
def test_references_to_textures_are_refused_by_name(kind):
    error = refusal(f"{HEADER}.global .{kind} picture;\n")
    assert error.code == INVALID_PTX
    assert "no textures and surfaces" in str(error)
    assert f".{kind}" in str(error)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (".visible .entry k() { .shared .b8 s[49153]; st.shared.u8 [s], 1; ret; }", "static shared memory"),
        (".visible .entry k() { .local .b8 s[524289]; ret; }", "local memory"),
        (".visible .entry k(.param .b8 s[32765]) { ret; }", "parameters"),
        (".visible .entry k() .maxntid 2147483648 { ret; }", "limit"),
        (".global .align 12 .b8 g[4];", "alignment"),
        (".global .u32 g = 18446744073709551616;", "64 bits"),
    ],
)
def test_sizes_past_the_limits_of_ptxas_are_refused(text, what):
    error = refusal(HEADER + text)
    assert error.code == INVALID_PTX
    assert what in str(error)


def test_variables_for_which_there_is_no_room_are_out_of_memory():
    assert refusal(f"{HEADER}.global .b8 g[1073741825];").code == OUT_OF_MEMORY


def test_trailing_zeros_and_leading_space_do_not_matter():
    program = load(b"\n  " + KERNEL.format(code="").encode() + b"\0\0")
    assert list(program.kernels) == ["victim"]


def test_a_recursive_function_with_a_barrier_is_refused():
    text = (
        HEADER
        + """
.func turn() { bar.sync 0; call turn, (); ret; }
.visible .entry k() { call turn, (); ret; }
"""
    )
    assert "calls itself" in str(refusal(text))


def test_a_pointer_to_a_function_with_a_barrier_is_refused():
    text = (
        HEADER
        + """
.func wait() { bar.sync 0; ret; }
.visible .entry k(.param .u64 p) { .reg .b64 %rd; mov.u64 %rd, wait; ret; }
"""
    )
    assert "`wait`" in str(refusal(text))
