// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "deferred.hpp"

#include <atomic>
#include <memory>

#include "gil.hpp"

namespace cg {

namespace {

std::atomic<Deferred*> head{nullptr};
std::atomic<bool> scheduled{false};   // a pending call is on its way, so that many payloads cost one
thread_local int host_functions = 0;  // that the thread is inside of

class DeferredOwner final : public Deferred {
  public:
    explicit DeferredOwner(std::shared_ptr<const void> owner) noexcept : owner_(std::move(owner)) {}

  private:
    std::shared_ptr<const void> owner_;
};

void schedule() noexcept;

int drain_pending(void*) noexcept {
    scheduled.store(false);
    if (host_functions == 0)
        drain_deferred();
    else
        schedule();
    return 0;
}

void schedule() noexcept {
    // Where the interpreter's queue is full, the next payload or the next drain takes this one along.
    if (!scheduled.exchange(true) && !call_on_main_thread(drain_pending)) scheduled.store(false);
}

}  // namespace

void HostFunction::enter() noexcept {
    ++host_functions;
    python_.emplace();
}

void HostFunction::leave() noexcept {
    --host_functions;
}

void defer_again(Deferred* payload) noexcept {
    payload->next_ = head.load(std::memory_order_relaxed);
    while (!head.compare_exchange_weak(payload->next_, payload, std::memory_order_release, std::memory_order_relaxed)) {
    }
}

void defer(Deferred* payload) noexcept {
    defer_again(payload);
    schedule();
}

void defer_owner(std::shared_ptr<const void> owner) {
    defer(new DeferredOwner(std::move(owner)));
}

void drain_deferred() noexcept {
    if (head.load(std::memory_order_relaxed) == nullptr || host_functions != 0 || !python_is_open()) return;
    Deferred* next = head.exchange(nullptr, std::memory_order_acquire);
    while (next != nullptr) {
        const std::unique_ptr<Deferred> payload(next);
        next = payload->next_;
    }
}

}  // namespace cg
