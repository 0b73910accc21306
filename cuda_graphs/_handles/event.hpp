// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Events. The driver cannot tell how an event was made, so its box remembers.
#ifndef CUDA_GRAPHS_HANDLES_EVENT_HPP
#define CUDA_GRAPHS_HANDLES_EVENT_HPP

#include "context.hpp"

namespace cg {

struct EventBox {
    CUevent raw = nullptr;
    bool owned = false;
    bool timing = false;    // elapsed time can be measured
    bool blocking = false;  // synchronising sleeps instead of spinning
    ContextHandle context;  // empty for an event of others
    Counted<Kind::kEvent> counted;
    bool finish() noexcept;
};

using EventHandle = HandleTo<EventBox>;

EventHandle create_event(const ContextHandle& context, bool timing, bool blocking);

// Ours, with what we know of it, if the raw value is one of ours; else borrowed, nothing known.
EventHandle create_event_ref(CUevent raw);

}  // namespace cg

#endif
