// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "library_symbol.hpp"

#include <dlfcn.h>

namespace cg {

void* library_symbol(const char* path, const char* name) noexcept {
    void* opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return opened == nullptr ? nullptr : dlsym(opened, name);
}

}  // namespace cg
