// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of the cases: one PTX text, and an equal native C++ function of each entry for the host driver. The host
// driver gets these through cghSetImageLoader, so this program needs neither Python nor llvmlite.
#ifndef CONFORMANCE_KERNELS_HPP
#define CONFORMANCE_KERNELS_HPP

#include <string>

namespace conf {

extern const char* const kPtx;

// Registers the native kernels if the open driver accepts an image loader (the host driver). Does nothing on libcuda.
void plug_native_kernels();

}  // namespace conf

#endif
