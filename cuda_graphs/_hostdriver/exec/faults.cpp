// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The signal handlers for kernels that touch memory that is not there, or that is on the move.
#include "faults.hpp"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "../loader/services.hpp"
#include "page_move.hpp"
#include "thread_state.hpp"

namespace cgh {

std::atomic<bool> faults_are_caught{false};

namespace {

struct sigaction before_segv;
struct sigaction before_bus;

void pass_on(int signal, siginfo_t* info, void* machine) {
    const struct sigaction& before = signal == SIGSEGV ? before_segv : before_bus;
    if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, machine);
    if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
    // The default: the access happens again and ends the process.
    struct sigaction standard{};
    standard.sa_handler = SIG_DFL;
    sigaction(signal, &standard, nullptr);
}

// Leaving a handler by longjmp is sound here: the fault is synchronous, in generated code that owns nothing, and
// SA_NODEFER leaves the signal mask as it was.
void on_fault(int signal, siginfo_t* info, void* machine) {
    if (was_of_a_move(info->si_addr)) return;
    if (thread_state.fault != nullptr) raise_fault(CUDA_ERROR_ILLEGAL_ADDRESS);
    pass_on(signal, info, machine);
}

}  // namespace

void install_fault_handlers() {
    static std::once_flag once;
    std::call_once(once, [] {
        const char* wish = std::getenv("CUDA_GRAPHS_HOST_FAULTS");
        if (wish == nullptr || std::strcmp(wish, "0") != 0) {
            struct sigaction action{};
            action.sa_sigaction = on_fault;
            action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
            sigaction(SIGSEGV, &action, &before_segv);
            sigaction(SIGBUS, &action, &before_bus);
        }
        faults_are_caught.store(true, std::memory_order_release);
    });
}

}  // namespace cgh
