// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The head of a native image (image_loader.h). Callers of cuLibraryLoadData do not say how long an image is, so the
// image does, and the hash of the head vouches for that number before anything behind it is read.
#ifndef CUDA_GRAPHS_HOSTDRIVER_LOADER_NATIVE_IMAGE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_LOADER_NATIVE_IMAGE_HPP

#include <cuda.h>

#include <cstddef>
#include <string>

namespace cgh {

// Whether it begins as a native image does. Reads no further than the first byte that differs. `size` 0: not known.
bool is_native_image(const void* data, std::size_t size);

// How long the image is. `size` 0: not known. CUDA_ERROR_INVALID_IMAGE of a damaged or cut one,
// CUDA_ERROR_NO_BINARY_FOR_GPU of another version; `why` then says so.
CUresult measure_native_image(const void* data, std::size_t size, std::size_t* bytes, std::string* why);

}  // namespace cgh

#endif
