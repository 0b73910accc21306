// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Law: One thread at a time holds the lock: while the first thread has it to itself, when another thread takes that
// away, and afterwards.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "check.hpp"
#include "core/driver/biased_lock.hpp"

using namespace cg;

namespace {

constexpr int kRounds = 20000;

// Counts without an atomic operation: counts are lost if two threads hold the lock.
struct Counter {
    BiasedLock lock;
    long count = 0;

    void add(int rounds) {
        for (int i = 0; i < rounds; ++i) {
            const BiasedLock::Hold hold(lock);
            ++count;
        }
    }
};

}  // namespace

TEST(BiasedLock, TheFirstThreadAloneCounts) {
    Counter counter;
    counter.add(kRounds);
    CHECK(counter.count == kRounds);
}

TEST(BiasedLock, OthersJoinTheFirstThreadAtAnyMoment) {
    constexpr int kLocks = 50;
    for (int i = 0; i < kLocks; ++i) {
        Counter counter;
        counter.add(1);
        std::thread other([&] { counter.add(kRounds / kLocks); });
        counter.add(kRounds / kLocks);
        other.join();
        CHECK(counter.count == 1 + 2 * (kRounds / kLocks));
    }
}

TEST(BiasedLock, ManyThreadsCountWhicheverIsFirst) {
    Counter counter;
    parallelize(4, [&](int) { counter.add(kRounds); });
    counter.add(kRounds);
    CHECK(counter.count == 5 * kRounds);
}

TEST(BiasedLock, AThreadWaitsForTheFirstOneInside) {
    BiasedLock lock;
    {
        const BiasedLock::Hold first(lock);
    }
    std::atomic<bool> has_come{false}, is_inside{false};
    std::thread other;
    {
        const BiasedLock::Hold hold(lock);
        other = std::thread([&] {
            has_come = true;
            const BiasedLock::Hold hold(lock);
            is_inside = true;
        });
        while (!has_come) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        CHECK(!is_inside);
    }
    other.join();
    CHECK(is_inside);
}
