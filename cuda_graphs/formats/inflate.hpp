// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Decompression of DEFLATE data (RFC 1951). zlib is not used, because a machine that builds this package has g++ and
// Python only, and one that runs a saved graph need not have either.
#ifndef CUDA_GRAPHS_FORMATS_INFLATE_HPP
#define CUDA_GRAPHS_FORMATS_INFLATE_HPP

#include <cstddef>
#include <string>
#include <string_view>

namespace cgf {

// Returns the `size` bytes that `data` stands for. Raises FormatError for damaged data and for another size; allocates
// no more than `size` bytes.
std::string inflate(std::string_view data, std::size_t size);

}  // namespace cgf

#endif
