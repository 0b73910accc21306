// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A small NVML (libnvidia-ml.so.1) for the devices of the host driver. It returns their number, names and memory, and
// versions. Every other function returns NVML_ERROR_NOT_SUPPORTED: there are no clocks, fans or links. The build needs
// no header of NVML; the types below are those of its binary interface.
#include <cuda.h>
#include <sys/sysinfo.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#define NVML_API extern "C" __attribute__((visibility("default")))

namespace {

enum Answer : int {
    kSuccess = 0,
    kUninitialized = 1,
    kInvalidArgument = 2,
    kNotSupported = 3,
    kNotFound = 6,
    kInsufficientSize = 7,
    kDriverNotLoaded = 9,
    kUnknown = 999,
};

struct Text {
    Answer answer;
    const char* text;
};
constexpr Text kTexts[] = {
    {kSuccess, "Success"},
    {kUninitialized, "Uninitialized"},
    {kInvalidArgument, "Invalid Argument"},
    {kNotSupported, "Not Supported"},
    {kNotFound, "Not Found"},
    {kInsufficientSize, "Insufficient Size"},
    {kDriverNotLoaded, "Driver Not Loaded"},
};

struct Memory {
    unsigned long long total, free, used;
};
struct MemoryV2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};

// The libcuda version that the host driver imitates (tests/conformance/driver/h200.json).
constexpr char kDriverVersion[] = "580.0.0";
constexpr char kNvmlVersion[] = "13.580.0";

std::atomic<int> initialised{0};  // calls of nvmlInit minus calls of nvmlShutdown

Answer write_text(const std::string& text, char* out, std::size_t size) {
    if (out == nullptr) return kInvalidArgument;
    if (text.size() >= size) return kInsufficientSize;
    std::memcpy(out, text.c_str(), text.size() + 1);
    return kSuccess;
}

// Finds the device of a handle, which is the number of the device plus one.
bool find(const void* handle, CUdevice* out) {
    int count = 0;
    *out = static_cast<CUdevice>(reinterpret_cast<std::intptr_t>(handle) - 1);
    return cuDeviceGetCount(&count) == CUDA_SUCCESS && *out >= 0 && *out < count;
}

void* handle_of(CUdevice device) {
    return reinterpret_cast<void*>(static_cast<std::intptr_t>(device) + 1);
}

// Returns a text such as "GPU-01234567-89ab-cdef-0123-456789abcdef".
std::string uuid_of(CUdevice device) {
    CUuuid uuid{};
    cuDeviceGetUuid(&uuid, device);
    std::string text = "GPU";
    for (int i = 0; i < 16; ++i) {
        char byte[4];
        std::snprintf(byte, sizeof byte, "%02x", static_cast<unsigned>(static_cast<unsigned char>(uuid.bytes[i])));
        text += (i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "") + std::string(byte);
    }
    return text;
}

Memory memory_of(CUdevice device) {
    std::size_t total = 0;
    cuDeviceTotalMem(&total, device);
    struct sysinfo info{};
    sysinfo(&info);
    const unsigned long long free = (info.freeram + info.bufferram) * info.mem_unit;
    return {total, free, total - free};
}

template <class Body>
int with_nvml(Body body) {
    return initialised.load(std::memory_order_acquire) > 0 ? body() : kUninitialized;
}

template <class Body>
int with_device(const void* handle, const void* out, Body body) {
    return with_nvml([&]() -> Answer {
        CUdevice device = 0;
        return out != nullptr && find(handle, &device) ? body(device) : kInvalidArgument;
    });
}

}  // namespace

// This symbol distinguishes the library from NVIDIA's library.
NVML_API int cghStandsIn() {
    return 1;
}

NVML_API int nvmlInitWithFlags(unsigned) {
    if (cuInit(0) != CUDA_SUCCESS) return kDriverNotLoaded;
    initialised.fetch_add(1, std::memory_order_acq_rel);
    return kSuccess;
}
NVML_API int nvmlInit_v2() {
    return nvmlInitWithFlags(0);
}
NVML_API int nvmlInit() {
    return nvmlInitWithFlags(0);
}
NVML_API int nvmlShutdown() {
    int count = initialised.load(std::memory_order_relaxed);
    while (count > 0)
        if (initialised.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel)) return kSuccess;
    return kUninitialized;
}

