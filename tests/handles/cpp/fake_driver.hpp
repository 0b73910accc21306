// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A fake driver for tests. It returns numbers as handles, records which handles are live, and fails on request.
#ifndef CUDA_GRAPHS_TESTS_HANDLES_FAKE_DRIVER_HPP
#define CUDA_GRAPHS_TESTS_HANDLES_FAKE_DRIVER_HPP

#include <cuda.h>

#include <string>
#include <vector>

namespace fake {

// Fills the table of cg::driver() with fakes, clears the log, and cancels requested failures.
void reset();

// Makes the next call of `function` return `status`.
void fail_next(const std::string& function, CUresult status);

// Returns the number of objects that were made and not destroyed.
int alive();

// Clears the live objects, for a test that leaks an object on purpose.
void forget_alive();

// Returns the number of calls of a function since reset().
int calls(const std::string& function);

// Returns how many options the last cuLibraryLoadData got.
unsigned options_of_last_load();

// Returns the destroyed objects in order, e.g. "stream 3".
std::vector<std::string> destroyed();

// Simulate the end and the start of Python (fake_python.cpp).
void close_python();
void open_python();
void set_queue_space(int calls);
int pending_calls();
void run_pending_calls();

}  // namespace fake

#endif
