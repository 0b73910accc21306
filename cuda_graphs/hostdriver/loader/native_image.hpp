// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The head of a native image (image_loader.h). Callers of cuLibraryLoadData do not pass the length of an image, so the
// head contains it. The hash of the head is checked before any byte behind the head is read.
#ifndef CUDA_GRAPHS_HOSTDRIVER_LOADER_NATIVE_IMAGE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_LOADER_NATIVE_IMAGE_HPP

#include <cuda.h>

#include <cstddef>
#include <string>

namespace cgh {

// Returns whether `data` begins with the magic of a native image. Stops reading at the first byte that differs. `size`
// is 0 if unknown.
bool is_native_image(const void* data, std::size_t size);

// Writes the length of the image to `bytes`. `size` is 0 if unknown. Returns CUDA_ERROR_INVALID_IMAGE for a damaged or
// truncated image, CUDA_ERROR_NO_BINARY_FOR_GPU for another version; `why` then holds the reason.
CUresult measure_native_image(const void* data, std::size_t size, std::size_t* bytes, std::string* why);

}  // namespace cgh

#endif
