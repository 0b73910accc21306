// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Access to the host driver's plug for image loaders. It does not use the driver table, because the plug must
// work before the driver is initialised, whichever code initialises it.
#ifndef CUDA_GRAPHS_CORE_DRIVER_PLUG_HPP
#define CUDA_GRAPHS_CORE_DRIVER_PLUG_HPP

namespace cg {

// Returns the address of a symbol of the library at `path`, or nullptr. Opens the library for the rest of the
// process if it is not open yet, but calls no function of it.
void* library_symbol(const char* path, const char* name) noexcept;

}  // namespace cg

#endif
