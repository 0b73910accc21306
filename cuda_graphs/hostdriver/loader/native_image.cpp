// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The head of a native image.
#include "native_image.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "hostdriver/image_loader.h"

namespace cgh {
namespace {

struct Head {
    char magic[8];
    std::uint32_t version;
    std::uint32_t head_bytes;
    std::uint64_t bytes;
    std::uint32_t text_bytes;
    std::uint32_t head_hash;
    std::uint8_t hash[32];
};
static_assert(sizeof(Head) == 64 && offsetof(Head, head_hash) == 28);

constexpr char kMagic[] = CGH_NATIVE_MAGIC;
constexpr std::size_t kMagicBytes = sizeof kMagic - 1;
static_assert(kMagicBytes == sizeof(Head::magic));

std::uint32_t fnv1a(const void* data, std::size_t size) {
    std::uint32_t hash = 2166136261U;
    for (const auto* at = static_cast<const std::uint8_t*>(data); size != 0; ++at, --size)
        hash = (hash ^ *at) * 16777619U;
    return hash;
}

}  // namespace

bool is_native_image(const void* data, std::size_t size) {
    return (size == 0 || size >= kMagicBytes) && std::strncmp(static_cast<const char*>(data), kMagic, kMagicBytes) == 0;
}

CUresult measure_native_image(const void* data, std::size_t size, std::size_t* bytes, std::string* why) {
    const auto refused = [&](const char* reason) {
        *why = std::string("the native image ") + reason + "; compile it again";
        return CUDA_ERROR_INVALID_IMAGE;
    };
    if (size != 0 && size < sizeof(Head)) return refused("ends in its head");
    Head head;
    std::memcpy(&head, data, sizeof head);
    if (fnv1a(&head, offsetof(Head, head_hash)) != head.head_hash) return refused("has a damaged head");
    if (head.version != CGH_NATIVE_VERSION) {
        *why = "the native image has version " + std::to_string(head.version) + ", but this driver loads version " +
               std::to_string(CGH_NATIVE_VERSION) + "; compile it again";
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    if (head.head_bytes != sizeof(Head) || head.bytes < sizeof(Head) + head.text_bytes)
        return refused("has a damaged head");
    if (size != 0 && size != head.bytes) return refused("does not have the length that its head gives");
    *bytes = head.bytes;
    return CUDA_SUCCESS;
}

}  // namespace cgh
