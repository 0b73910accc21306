// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads native images (image_loader.h) on x86-64, without the image loader: no Python is needed for code that was
// compiled before. Images for other CPUs go to the image loader.
#ifndef CUDA_GRAPHS_HOSTDRIVER_LOADER_NATIVE_LOADER_HPP
#define CUDA_GRAPHS_HOSTDRIVER_LOADER_NATIVE_LOADER_HPP

#include "hostdriver/image_loader.h"

namespace cgh {

#ifdef __x86_64__
constexpr bool kLoadsNativeImages = true;
#else
constexpr bool kLoadsNativeImages = false;
#endif

// The loader of native images. Its `load` checks all of an image before it links the object.
cgh_loader native_loader() noexcept;

}  // namespace cgh

#endif
