// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "event.hpp"

#include "core/driver/table.hpp"
#include "core/handles/deferred.hpp"
#include "core/handles/error.hpp"
#include "core/handles/gil.hpp"
#include "core/handles/leak_report.hpp"
#include "core/handles/registry.hpp"

namespace cg {

namespace {

Registry<CUevent>& events() {
    return registry_of_process<CUevent>();
}

}  // namespace

bool EventBox::finish() noexcept {
    if (raw == nullptr) return true;
    events().remove(raw);
    if (!owned) return true;
    const GilRelease no_gil;
    const RelaxedCapture relaxed;
    return !must_retry(relaxed.status()) && has_ended(driver().cuEventDestroy(raw), "cuEventDestroy");
}

EventHandle create_event(const ContextHandle& context, bool timing, bool blocking) {
    drain_deferred();
    auto box = make_box<EventBox>();
    const ContextScope scope(context);
    CU_TRY(scope.status());
    const unsigned flags =
        (timing ? 0U : unsigned{CU_EVENT_DISABLE_TIMING}) | (blocking ? unsigned{CU_EVENT_BLOCKING_SYNC} : 0U);
    CU_TRY(driver().cuEventCreate(&box->raw, flags));
    box->owned = true;
    box->timing = timing;
    box->blocking = blocking;
    box->context = context;
    EventHandle handle = handle_of(std::move(box));
    events().add(handle);
    return handle;
}

EventHandle create_event_ref(CUevent raw) {
    return events().get_or_create(raw, [&] {
        auto box = make_box<EventBox>();
        box->raw = raw;
        return handle_of(std::move(box));
    });
}

}  // namespace cg
