// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "findings.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>

#include "hostdriver/entry.hpp"
#include "hostdriver/loader/image.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "settings.hpp"

namespace cgh {
namespace {

constexpr std::size_t kMost = 20;  // findings that one call reports

struct PendingFindings {
    std::string text;
    std::size_t count = 0;
};

struct Address {
    std::string text;
    bool is_reported = false;
};

struct Findings {
    std::mutex mutex;  // guards the other members
    std::map<Context*, Address> invalid_addresses;
    std::map<Context*, PendingFindings> pending;
    std::set<std::string> known;
};

// Never destroyed: work may run until the process ends.
Findings& findings() {
    static auto* const found = new Findings;
    return *found;
}

thread_local std::string returned;  // text for the calling thread's last CUDA_ERROR_ILLEGAL_STATE

void tell_the_rest() {
    if (refusals_are_reported()) return;  // each text was printed when it was found
    Findings& all = findings();
    const std::lock_guard<std::mutex> lock(all.mutex);
    for (const auto& [context, address] : all.invalid_addresses)
        if (!address.is_reported) std::fprintf(stderr, "cuda_graphs host driver: %s\n", address.text.c_str());
    for (const auto& [context, pending] : all.pending)
        std::fprintf(stderr, "cuda_graphs host driver: %s\n", pending.text.c_str());
}

// Registers tell_the_rest() once. Called with the lock held, before the first finding of a process is stored.
void tell_at_exit() {
    static const bool once = [] { return std::atexit(tell_the_rest) == 0; }();
    static_cast<void>(once);
}

void show(const std::string& text) {
    if (refusals_are_reported()) std::fprintf(stderr, "cuda_graphs host driver: %s\n", text.c_str());
}

}  // namespace

void report_invalid_address(Context& context, const std::string& text) {
    Findings& all = findings();
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (!all.invalid_addresses.emplace(&context, Address{text}).second) return;  // the context has ended already
    tell_at_exit();
    show(text);
}

void report(Context& context, const std::string& what, const std::string& text) {
    Findings& all = findings();
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (!all.known.insert(what).second) return;
    tell_at_exit();
    PendingFindings& pending = all.pending[&context];
    if (++pending.count <= kMost) pending.text += (pending.text.empty() ? "" : "\n") + text;
    if (pending.count == kMost + 1) pending.text += "\nThere are more findings, which are not shown.";
    show(text);
}

CUresult outcome_of(Context& context) {
    if (!settings.any()) return context.status();
    Findings& all = findings();
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (context.status() != CUDA_SUCCESS) return context.status();
    const auto pending = all.pending.find(&context);
    if (pending == all.pending.end()) return CUDA_SUCCESS;
    returned = std::move(pending->second.text);
    all.pending.erase(pending);
    all.known.clear();  // later findings are reported again
    return CUDA_ERROR_ILLEGAL_STATE;
}

}  // namespace cgh

using namespace cgh;

CGH_API const char* cghFindings(CUresult status) {
    static thread_local std::string text;
    text.clear();
    if (status == CUDA_ERROR_ILLEGAL_STATE) text.swap(returned);
    if (status == CUDA_ERROR_ILLEGAL_ADDRESS || status == CUDA_ERROR_MISALIGNED_ADDRESS) {
        Context* context = nullptr;
        any_current_context(&context);
        const std::lock_guard<std::mutex> lock(findings().mutex);
        const auto found = findings().invalid_addresses.find(context);
        if (found == findings().invalid_addresses.end()) return "";
        text = found->second.text;
        found->second.is_reported = true;
    }
    return text.c_str();
}
