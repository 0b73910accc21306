// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels that are timed: PTX for a GPU, native C++ for the host driver.
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "../../cuda_graphs/hostdriver/image_loader.h"
#include "table.hpp"

namespace raw {

const char* const kPtx = R"ptx(
.version 8.0
.target sm_70
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);

// data[i] += 1 for i < count
.visible .entry add_one(.param .u64 data, .param .u32 count) {
    .reg .pred %q<2>; .reg .b32 %r<6>; .reg .f32 %f<3>; .reg .b64 %d<5>;
    ld.param.u64 %d1, [data]; ld.param.u32 %r1, [count]; cvta.to.global.u64 %d2, %d1;
    mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mad.lo.u32 %r5, %r3, %r4, %r2;
    setp.ge.u32 %q1, %r5, %r1; @%q1 bra done;
    mul.wide.u32 %d3, %r5, 4; add.u64 %d4, %d2, %d3;
    ld.global.f32 %f1, [%d4]; add.f32 %f2, %f1, 0f3F800000; st.global.f32 [%d4], %f2;
done:
    ret;
}

// *counter -= 1; condition = *counter > 0; the counter starts again at `start` when it reaches 0
.visible .entry count_down(.param .u64 counter, .param .u64 handle, .param .u32 start) {
    .reg .pred %q<2>; .reg .b32 %r<8>; .reg .b64 %d<4>;
    ld.param.u64 %d1, [counter]; ld.param.u64 %d2, [handle]; ld.param.u32 %r1, [start]; cvta.to.global.u64 %d3, %d1;
    ld.global.u32 %r2, [%d3]; sub.u32 %r3, %r2, 1; setp.ne.u32 %q1, %r3, 0;
    selp.u32 %r4, %r3, %r1, %q1; st.global.u32 [%d3], %r4; selp.u32 %r5, 1, 0, %q1;
    { .param .b64 a; .param .b32 b; st.param.b64 [a], %d2; st.param.b32 [b], %r5; call.uni cudaGraphSetConditional, (a, b); }
    ret;
}
)ptx";

namespace {
const cgh_services* services = nullptr;

// The parameter blocks, laid out as the kernels declare them.
struct AddOne {
    float* data;
    uint32_t count;
};
struct CountDown {
    uint32_t* counter;
    uint64_t handle;
    uint32_t start;
};

void add_one(const cgh_launch* launch, const void* params, void*, uint64_t first, uint64_t end) {
    const auto* p = static_cast<const AddOne*>(params);
    float* const data = p->data;
    const uint64_t stop = std::min<uint64_t>(end * launch->block[0], p->count);
    for (uint64_t i = first * launch->block[0]; i < stop; ++i) data[i] += 1.0f;
}

void count_down(const cgh_launch*, const void* params, void*, uint64_t, uint64_t) {
    const auto* p = static_cast<const CountDown*>(params);
    const uint32_t left = *p->counter - 1;
    *p->counter = left != 0 ? left : p->start;
    services->set_conditional(p->handle, left != 0 ? 1 : 0);
}

cgh_kernel describe(const char* name, cgh_entry entry, const cgh_param* params, uint32_t count, uint32_t bytes) {
    cgh_kernel kernel{};
    kernel.name = name;
    kernel.entry = entry;
    kernel.params = params;
    kernel.param_count = count;
    kernel.param_bytes = bytes;
    kernel.registers = 8;
    kernel.max_threads_per_block = 1024;
    kernel.ptx_version = kernel.binary_version = 90;
    return kernel;
}

CUresult load(void*, const void*, size_t, cgh_image* out, char*, size_t) {
    static const cgh_param add_params[] = {{0, 8}, {8, 4}};
    static const cgh_param count_params[] = {{0, 8}, {8, 8}, {16, 4}};
    static const cgh_kernel kernels[] = {describe("add_one", add_one, add_params, 2, 12),
                                         describe("count_down", count_down, count_params, 3, 20)};
    *out = {kernels, nullptr, 2, 0, nullptr};
    return CUDA_SUCCESS;
}

void unload(void*, cgh_image*) {}

const cgh_loader kLoader = {nullptr, load, unload};
}  // namespace

void plug_native_kernels(void* library) {
    const auto set = reinterpret_cast<decltype(&cghSetImageLoader)>(dlsym(library, "cghSetImageLoader"));
    const auto get = reinterpret_cast<decltype(&cghGetServices)>(dlsym(library, "cghGetServices"));
    if (set == nullptr || get == nullptr) return;
    services = get();
    check(set(&kLoader), "cghSetImageLoader");
}

}  // namespace raw
