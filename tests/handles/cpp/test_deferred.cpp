// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Law: A deferred resource is destroyed once, by the first thread that drains, and never by the thread that defers it.
#include <atomic>
#include <thread>

#include "check.hpp"
#include "core/handles/deferred.hpp"
#include "fake_driver.hpp"

using namespace cg;

namespace {

std::atomic<int> gone{0};

class Payload final : public Deferred {
  public:
    ~Payload() override { ++gone; }
};

}  // namespace

TEST(Deferred, ManyPayloadsCostOnePendingCall) {
    gone = 0;
    for (int i = 0; i < 100; ++i) defer(new Payload);
    CHECK(gone == 0);
    CHECK(fake::pending_calls() == 1);
    fake::run_pending_calls();
    CHECK(gone == 100);
    defer(new Payload);
    CHECK(fake::pending_calls() == 1);
    fake::run_pending_calls();
    CHECK(gone == 101);
}

TEST(Deferred, AFullQueueOfTheInterpreterLosesNothing) {
    gone = 0;
    fake::set_queue_space(0);
    for (int i = 0; i < 100; ++i) defer(new Payload);
    CHECK(fake::pending_calls() == 0);
    fake::set_queue_space(32);
    defer(new Payload);
    CHECK(fake::pending_calls() == 1);
    fake::run_pending_calls();
    CHECK(gone == 101);
}

TEST(Deferred, StaysAfterTheInterpretersEnd) {
    gone = 0;
    defer(new Payload);
    fake::close_python();
    drain_deferred();
    fake::run_pending_calls();
    CHECK(gone == 0);
    fake::open_python();
    drain_deferred();
    CHECK(gone == 1);
}

TEST(Deferred, ManyThreadsDeferAndDrainAtOnce) {
    gone = 0;
    constexpr int kEach = 5000;
    parallelize(8, [](int i) {
        for (int round = 0; round < kEach; ++round) {
            defer(new Payload);
            if (i % 2 == 0) drain_deferred();
        }
    });
    drain_deferred();
    CHECK(gone == 8 * kEach);
    fake::run_pending_calls();
}

TEST(Deferred, ADestructorMayDeferAgain) {
    gone = 0;
    class Parent final : public Deferred {
      public:
        ~Parent() override { defer(new Payload); }
    };
    defer(new Parent);
    drain_deferred();
    drain_deferred();
    CHECK(gone == 1);
    fake::run_pending_calls();
}
