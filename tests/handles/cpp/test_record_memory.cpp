// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Law: A free block is given to the next request of its size, and to one request only. Threads share the memory.
#include <cstring>
#include <vector>

#include "check.hpp"
#include "core/graphs/record_memory.hpp"

using namespace cg;

namespace {

constexpr std::size_t kSize = 4321;  // no other test asks for it

}  // namespace

TEST(RecordMemory, AFreeBlockIsUsedAgain) {
    auto& memory = record_memory();
    void* const block = memory.allocate(kSize);
    memory.deallocate(block, kSize);
    void* const other = memory.allocate(kSize + 1);
    void* const again = memory.allocate(kSize);
    void* const next = memory.allocate(kSize);
    CHECK(other != block);
    CHECK(again == block);
    CHECK(next != block);
    for (void* each : {again, next}) memory.deallocate(each, kSize);
    memory.deallocate(other, kSize + 1);
}

TEST(RecordMemory, ABlockLargerThanAllFreeOnesTogetherIsNotKept) {
    auto& memory = record_memory();
    constexpr std::size_t kLarge = std::size_t{2} << 20;
    std::vector<void*> blocks;
    for (int i = 0; i < 4; ++i) blocks.push_back(memory.allocate(kSize));
    void* const large = memory.allocate(kLarge);
    std::memset(large, 1, kLarge);
    memory.deallocate(large, kLarge);
    for (void* each : blocks) memory.deallocate(each, kSize);
    for (std::size_t i = blocks.size(); i-- > 0;) CHECK(memory.allocate(kSize) == blocks[i]);
    for (void* each : blocks) memory.deallocate(each, kSize);
}

TEST(RecordMemory, ThreadsGetBlocksOfTheirOwn) {
    parallelize(4, [](int thread) {
        auto& memory = record_memory();
        for (int round = 0; round < 2000; ++round) {
            auto* const block = static_cast<unsigned char*>(memory.allocate(kSize));
            std::memset(block, thread, kSize);
            for (std::size_t i = 0; i < kSize; i += 97) CHECK(block[i] == thread);
            memory.deallocate(block, kSize);
        }
    });
}
