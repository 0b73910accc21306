// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Names and texts of the driver's error codes.
#ifndef CUDA_GRAPHS_HOSTDRIVER_API_ERRORS_HPP
#define CUDA_GRAPHS_HOSTDRIVER_API_ERRORS_HPP

#include <cuda.h>

namespace cgh {

const char* error_name(CUresult code);  // nullptr for an unknown code
const char* error_text(CUresult code);
bool find_error(const char* name, CUresult* code);

}  // namespace cgh

#endif
