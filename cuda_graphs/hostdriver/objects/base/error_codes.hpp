// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Names and texts of the driver's error codes.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_BASE_ERROR_CODES_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_BASE_ERROR_CODES_HPP

#include <cuda.h>

namespace cgh {

// Return nullptr for an unknown code.
const char* error_name(CUresult code);
const char* error_text(CUresult code);
// Writes the code of a name, "CUDA_ERROR_...". Returns false if no code has the name.
bool find_error(const char* name, CUresult* code);

}  // namespace cgh

#endif
