// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of the cases: one PTX text, and a native C++ twin of each entry for the host driver, handed to it through
// cghSetImageLoader, so that this program needs neither Python nor llvmlite.
#ifndef CONFORMANCE_KERNELS_HPP
#define CONFORMANCE_KERNELS_HPP

#include <string>

namespace conf {

extern const char* const kPtx;

// Registers the native twins where the open driver takes an image loader (the host driver); no-op on libcuda.
void plug_native_kernels();

}  // namespace conf

#endif
