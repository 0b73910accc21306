// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "deferred.hpp"

#include <atomic>
#include <memory>

#include "core/driver/table.hpp"
#include "gil.hpp"

namespace cg {

struct DeferredList {
    static void push(Deferred* payload) noexcept {
        payload->next_ = head.load(std::memory_order_relaxed);
        while (!head.compare_exchange_weak(payload->next_, payload, std::memory_order_release,
                                           std::memory_order_relaxed)) {
        }
    }

    static bool has_any() noexcept { return head.load(std::memory_order_relaxed) != nullptr; }

    static bool try_destroy(Deferred* payload) noexcept {
        if (!payload->finish()) return false;
        delete payload;
        return true;
    }

    // Tries to destroy each payload. A payload that cannot be destroyed now waits for the next drain, and schedules
    // none.
    static void try_all() noexcept {
        Deferred* next = head.exchange(nullptr, std::memory_order_acquire);
        while (next != nullptr) {
            Deferred* const payload = next;
            next = payload->next_;
            if (!try_destroy(payload)) push(payload);
        }
    }

    static std::atomic<Deferred*> head;
};

std::atomic<Deferred*> DeferredList::head{nullptr};

namespace {

std::atomic<bool> scheduled{false};   // a pending call is queued, so that many payloads share one
thread_local int host_functions = 0;  // number of host functions that the thread is inside

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
    // When the interpreter's queue is full, the payload waits for the next drain or the next schedule().
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

bool in_host_function() noexcept {
    return host_functions != 0;
}

void defer(Deferred* payload) noexcept {
    DeferredList::push(payload);
    schedule();
}

void destroy_or_defer(Deferred* payload) noexcept {
    if (is_forked_child()) return;  // in a forked child even a lock of this library may never be released
    if (host_functions == 0 && DeferredList::try_destroy(payload)) return;
    defer(payload);
}

void defer_owner(std::shared_ptr<const void> owner) {
    defer(new DeferredOwner(std::move(owner)));
}

void drain_deferred() noexcept {
    if (!DeferredList::has_any() || host_functions != 0 || !python_is_open()) return;
    DeferredList::try_all();
}

}  // namespace cg
