// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A driver of the tests: it hands out numbers as handles, knows which of them live, and fails where it is told to.
#ifndef CUDA_GRAPHS_TESTS_HANDLES_FAKE_DRIVER_HPP
#define CUDA_GRAPHS_TESTS_HANDLES_FAKE_DRIVER_HPP

#include <cuda.h>

#include <string>
#include <vector>

namespace fake {

// Fills the table of cg::driver() with fakes, forgets the log, and fails nothing.
void reset();

// The next call of that function returns `status`.
void fail_next(const std::string& function, CUresult status);

// Returns the number of objects that were made and not destroyed.
int alive();

// For a test that has something leaked on purpose.
void forget_alive();

// How often a function was called since reset, and with which last argument that names a thing.
int calls(const std::string& function);

// The order in which things were destroyed, e.g. "stream 3".
std::vector<std::string> destroyed();

// fake_python.cpp
void close_python();
void open_python();
void set_queue_space(int calls);
int pending_calls();
void run_pending_calls();

}  // namespace fake

#endif
