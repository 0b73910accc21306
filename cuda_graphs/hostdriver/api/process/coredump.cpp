// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Settings of core dumps. They are stored and returned, because the host driver makes no core dumps. A new context
// starts with the global settings.
#include "hostdriver/objects/base/coredump.hpp"

#include <algorithm>
#include <cstring>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/devices/context.hpp"

using namespace cgh;

namespace {

// Returns the bytes of a setting; 0 if the setting does not exist, or not for contexts.
std::size_t size_of(CUcoredumpSettings which, bool global) {
    switch (which) {
        case CU_COREDUMP_ENABLE_ON_EXCEPTION:
        case CU_COREDUMP_TRIGGER_HOST:
        case CU_COREDUMP_LIGHTWEIGHT:
            return sizeof(bool);
        case CU_COREDUMP_ENABLE_USER_TRIGGER:
            return global ? sizeof(bool) : 0;
        case CU_COREDUMP_FILE:
            return CoredumpSettings::kText;
        case CU_COREDUMP_PIPE:
            return global ? CoredumpSettings::kText : 0;
        case CU_COREDUMP_GENERATION_FLAGS:
            return sizeof(unsigned);
        default:
            return 0;
    }
}

bool is_text(CUcoredumpSettings which) {
    return which == CU_COREDUMP_FILE || which == CU_COREDUMP_PIPE;
}

// cuda.h: "If the caller calls this function with *value equal to NULL, the size of the memory region (in bytes)
// expected for attrib will be placed in size."
CUresult check(CUcoredumpSettings which, bool global, const void* value, std::size_t* size, bool* only_size) {
    const std::size_t known = size_of(which, global);
    REQUIRE(known != 0 && size != nullptr, CUDA_ERROR_INVALID_VALUE);
    *only_size = value == nullptr;
    if (*only_size) *size = known;
    return CUDA_SUCCESS;
}

CUresult get(CoredumpSettings& settings, CUcoredumpSettings which, bool global, void* value, std::size_t* size) {
    bool only_size = false;
    TRY(check(which, global, value, size, &only_size));
    if (only_size) return CUDA_SUCCESS;
    const std::size_t known = size_of(which, global);
    REQUIRE(is_text(which) ? *size >= known : *size == known, CUDA_ERROR_INVALID_VALUE);
    settings.read(which, value, known);
    return CUDA_SUCCESS;
}

CUresult set(CoredumpSettings& settings, CUcoredumpSettings which, bool global, const void* value, std::size_t* size) {
    bool only_size = false;
    TRY(check(which, global, value, size, &only_size));
    if (only_size) return CUDA_SUCCESS;
    const std::size_t known = size_of(which, global);
    REQUIRE(is_text(which) ? *size <= known : *size == known, CUDA_ERROR_INVALID_VALUE);
    settings.write(which, value, is_text(which) ? strnlen(static_cast<const char*>(value), *size) : known);
    return CUDA_SUCCESS;
}

}  // namespace

CGH_API CUresult cuCoredumpGetAttribute(CUcoredumpSettings attrib, void* value, size_t* size) {
    return entry("cuCoredumpGetAttribute", [&]() -> CUresult {
        Context* context = nullptr;
        TRY(current_context(&context));
        return get(context->coredump(), attrib, false, value, size);
    });
}

CGH_API CUresult cuCoredumpSetAttribute(CUcoredumpSettings attrib, void* value, size_t* size) {
    return entry("cuCoredumpSetAttribute", [&]() -> CUresult {
        Context* context = nullptr;
        TRY(current_context(&context));
        return set(context->coredump(), attrib, false, value, size);
    });
}

CGH_API CUresult cuCoredumpGetAttributeGlobal(CUcoredumpSettings attrib, void* value, size_t* size) {
    return entry("cuCoredumpGetAttributeGlobal",
                 [&]() -> CUresult { return get(CoredumpSettings::global(), attrib, true, value, size); });
}

CGH_API CUresult cuCoredumpSetAttributeGlobal(CUcoredumpSettings attrib, void* value, size_t* size) {
    return entry("cuCoredumpSetAttributeGlobal",
                 [&]() -> CUresult { return set(CoredumpSettings::global(), attrib, true, value, size); });
}
