// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "device.hpp"

#include "core/driver/table.hpp"

namespace cgr {

int device_attribute(CUdevice_attribute attribute) {
    int value = 0;
    CUdevice device = 0;
    check(cg::driver().cuCtxGetDevice(&device), "find the current device");
    check(cg::driver().cuDeviceGetAttribute(&value, attribute, device), "ask for an attribute of the device");
    return value;
}

}  // namespace cgr
