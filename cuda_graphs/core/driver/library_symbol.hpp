// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Symbols of a library that is not the loaded driver. The image loader of the host driver is set through them, before
// the driver is initialised, whichever code initialises it. Therefore they do not use the driver table.
#ifndef CUDA_GRAPHS_CORE_DRIVER_LIBRARY_SYMBOL_HPP
#define CUDA_GRAPHS_CORE_DRIVER_LIBRARY_SYMBOL_HPP

namespace cg {

// Returns the address of a symbol of the library at `path`, or nullptr. Opens the library for the rest of the
// process if it is not open yet, but calls no function of it.
void* library_symbol(const char* path, const char* name) noexcept;

}  // namespace cg

#endif
