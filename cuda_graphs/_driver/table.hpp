// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The driver table: one function pointer per line of functions.def, typed by <cuda.h>. Everything above calls
// `cg::driver().cuGraphAddNode(...)` and never knows which driver answers.
//
// No field is ever null. Before a driver is loaded each one returns CUDA_ERROR_NOT_INITIALIZED; a function that the
// loaded driver lacks returns CUDA_ERROR_NOT_SUPPORTED. In a child made by fork() each one returns NOT_INITIALIZED
// again.
#ifndef CUDA_GRAPHS_DRIVER_TABLE_HPP
#define CUDA_GRAPHS_DRIVER_TABLE_HPP

#include <cuda.h>

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
// A cast of nullptr names the type without taking the address of a symbol that nothing links.
#define CG_REQUIRED(name, symbol, version) \
    decltype(&::symbol) name = refusal<CUDA_ERROR_NOT_INITIALIZED>(static_cast<decltype(&::symbol)>(nullptr));
#define CG_OPTIONAL CG_REQUIRED
#include "functions.def"
};

namespace detail {
extern DriverTable table;
}

inline const DriverTable& driver() noexcept {
    return detail::table;
}

// Opens the driver library at `path`, fills the table by cuGetProcAddress and calls cuInit. Returns "" or what went
// wrong; after a failure the table is as it was. Loading a second driver into a process is refused. Not thread safe:
// the caller (choice.py, under its lock) calls it once.
std::string load_driver(const char* path);

// The address of a symbol of the loaded driver library that is not in the table (the host driver's plug), or nullptr.
void* driver_symbol(const char* name) noexcept;

bool driver_is_loaded() noexcept;

// True in a child that fork() made after the driver was loaded: CUDA cannot be used there, and the table refuses.
bool driver_is_lost() noexcept;

}  // namespace cg

#endif
