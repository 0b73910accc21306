// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Work for one of several devices. A driver call that names no stream of a device goes to the context that is current.
// A scope makes a context of the right device current for a while, and restores the previous one. The functions find
// the devices of contexts, streams and memory.
#ifndef CUDA_GRAPHS_CORE_RESOURCES_DEVICE_SCOPE_HPP
#define CUDA_GRAPHS_CORE_RESOURCES_DEVICE_SCOPE_HPP

#include "stream.hpp"

namespace cg {

// Stands for memory, streams and nodes that belong to no particular device.
constexpr CUdevice kNoDevice = -1;

class DeviceScope {
  public:
    DeviceScope() noexcept = default;
    ~DeviceScope() {
        if (pushed_) leave();
    }
    DeviceScope(const DeviceScope&) = delete;
    DeviceScope& operator=(const DeviceScope&) = delete;

    // Makes the primary context of the device current until the scope ends, unless a context of this device is current
    // already. Does nothing for kNoDevice, and on machines with one device. A second call ends the effect of the first.
    // Called without the GIL.
    CUresult enter(CUdevice device);

  private:
    void leave() noexcept;

    bool pushed_ = false;
};

// Returns the device whose context is current; kNoDevice without a current context, or when the query fails.
CUdevice current_device();

// Returns false if the driver reports that no context is current.
bool has_current_context() noexcept;

// Returns a context of the device: the current one if it is of the device, else the primary context. Returns null with
// a noted error on failure.
CUcontext context_on(CUdevice device);

// Returns the device of a context; kNoDevice for a null context, or when the query fails.
CUdevice device_of(CUcontext context);

// Returns the device of a stream; kNoDevice for the default streams, which use the current device.
CUdevice device_of(const StreamHandle& stream) noexcept;

// Sets `device` to the device of device memory or managed memory at an address, and to kNoDevice for other memory.
CUresult find_device(CUdeviceptr address, CUdevice* device);

}  // namespace cg

#endif
