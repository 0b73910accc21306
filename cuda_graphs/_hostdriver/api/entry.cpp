// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The gate's state, and the trace.
#include "entry.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>

#include "errors.hpp"

namespace cgh {

EntryState entry_state;

void trace_call(const char* name, CUresult result) {
    const char* text = error_name(result);
    std::fprintf(stderr, "cuda_graphs host driver [%ld] %s -> %s\n", syscall(SYS_gettid), name,
                 text != nullptr ? text : "?");
}

}  // namespace cgh
