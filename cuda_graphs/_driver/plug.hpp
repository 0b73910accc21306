// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The way to the host driver's plug, which does not go through the table: the image loader is plugged before the driver
// is initialised, and by whom it will be initialised does not matter.
#ifndef CUDA_GRAPHS_DRIVER_PLUG_HPP
#define CUDA_GRAPHS_DRIVER_PLUG_HPP

namespace cg {

// The address of a symbol of the library at `path`, or nullptr. Opens the library where nobody has yet, for the rest of
// the process, but makes no call of it.
void* library_symbol(const char* path, const char* name) noexcept;

}  // namespace cg

#endif
