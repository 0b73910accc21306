// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The native kernels that correspond to kernels_ptx.cpp, and an image loader that finds them by the `.entry` names of a
// text.
#include <cstdint>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "../../../cuda_graphs/hostdriver/image_loader.h"
#include "driver.hpp"
#include "kernels.hpp"

namespace conf {

namespace {
const cgh_services* services = nullptr;

// Reads a kernel's parameter block in order.
class Params {
  public:
    explicit Params(const void* block) : at_(static_cast<const char*>(block)) {}
    template <class T>
    T next() {
        offset_ = (offset_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
        T value;
        std::memcpy(&value, at_ + offset_, sizeof(T));
        offset_ += sizeof(T);
        return value;
    }

  private:
    const char* at_;
    size_t offset_ = 0;
};

uint64_t threads(const cgh_launch* launch) {
    return uint64_t{launch->block[0]} * launch->block[1] * launch->block[2];
}

void nothing(const cgh_launch*, const void*, void*, uint64_t, uint64_t) {}

void set_int(const cgh_launch*, const void* params, void*, uint64_t, uint64_t) {
    Params p(params);
    int* target = p.next<int*>();
    *target = p.next<int>();
}

void mul_add(const cgh_launch*, const void* params, void*, uint64_t, uint64_t) {
    Params p(params);
    int* target = p.next<int*>();
    const int factor = p.next<int>();
    *target = *target * factor + p.next<int>();
}

void iota(const cgh_launch* launch, const void* params, void*, uint64_t first, uint64_t end) {
    auto* target = Params(params).next<uint32_t*>();
    for (uint64_t i = first * threads(launch); i < end * threads(launch); ++i) target[i] = static_cast<uint32_t>(i);
}

void set_condition(const cgh_launch*, const void* params, void*, uint64_t, uint64_t) {
    Params p(params);
    const auto handle = p.next<uint64_t>();
    services->set_conditional(handle, p.next<uint32_t>());
}

void count_up(const cgh_launch*, const void* params, void*, uint64_t, uint64_t) {
    Params p(params);
    auto* counter = p.next<uint32_t*>();
    const auto handle = p.next<uint64_t>();
    *counter += 1;
    services->set_conditional(handle, *counter < p.next<uint32_t>() ? 1 : 0);
}

void condition_from(const cgh_launch*, const void* params, void*, uint64_t, uint64_t) {
    Params p(params);
    const auto* value = p.next<uint32_t*>();
    services->set_conditional(p.next<uint64_t>(), *value);
}

uint64_t nanoseconds() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

void wait_flag(const cgh_launch*, const void* params, void*, uint64_t, uint64_t) {
    Params p(params);
    const volatile int* flag = p.next<int*>();
    const auto limit = p.next<uint64_t>();
    for (const uint64_t start = nanoseconds(); *flag == 0 && nanoseconds() - start < limit;) {
    }
}

void trap_now(const cgh_launch*, const void*, void*, uint64_t, uint64_t) {
    services->trap();
}

void assert_now(const cgh_launch*, const void*, void*, uint64_t, uint64_t) {
    const uint32_t zero[3] = {0, 0, 0};
    services->assert_fail("v", "v", 1, "v", zero, zero);
}

void store_at(const cgh_launch*, const void* params, void*, uint64_t, uint64_t) {
    *reinterpret_cast<volatile uint32_t*>(Params(params).next<uint64_t>()) = 1;
}

void shared_user(const cgh_launch*, const void* params, void*, uint64_t, uint64_t) {
    *Params(params).next<uint32_t*>() = 0;
}

struct Native {
    const char* name;
    cgh_entry entry;
    std::vector<cgh_param> params;
    uint32_t param_bytes;
    uint32_t static_shared, max_threads, required_x, uses_barrier;
};

const std::vector<Native>& natives() {
    static const std::vector<Native> table = {
        {"empty", nothing, {}, 0, 0, 1024, 0, 0},
        {"set_int", set_int, {{0, 8}, {8, 4}}, 12, 0, 1024, 0, 0},
        {"mul_add", mul_add, {{0, 8}, {8, 4}, {12, 4}}, 16, 0, 1024, 0, 0},
        {"iota", iota, {{0, 8}}, 8, 0, 1024, 0, 0},
        {"set_condition", set_condition, {{0, 8}, {8, 4}}, 12, 0, 1024, 0, 0},
        {"count_up", count_up, {{0, 8}, {8, 8}, {16, 4}}, 20, 0, 1024, 0, 0},
        {"condition_from", condition_from, {{0, 8}, {8, 8}}, 16, 0, 1024, 0, 0},
        {"wait_flag", wait_flag, {{0, 8}, {8, 8}}, 16, 0, 1024, 0, 0},
        {"trap_now", trap_now, {}, 0, 0, 1024, 0, 0},
        {"assert_now", assert_now, {}, 0, 0, 1024, 0, 0},
        {"store_at", store_at, {{0, 8}}, 8, 0, 1024, 0, 0},
        {"many_params", nothing, {{0, 1}, {2, 2}, {4, 4}, {8, 8}, {16, 20}, {36, 4}, {40, 8}}, 48, 0, 1024, 0, 0},
        {"shared_user", shared_user, {{0, 8}}, 8, 1024, 1024, 0, 1},
        {"at_most_64", nothing, {}, 0, 0, 64, 0, 0},
        {"exactly_32", nothing, {}, 0, 0, 1024, 32, 0},
    };
    return table;
}

// A loaded image with its own copies of the module's variables.
struct Image {
    std::vector<cgh_kernel> kernels;
    std::vector<cgh_global> globals;
    int counter_global = 7;
    char table_const[16] = {};
};

CUresult load(void*, const void* data, size_t size, cgh_image* out, char* log, size_t log_size) {
    const std::string text(static_cast<const char*>(data), size);
    auto* image = new Image;
    for (const Native& native : natives()) {
        if (text.find(std::string(".entry ") + native.name + "(") == std::string::npos) continue;
        cgh_kernel kernel{};
        kernel.name = native.name;
        kernel.entry = native.entry;
        kernel.params = native.params.data();
        kernel.param_count = static_cast<uint32_t>(native.params.size());
        kernel.param_bytes = native.param_bytes;
        kernel.static_shared_bytes = native.static_shared;
        kernel.registers = 8;
        kernel.max_threads_per_block = native.max_threads;
        kernel.required_block[0] = native.required_x;
        kernel.required_block[1] = kernel.required_block[2] = native.required_x != 0 ? 1 : 0;
        kernel.uses_barrier = native.uses_barrier;
        kernel.const_bytes = 16;  // table_const
        kernel.ptx_version = 70;  // the version of .target
        kernel.binary_version = 90;
        image->kernels.push_back(kernel);
    }
    if (image->kernels.empty()) {
        delete image;
        if (log_size > 0) std::strncpy(log, "no kernel of the conformance cases in this text", log_size - 1);
        return CUDA_ERROR_INVALID_PTX;
    }
    image->globals = {{"counter_global", &image->counter_global, 4}, {"table_const", image->table_const, 16}};
    out->kernels = image->kernels.data();
    out->globals = image->globals.data();
    out->kernel_count = static_cast<uint32_t>(image->kernels.size());
    out->global_count = static_cast<uint32_t>(image->globals.size());
    out->owner = image;
    return CUDA_SUCCESS;
}

void unload(void*, cgh_image* image) {
    delete static_cast<Image*>(image->owner);
}

const cgh_loader kLoader = {nullptr, load, unload};
}  // namespace

void plug_native_kernels() {
    const auto set = reinterpret_cast<decltype(&cghSetImageLoader)>(drv.symbol("cghSetImageLoader"));
    const auto get = reinterpret_cast<decltype(&cghGetServices)>(drv.symbol("cghGetServices"));
    if (set == nullptr || get == nullptr) return;
    services = get();
    set(&kLoader);
}

}  // namespace conf
