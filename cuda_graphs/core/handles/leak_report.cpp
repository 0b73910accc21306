// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "leak_report.hpp"

#include <atomic>

#include "box.hpp"
#include "gil.hpp"

namespace cg {

namespace {
std::atomic<LeakReport> report_to{nullptr};
}

void report_leaks_to(LeakReport report) noexcept {
    report_to.store(report);
}

void report_leak(CUresult status, const char* call) noexcept {
    if (status == CUDA_SUCCESS || is_shut_down(status)) return;
    const GilAcquire python;
    const LeakReport report = report_to.load();
    if (python && report != nullptr) report(status, call);
}

bool has_ended(CUresult status, const char* call) noexcept {
    if (is_refused_here(status)) return false;
    report_leak(status, call);
    return true;
}

}  // namespace cg
