// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "stream.hpp"

#include "core/driver/table.hpp"
#include "core/handles/deferred.hpp"
#include "core/handles/error.hpp"
#include "core/handles/gil.hpp"
#include "core/handles/leak_report.hpp"
#include "core/handles/registry.hpp"

namespace cg {

std::atomic<int> active_captures{0};

namespace {

Registry<CUstream>& streams() {
    return registry_of_process<CUstream>();
}

bool is_default_stream(CUstream raw) {
    return raw == nullptr || raw == CU_STREAM_LEGACY || raw == CU_STREAM_PER_THREAD;
}

ContextHandle ask_context(CUstream raw) {
    CUcontext context = nullptr;
    if (is_default_stream(raw)) return {};
    CU_TRY(driver().cuStreamGetCtx(raw, &context));
    return create_context_ref(context);
}

}  // namespace

bool StreamBox::finish() noexcept {
    if (raw == nullptr || owner) return true;
    streams().remove(raw);
    if (!owned) return true;
    const GilRelease no_gil;
    return has_ended(driver().cuStreamDestroy(raw), "cuStreamDestroy");
}

StreamHandle create_stream(const ContextHandle& context, unsigned flags, int priority) {
    drain_deferred();
    auto box = make_box<StreamBox>();
    const ContextScope scope(context);
    CU_TRY(scope.status());
    CU_TRY(driver().cuStreamCreateWithPriority(&box->raw, flags, priority));
    box->owned = true;
    box->context = context;
    StreamHandle handle = handle_of(std::move(box));
    streams().add(handle);
    return handle;
}

StreamHandle create_stream_ref(CUstream raw) {
    if (StreamHandle known = streams().find(raw)) return known;
    ContextHandle context = ask_context(raw);
    if (!context && !is_default_stream(raw)) return {};
    return streams().get_or_create(raw, [&] {
        auto box = make_box<StreamBox>();
        box->raw = raw;
        box->context = std::move(context);
        return handle_of(std::move(box));
    });
}

StreamHandle create_stream_with_owner(CUstream raw, Opaque owner) {
    ContextHandle context = ask_context(raw);
    if (!context && !is_default_stream(raw)) return {};
    auto box = make_box<StreamBox>();
    box->raw = raw;
    box->context = std::move(context);
    box->owner = std::move(owner);
    return handle_of(std::move(box));
}

}  // namespace cg
