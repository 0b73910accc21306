// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The driver table: one function pointer per line of functions.def, typed by <cuda.h>. All other code calls
// `cg::driver().cuGraphAddNode(...)` and does not depend on the driver.
//
// No field is ever null. Before a driver is loaded, each function returns CUDA_ERROR_NOT_INITIALIZED. A
// function that the loaded driver lacks returns CUDA_ERROR_NOT_SUPPORTED. In a child of fork() each function
// returns CUDA_ERROR_NOT_INITIALIZED again.
#ifndef CUDA_GRAPHS_CORE_DRIVER_TABLE_HPP
#define CUDA_GRAPHS_CORE_DRIVER_TABLE_HPP

#include <cuda.h>

#include <atomic>
#include <string>

namespace cg {

template <CUresult Status, class... Args>
CUresult CUDAAPI refuse(Args...) {
    return Status;
}

template <CUresult Status, class... Args>
constexpr auto refusal(CUresult(CUDAAPI*)(Args...)) -> CUresult(CUDAAPI*)(Args...) {
    return &refuse<Status, Args...>;
}

struct DriverTable {
// A cast of nullptr names the type without a reference to a symbol that is not linked.
#define CG_REQUIRED(name, symbol, version) \
    decltype(&::symbol) name = refusal<CUDA_ERROR_NOT_INITIALIZED>(static_cast<decltype(&::symbol)>(nullptr));
#define CG_OPTIONAL CG_REQUIRED
#include "functions.def"
};

namespace detail {
extern DriverTable table;
extern std::atomic<bool> is_usable;  // a driver is loaded, and this process is not a child of fork()
}  // namespace detail

inline const DriverTable& driver() noexcept {
    return detail::table;
}

// Opens the driver library at `path`, fills the table by cuGetProcAddress and calls cuInit. Returns "" or the
// cause of the failure; a failure leaves the table unchanged. Refuses to load a second driver into a process.
// Not thread safe: choice.py calls it once, under its lock.
std::string load_driver(const char* path);

// Returns the address of a symbol of the loaded driver library that is not in the table (the host driver's
// services), or nullptr.
void* driver_symbol(const char* name) noexcept;

// Returns false in a child of fork() too.
inline bool driver_is_loaded() noexcept {
    return detail::is_usable.load(std::memory_order_acquire);
}

// Returns true in a child of fork() whose parent had loaded the driver: CUDA cannot be used there, and the
// table refuses.
bool is_forked_child() noexcept;

}  // namespace cg

#endif
