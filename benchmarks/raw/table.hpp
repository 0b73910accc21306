// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The driver that is timed: plain function pointers, so that what is measured is the driver's call and nothing else.
#ifndef BENCHMARKS_RAW_TABLE_HPP
#define BENCHMARKS_RAW_TABLE_HPP

#include <cuda.h>

namespace raw {

struct Table {
#define CG_REQUIRED(base, symbol, version) decltype(&::base) base = nullptr;
#define CG_OPTIONAL(base, symbol, version) decltype(&::base) base = nullptr;
#include "../../cuda_graphs/core/driver/functions.def"
};

extern Table drv;

// Opens the library, fills the table, and registers the native kernels where the library takes an image loader (the
// host driver). Ends the program with a message when that fails.
void open_driver(const char* path);

// Ends the program with the driver's name for the error.
void check(CUresult result, const char* what);

extern const char* const kPtx;  // the kernels as PTX text; kernels.cpp has their native twins
void plug_native_kernels(void* library);

}  // namespace raw

#endif
