// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The driver under test, opened by path. This program does not link against libcuda. It asks cuGetProcAddress_v2 for
// every function of functions.def and asked.def at its explicit version, as cuda_graphs does, so a wrong version fails
// here too. A missing function is no error at load. A call of it throws Absent, and the case records "absent".
#ifndef CONFORMANCE_DRIVER_HPP
#define CONFORMANCE_DRIVER_HPP

#include <cuda.h>

#include <string>

namespace conf {

struct Absent {
    const char* name;
};

// One entry of the driver. It keeps the exact parameter types, so literals convert at the call as in plain C.
template <class Function>
class Entry;

template <class... Parameters>
class Entry<CUresult(Parameters...)> {
  public:
    CUresult operator()(Parameters... arguments) const {
        if (function_ == nullptr) throw Absent{name_};
        return function_(arguments...);
    }
    explicit operator bool() const { return function_ != nullptr; }
    void bind(const char* name, void* function) {
        name_ = name;
        function_ = reinterpret_cast<CUresult (*)(Parameters...)>(function);
    }

  private:
    CUresult (*function_)(Parameters...) = nullptr;
    const char* name_ = "";
};

struct Driver {
#define CG_REQUIRED(base, symbol, version) Entry<decltype(::base)> base;
#define CG_OPTIONAL(base, symbol, version) Entry<decltype(::base)> base;
#include "../../../cuda_graphs/core/driver/functions.def"
#define CONF_ASKED(base, symbol, version) Entry<decltype(::base)> base;
#include "asked.def"

    // Opens the library at `path` and fills the table. Returns "" or the reason of the failure.
    std::string open(const char* path);
    void* symbol(const char* name) const;     // finds a symbol of the library itself (cghSetImageLoader), or NULL
    std::string name(CUresult result) const;  // returns for example "CUDA_ERROR_INVALID_VALUE"

  private:
    void* library_ = nullptr;
};

extern Driver drv;

}  // namespace conf

#endif
