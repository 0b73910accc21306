// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "page_move.hpp"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "faults.hpp"
#include "hostdriver/entry.hpp"
#include "hostdriver/objects/memory/shared_file.hpp"
#include "thread_state.hpp"

namespace cgh {
namespace {

constexpr std::size_t kPiece = std::size_t{64} << 10;

std::mutex moving;  // held during a move
std::atomic<std::uintptr_t> moving_start{0};
std::atomic<std::size_t> moving_bytes{0};  // 0 while no move runs
std::atomic<std::uint64_t> moves{0};       // completed moves

bool is_zero(const std::byte* bytes, std::size_t count) {
    return bytes[0] == std::byte{0} && std::memcmp(bytes, bytes + 1, count - 1) == 0;
}

// Copies the pages to the file. Pieces of zeros are skipped, so that unwritten memory takes no space in the file.
bool copy(std::uintptr_t start, std::size_t bytes, const SharedFile& file, std::size_t offset) {
    for (std::size_t done = 0; done < bytes; done += kPiece) {
        const auto* const from = reinterpret_cast<const std::byte*>(start + done);
        const std::size_t count = std::min(kPiece, bytes - done);
        if (!is_zero(from, count) && !file.write(offset + done, from, count)) return false;
    }
    return true;
}

}  // namespace

CUresult move_pages(std::uintptr_t start, std::size_t bytes, const SharedFile& file, std::size_t offset) {
    put_fault_handlers_on_top();
    const std::lock_guard<std::mutex> lock(moving);
    void* const pages = reinterpret_cast<void*>(start);
    moving_start.store(start, std::memory_order_relaxed);
    moving_bytes.store(bytes, std::memory_order_seq_cst);
    const bool is_still = mprotect(pages, bytes, PROT_READ) == 0;
    const bool is_moved = is_still && copy(start, bytes, file, offset) && file.map(offset, bytes, pages) != nullptr;
    if (is_still && !is_moved) mprotect(pages, bytes, PROT_READ | PROT_WRITE);
    moves.fetch_add(1, std::memory_order_seq_cst);
    moving_bytes.store(0, std::memory_order_seq_cst);
    return is_moved ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

// A fault may be delivered after the move is over. Each move therefore gives each thread one retry at any address.
bool is_move_fault(const void* address) {
    while (reinterpret_cast<std::uintptr_t>(address) - moving_start.load(std::memory_order_relaxed) <
           moving_bytes.load(std::memory_order_seq_cst))
        sched_yield();
    const std::uint64_t over = moves.load(std::memory_order_seq_cst);
    if (thread_state.moves_seen == over) return false;
    thread_state.moves_seen = over;
    return true;
}

}  // namespace cgh