NVML_API const char* nvmlErrorString(int answer) {
    for (const Text& known : kTexts)
        if (known.answer == answer) return known.text;
    return "Unknown Error";
}

NVML_API int nvmlSystemGetDriverVersion(char* out, unsigned size) {
    return with_nvml([&] { return write_text(kDriverVersion, out, size); });
}
NVML_API int nvmlSystemGetNVMLVersion(char* out, unsigned size) {
    return with_nvml([&] { return write_text(kNvmlVersion, out, size); });
}
NVML_API int nvmlSystemGetCudaDriverVersion_v2(int* out) {
    if (out == nullptr) return kInvalidArgument;
    return cuDriverGetVersion(out) == CUDA_SUCCESS ? kSuccess : kUnknown;
}
NVML_API int nvmlSystemGetCudaDriverVersion(int* out) {
    return nvmlSystemGetCudaDriverVersion_v2(out);
}
NVML_API int nvmlSystemGetProcessName(unsigned process, char* out, unsigned size) {
    return with_nvml([&] {
        std::ifstream file("/proc/" + std::to_string(process) + "/comm");
        std::string name;
        return std::getline(file, name) ? write_text(name, out, size) : kNotFound;
    });
}

NVML_API int nvmlDeviceGetCount_v2(unsigned* out) {
    return with_nvml([&] {
        int count = 0;
        if (out == nullptr) return kInvalidArgument;
        if (cuDeviceGetCount(&count) != CUDA_SUCCESS) return kUnknown;
        *out = static_cast<unsigned>(count);
        return kSuccess;
    });
}
NVML_API int nvmlDeviceGetCount(unsigned* out) {
    return nvmlDeviceGetCount_v2(out);
}

NVML_API int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** out) {
    void* const handle = handle_of(static_cast<CUdevice>(index));
    return with_device(handle, out, [&](CUdevice) { return *out = handle, kSuccess; });
}
NVML_API int nvmlDeviceGetHandleByIndex(unsigned index, void** out) {
    return nvmlDeviceGetHandleByIndex_v2(index, out);
}
NVML_API int nvmlDeviceGetHandleByUUID(const char* uuid, void** out) {
    return with_nvml([&] {
        if (uuid == nullptr || out == nullptr) return kInvalidArgument;
        CUdevice device = 0;
        for (int i = 0; find(handle_of(i), &device); ++i)
            if (uuid_of(device) == uuid) return *out = handle_of(device), kSuccess;
        return kNotFound;
    });
}

NVML_API int nvmlDeviceGetIndex(const void* handle, unsigned* out) {
    return with_device(handle, out, [&](CUdevice device) { return *out = static_cast<unsigned>(device), kSuccess; });
}
NVML_API int nvmlDeviceGetName(const void* handle, char* out, unsigned size) {
    return with_device(handle, out, [&](CUdevice device) {
        char name[256] = "";
        cuDeviceGetName(name, sizeof name, device);
        return write_text(name, out, size);
    });
}
NVML_API int nvmlDeviceGetUUID(const void* handle, char* out, unsigned size) {
    return with_device(handle, out, [&](CUdevice device) { return write_text(uuid_of(device), out, size); });
}
NVML_API int nvmlDeviceGetMemoryInfo(const void* handle, Memory* out) {
    return with_device(handle, out, [&](CUdevice device) { return *out = memory_of(device), kSuccess; });
}
NVML_API int nvmlDeviceGetMemoryInfo_v2(const void* handle, MemoryV2* out) {
    return with_device(handle, out, [&](CUdevice device) {
        const Memory memory = memory_of(device);
        *out = {out->version, memory.total, 0, memory.free, memory.used};
        return kSuccess;
    });
}
NVML_API int nvmlDeviceGetCudaComputeCapability(const void* handle, int* major, int* minor) {
    return with_device(handle, major, [&](CUdevice device) {
        if (minor == nullptr) return kInvalidArgument;
        cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
        cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
        return kSuccess;
    });
}

#define NVML_REFUSED(name)                              \
    NVML_API int name() {                               \
        return with_nvml([] { return kNotSupported; }); \
    }
#include "refused.def"
