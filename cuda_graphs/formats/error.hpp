// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The one exception of this folder: bytes are not what they should be. The text says why.
#ifndef CUDA_GRAPHS_FORMATS_ERROR_HPP
#define CUDA_GRAPHS_FORMATS_ERROR_HPP

#include <stdexcept>

namespace cgf {

struct FormatError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace cgf

#endif
