// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "leak_report.hpp"

#include <atomic>

#include "box.hpp"
#include "gil.hpp"

namespace cg {

namespace {
std::atomic<LossReport> report_to{nullptr};
}

void report_losses_to(LossReport report) noexcept {
    report_to.store(report);
}

void tell_if_lost(CUresult status, const char* call) noexcept {
    if (status == CUDA_SUCCESS || is_over(status)) return;
    const GilAcquire python;
    const LossReport report = report_to.load();
    if (python && report != nullptr) report(status, call);
}

bool has_ended(CUresult status, const char* call) noexcept {
    if (is_refused_here(status)) return false;
    tell_if_lost(status, call);
    return true;
}

}  // namespace cg
