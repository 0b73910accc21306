// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Core dump settings, global or of a context: the bytes of each CUcoredumpSettings value.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_BASE_COREDUMP_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_BASE_COREDUMP_HPP

#include <cuda.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <mutex>

namespace cgh {

class CoredumpSettings {
  public:
    static constexpr std::size_t kText = 1024;  // bytes of a name, including the NUL

    CoredumpSettings() { values_[CU_COREDUMP_TRIGGER_HOST][0] = 1; }  // all other settings are off, names are empty
    CoredumpSettings(const CoredumpSettings& other) {
        const std::lock_guard<std::mutex> lock(other.mutex_);
        values_ = other.values_;
    }
    CoredumpSettings& operator=(const CoredumpSettings&) = delete;
    static CoredumpSettings& global() {
        static auto* const settings = new CoredumpSettings;
        return *settings;
    }

    void read(CUcoredumpSettings which, void* value, std::size_t bytes) const {
        const std::lock_guard<std::mutex> lock(mutex_);
        std::memcpy(value, values_[which].data(), bytes);
    }
    void write(CUcoredumpSettings which, const void* value, std::size_t bytes) {
        const std::lock_guard<std::mutex> lock(mutex_);
        values_[which] = {};
        std::memcpy(values_[which].data(), value, bytes < kText ? bytes : kText - 1);
    }

  private:
    mutable std::mutex mutex_;  // guards values_
    std::array<std::array<char, kText>, CU_COREDUMP_GENERATION_FLAGS + 1> values_{};
};

}  // namespace cgh

#endif
