// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The driver under test, opened by path. Nothing here links against libcuda: every function of functions.def and of
// asked.def is asked of cuGetProcAddress_v2 at its explicit version, as cuda_graphs does, so that a wrong version shows
// up here too. A function that the driver lacks is no error at load; calling it throws Absent and the case answers
// "absent".
#ifndef CONFORMANCE_DRIVER_HPP
#define CONFORMANCE_DRIVER_HPP

#include <cuda.h>

#include <string>

namespace conf {

struct Absent {
    const char* name;
};

// One entry of the driver. Keeps the exact parameter types, so that literals convert at the call as in plain C.
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
#include "../../../cuda_graphs/_driver/functions.def"
#define CONF_ASKED(base, symbol, version) Entry<decltype(::base)> base;
#include "asked.def"

    // Opens the library at `path` and fills the table; on failure returns why, else "".
    std::string open(const char* path);
    void* symbol(const char* name) const;     // a symbol of the library itself (cghSetImageLoader), or NULL
    std::string name(CUresult result) const;  // "CUDA_ERROR_INVALID_VALUE"

  private:
    void* library_ = nullptr;
};

extern Driver drv;

}  // namespace conf

#endif
