// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Events. The driver cannot report the flags of an event, so its box records them.
#ifndef CUDA_GRAPHS_CORE_RESOURCES_EVENT_HPP
#define CUDA_GRAPHS_CORE_RESOURCES_EVENT_HPP

#include <atomic>

#include "context.hpp"

namespace cg {

struct EventBox {
    CUevent raw = nullptr;
    bool owned = false;
    bool timing = false;                    // elapsed time can be measured
    bool blocking = false;                  // synchronising sleeps instead of spinning
    ContextHandle context;                  // empty for a borrowed event
    std::atomic<CUstream> stream{nullptr};  // stream of the last record by this library, for messages; may be gone
    Counted<Kind::kEvent> counted;
    bool finish() noexcept;
};

using EventHandle = HandleTo<EventBox>;

EventHandle create_event(const ContextHandle& context, bool timing, bool blocking);

// Returns the handle of a raw event: the existing handle if there is one, else a borrowed event of unknown flags.
EventHandle create_event_ref(CUevent raw);

inline void note_record(const EventHandle& event, CUstream stream) noexcept {
    box_of<EventBox>(event)->stream.store(stream, std::memory_order_relaxed);
}

}  // namespace cg

#endif
