// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The PTX text. It is hand-written for .version 8.0, sm_70, so every CUDA 13 driver accepts it.
#include "kernels.hpp"

namespace conf {

const char* const kPtx = R"ptx(
.version 8.0
.target sm_70
.address_size 64

.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.extern .func __assertfail(.param .b64 message, .param .b64 file, .param .b32 line, .param .b64 function, .param .b64 size);
.visible .global .align 4 .u32 counter_global = 7;
.visible .const .align 8 .b8 table_const[16];
.global .align 1 .b8 text[2] = {118, 0};
.extern .shared .align 16 .b8 dynamic_shared[];

.visible .entry empty() { ret; }

// *p = v
.visible .entry set_int(.param .u64 p, .param .u32 v) {
    .reg .b32 %r<4>; .reg .b64 %d<4>;
    ld.param.u64 %d1, [p]; ld.param.u32 %r1, [v]; cvta.to.global.u64 %d2, %d1;
    st.global.u32 [%d2], %r1; ret;
}

// *p = *p * a + b: the order of several such kernels shows in the number
.visible .entry mul_add(.param .u64 p, .param .u32 a, .param .u32 b) {
    .reg .b32 %r<6>; .reg .b64 %d<4>;
    ld.param.u64 %d1, [p]; ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b]; cvta.to.global.u64 %d2, %d1;
    ld.global.u32 %r3, [%d2]; mad.lo.s32 %r4, %r3, %r1, %r2; st.global.u32 [%d2], %r4; ret;
}

// p[global index] = global index
.visible .entry iota(.param .u64 p) {
    .reg .b32 %r<6>; .reg .b64 %d<5>;
    ld.param.u64 %d1, [p]; cvta.to.global.u64 %d2, %d1;
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
    mul.wide.u32 %d3, %r4, 4; add.u64 %d4, %d2, %d3; st.global.u32 [%d4], %r4; ret;
}

.visible .entry set_condition(.param .u64 handle, .param .u32 value) {
    .reg .b32 %r<2>; .reg .b64 %d<2>;
    ld.param.u64 %d1, [handle]; ld.param.u32 %r1, [value];
    { .param .b64 a; .param .b32 b; st.param.b64 [a], %d1; st.param.b32 [b], %r1; call.uni cudaGraphSetConditional, (a, b); }
    ret;
}

// *p += 1; condition = *p < end
.visible .entry count_up(.param .u64 p, .param .u64 handle, .param .u32 end) {
    .reg .pred %q<2>; .reg .b32 %r<6>; .reg .b64 %d<4>;
    ld.param.u64 %d1, [p]; ld.param.u64 %d2, [handle]; ld.param.u32 %r1, [end]; cvta.to.global.u64 %d3, %d1;
    ld.global.u32 %r2, [%d3]; add.u32 %r3, %r2, 1; st.global.u32 [%d3], %r3;
    setp.lt.u32 %q1, %r3, %r1; selp.u32 %r4, 1, 0, %q1;
    { .param .b64 a; .param .b32 b; st.param.b64 [a], %d2; st.param.b32 [b], %r4; call.uni cudaGraphSetConditional, (a, b); }
    ret;
}

// condition = *p
.visible .entry condition_from(.param .u64 p, .param .u64 handle) {
    .reg .b32 %r<2>; .reg .b64 %d<4>;
    ld.param.u64 %d1, [p]; ld.param.u64 %d2, [handle]; cvta.to.global.u64 %d3, %d1; ld.global.u32 %r1, [%d3];
    { .param .b64 a; .param .b32 b; st.param.b64 [a], %d2; st.param.b32 [b], %r1; call.uni cudaGraphSetConditional, (a, b); }
    ret;
}

// waits until *flag != 0, for at most `ns`
.visible .entry wait_flag(.param .u64 flag, .param .u64 ns) {
    .reg .pred %q<4>; .reg .b32 %r<2>; .reg .b64 %d<8>;
    ld.param.u64 %d1, [flag]; ld.param.u64 %d2, [ns]; mov.u64 %d3, %globaltimer;
again:
    ld.volatile.u32 %r1, [%d1]; mov.u64 %d4, %globaltimer; sub.u64 %d5, %d4, %d3;
    setp.eq.u32 %q1, %r1, 0; setp.lt.u64 %q2, %d5, %d2; and.pred %q3, %q1, %q2; @%q3 bra again;
    ret;
}

.visible .entry trap_now() { trap; ret; }

.visible .entry assert_now() {
    .reg .b64 %d<3>;
    mov.u64 %d1, text; cvta.global.u64 %d2, %d1;
    { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
      st.param.b64 [a], %d2; st.param.b64 [b], %d2; st.param.b32 [c], 1; st.param.b64 [d], %d2; st.param.b64 [e], 1;
      call.uni __assertfail, (a, b, c, d, e); }
    ret;
}

// stores to whatever address it is given
.visible .entry store_at(.param .u64 address) {
    .reg .b32 %r<2>; .reg .b64 %d<2>;
    ld.param.u64 %d1, [address]; mov.u32 %r1, 1; st.u32 [%d1], %r1; ret;
}

// parameters of many sizes: u8, u16, u32, u64, a struct of 20 bytes aligned 4, f32, f64
.visible .entry many_params(.param .u8 a, .param .u16 b, .param .u32 c, .param .u64 d, .param .align 4 .b8 e[20],
                            .param .f32 f, .param .f64 g) { ret; }

// 1024 bytes of static shared memory besides dynamic shared memory, barrier
.visible .entry shared_user(.param .u64 p) {
    .shared .align 4 .b8 fixed[1024];
    .reg .b32 %r<6>; .reg .b64 %d<4>;
    ld.param.u64 %d1, [p]; cvta.to.global.u64 %d2, %d1; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2;
    mov.u32 %r3, fixed; add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r1; bar.sync 0;
    ld.shared.u32 %r5, [fixed]; st.global.u32 [%d2], %r5; ret;
}

.visible .entry at_most_64() .maxntid 64, 1, 1 { ret; }
.visible .entry exactly_32() .reqntid 32, 1, 1 { ret; }
)ptx";

}  // namespace conf
