// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The signal handlers for work that accesses an invalid address, or a page that is being moved.
//
// Another handler of these signals (Python's faulthandler) may be installed later. The driver then installs its handler
// again on top, as another function. Each function stores the handler that it replaced. So the later handler can pass a
// signal to the earlier function, or restore it, without a cycle.
#include "faults.hpp"

#include <setjmp.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "hostdriver/loader/services.hpp"
#include "page_move.hpp"
#include "thread_state.hpp"

namespace cgh {

std::atomic<bool> faults_are_caught{false};

namespace {

using Handler = void (*)(int, siginfo_t*, void*);

constexpr std::size_t kHandlers = 16;

struct Chain {
    int signal;
    std::size_t used;
    struct sigaction before[kHandlers];  // the handler that each of our handlers replaced
};
Chain chains[] = {{SIGSEGV, 0, {}}, {SIGBUS, 0, {}}};

void pass_on(const struct sigaction& before, int signal, siginfo_t* info, void* machine) {
    if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, machine);
    if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
    // The default action: the access is repeated and ends the process.
    struct sigaction standard{};
    standard.sa_handler = SIG_DFL;
    sigaction(signal, &standard, nullptr);
}

// Leaving a handler by longjmp is sound here. The fault is synchronous, in generated code or a loop over bytes, and
// neither owns resources. SA_NODEFER leaves the signal mask as it was.
template <std::size_t kNumber>
void on_fault(int signal, siginfo_t* info, void* machine) {
    if (is_move_fault(info->si_addr)) return;
    if (thread_state.fault != nullptr) raise_fault(CUDA_ERROR_ILLEGAL_ADDRESS);
    pass_on(chains[signal == SIGSEGV ? 0 : 1].before[kNumber], signal, info, machine);
}

template <std::size_t... kNumbers>
constexpr std::array<Handler, kHandlers> all_handlers(std::index_sequence<kNumbers...> /*numbers*/) {
    return {on_fault<kNumbers>...};
}
constexpr auto kOurs = all_handlers(std::make_index_sequence<kHandlers>{});

bool is_ours(const struct sigaction& action) {
    return (action.sa_flags & SA_SIGINFO) != 0 &&
           std::find(kOurs.begin(), kOurs.end(), action.sa_sigaction) != kOurs.end();
}

// Returns the number of the handler to put on top of `top`: the number that was on top of it before, or a new one.
std::size_t number_above(Chain& chain, const struct sigaction& top) {
    for (std::size_t i = 0; i < chain.used; ++i)
        if (std::memcmp(&chain.before[i], &top, sizeof top) == 0) return i;
    const std::size_t number = std::min(chain.used, kHandlers - 1);
    chain.before[number] = top;  // must precede the installation of the handler
    chain.used = number + 1;
    return number;
}

void put_on_top(Chain& chain) {
    struct sigaction top;
    std::memset(&top, 0, sizeof top);  // compared as bytes
    sigaction(chain.signal, nullptr, &top);
    if (is_ours(top)) return;
    struct sigaction action{};
    action.sa_sigaction = kOurs[number_above(chain, top)];
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    sigaction(chain.signal, &action, nullptr);
}

bool signals_are_left_alone() {
    const char* wish = std::getenv("CUDA_GRAPHS_HOST_FAULTS");
    return wish != nullptr && std::strcmp(wish, "0") == 0;
}

}  // namespace

void put_fault_handlers_on_top() {
    static std::mutex installing;
    const std::lock_guard<std::mutex> lock(installing);
    static const bool left_alone = signals_are_left_alone();
    if (!left_alone)
        for (Chain& chain : chains) put_on_top(chain);
    faults_are_caught.store(true, std::memory_order_release);
}

// A fault returns here by longjmp, so no object in this function may need a destructor.
__attribute__((noinline)) CUresult run_guarded(void (*body)(const void*), const void* argument) {
    FaultFrame frame;
    FaultFrame* const outer = thread_state.fault;
    thread_state.fault = &frame;
    if (_setjmp(frame.target) == 0) body(argument);
    thread_state.fault = outer;
    return frame.code;
}

}  // namespace cgh
