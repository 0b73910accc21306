// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Detects the format of images, loads them through the image loader, and owns their kernels and variables.
#include "image.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <mutex>
#include <new>
#include <string>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/base/error_codes.hpp"
#include "hostdriver/objects/base/log.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/memory/memory.hpp"
#include "hostdriver/sanitizer/accesses.hpp"
#include "native_image.hpp"
#include "native_loader.hpp"

namespace cgh {
namespace {

std::mutex loader_mutex;  // guards `registered` and `has_loader`
cgh_loader registered{};
bool has_loader = false;

thread_local std::string last_log;

std::atomic<bool> reports_refusals{false};

// Advice that ends the message about an image without usable PTX.
constexpr const char* kHowToGetPtx =
    "; the host driver runs PTX. To get PTX, use nvcc -ptx; nvcc -gencode arch=compute_90,code=compute_90 for a "
    "fatbin; NVRTC with --gpu-architecture=compute_90 and nvrtcGetPTX; or, with cuda.core, Program.compile(\"ptx\")";

bool current_loader(cgh_loader* out) {
    std::lock_guard<std::mutex> lock(loader_mutex);
    *out = registered;
    return has_loader;
}

template <class T>
T read_at(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

// Returns whether the driver loads the image itself.
bool is_ours(const void* data, std::size_t size) {
    return kLoadsNativeImages && is_native_image(data, size);
}

constexpr std::uint32_t kElf = 0x464c457f;            // "\x7fELF"
constexpr std::uint32_t kFatbinWrapper = 0x466243b1;  // embedded by nvcc: magic, version, pointer to the fatbin
constexpr std::uint32_t kFatbin = 0xba55ed50;

// Finds the first uncompressed PTX entry of a fatbin, of which `known` bytes can be read. A fatbin has a header {magic
// u32, version u16, header size u16, payload size u64} and entries. Each entry has a header {kind u16 (1: PTX, 2: ELF),
// version u16, header size u32, payload size u64, ..., flags u64 at 40}. The flags 0x2000 and 0x8000 mark a compressed
// payload. nvcc's fatbinary writes this layout.
CUresult find_ptx(const std::byte* fatbin, std::uint64_t known, const char** text, std::size_t* size) {
    last_log = "the fatbin is damaged: its lengths are inconsistent";
    if (known < 16) return CUDA_ERROR_INVALID_IMAGE;
    std::uint64_t at = read_at<std::uint16_t>(fatbin + 6);
    const auto bytes = read_at<std::uint64_t>(fatbin + 8);
    if (at > known || bytes > known - at) return CUDA_ERROR_INVALID_IMAGE;
    const std::uint64_t end = at + bytes;
    bool compressed = false;
    while (end - at >= 48) {
        const std::byte* const entry = fatbin + at;
        const std::uint64_t header = read_at<std::uint32_t>(entry + 4);
        const auto payload = read_at<std::uint64_t>(entry + 8);
        const auto flags = read_at<std::uint64_t>(entry + 40);
        if (header < 48 || header > end - at || payload > end - at - header) return CUDA_ERROR_INVALID_IMAGE;
        const bool is_ptx = read_at<std::uint16_t>(entry) == 1;
        compressed |= is_ptx && (flags & 0xa000) != 0;
        if (is_ptx && (flags & 0xa000) == 0) {
            *text = reinterpret_cast<const char*>(entry + header);
            *size = strnlen(*text, payload);
            last_log.clear();
            return *size != 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
        }
        at += header + payload;
    }
    last_log = compressed ? "the PTX in the fatbin is compressed (compile with nvcc --no-compress)"
                          : "the fatbin contains GPU machine code (SASS) and no PTX";
    last_log += kHowToGetPtx;
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

// Writes the PTX text or native image that `data` holds.
CUresult recognise(const void* data, std::size_t size, const char** text, std::size_t* length) {
    if (is_native_image(data, size)) {
        *text = static_cast<const char*>(data);
        return measure_native_image(data, size, length, &last_log);
    }
    const auto* bytes = static_cast<const std::byte*>(data);
    // Without a size (cuLibraryLoadData) the data is a fatbin, an ELF file or text that ends with NUL, so these bytes
    // can be read.
    const std::size_t known = size != 0 ? size : strnlen(static_cast<const char*>(data), 4);
    if (known >= 4 || size == 0) {
        std::uint32_t magic = 0;
        std::memcpy(&magic, bytes, std::min<std::size_t>(4, size != 0 ? size : 4));
        if (magic == kElf) {
            last_log = std::string("the image is GPU machine code (a cubin with SASS)") + kHowToGetPtx;
            return CUDA_ERROR_NO_BINARY_FOR_GPU;
        }
        // Without a size, the lengths inside a fatbin cannot be checked.
        constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();
        if (magic == kFatbinWrapper && (size == 0 || size >= 16))
            return find_ptx(read_at<const std::byte*>(bytes + 8), kUnknown, text, length);
        if (magic == kFatbin) return find_ptx(bytes, size != 0 ? size : kUnknown, text, length);
    }
    *text = static_cast<const char*>(data);
    *length = size != 0 ? strnlen(*text, size) : std::strlen(*text);
    return *length != 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}

}  // namespace

CUresult Image::load(const void* data, std::size_t size, Ref<Image>* out) {
    const CUresult result = load_quietly(data, size, out);
    if (result == CUDA_SUCCESS) return result;
    Log::get().error(std::string("an image was rejected with ") + error_name(result) + ": " + last_log);
    if (refusals_are_reported())
        std::fprintf(stderr, "cuda_graphs host driver: an image was rejected with %s: %s\n", error_name(result),
                     last_log.c_str());
    return result;
}

CUresult Image::load_quietly(const void* data, std::size_t size, Ref<Image>* out) {
    last_log.clear();
    const char* text = nullptr;
    std::size_t length = 0;
    if (const CUresult error = recognise(data, size, &text, &length); error != CUDA_SUCCESS) return error;
    cgh_loader loader = native_loader();
    if (!is_ours(data, size) && !current_loader(&loader)) {
        last_log = "no image loader is registered (cghSetImageLoader)";
        return CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
    }
    cgh_image made{};
    char log[8192] = "";
    const CUresult error = loader.load(loader.self, text, length, &made, log, sizeof log);
    log[sizeof log - 1] = '\0';
    last_log = log;
    if (error != CUDA_SUCCESS) return error;
    auto image = Ref<Image>::adopt(new Image(made, loader, is_ours(data, size)));
    if (const CUresult full = image->adopt(); full != CUDA_SUCCESS) return full;
    *out = std::move(image);
    return CUDA_SUCCESS;
}

CUresult Image::find_text(const void* data, std::size_t size, std::string* out) {
    last_log.clear();
    const char* text = nullptr;
    std::size_t length = 0;
    TRY(recognise(data, size, &text, &length));
    if (is_native_image(data, size)) {
        last_log = "the linker does not accept native images";
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    out->assign(text, length);
    return CUDA_SUCCESS;
}

bool refusals_are_reported() {
    return reports_refusals.load(std::memory_order_relaxed);
}

CUresult read_file(const char* path, std::string* out) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
    out->assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    return file.bad() ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
}

CUresult Image::load_file(const char* path, Ref<Image>* out) {
    std::string bytes;
    TRY(read_file(path, &bytes));
    // The wrapper that nvcc embeds holds the address of the fatbin, which is meaningless in a file.
    const bool is_wrapper =
        bytes.size() >= 4 && read_at<std::uint32_t>(reinterpret_cast<const std::byte*>(bytes.data())) == kFatbinWrapper;
    if (bytes.empty() || is_wrapper) return CUDA_ERROR_INVALID_IMAGE;
    return load(bytes.data(), bytes.size(), out);
}

CUresult Image::adopt() {
    for (std::uint32_t i = 0; i < image_.kernel_count; ++i) {
        Kernel* kernel = arena<Kernel>.create(*this, image_.kernels[i]);
        if (kernel == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
        kernels_.push_back(kernel);
        if (!kernel->make_function()) return CUDA_ERROR_OUT_OF_MEMORY;
    }
    Context* context = nullptr;
    any_current_context(&context);  // cuLibraryLoadData needs no context; without one, the variables have none
    if (context != nullptr) context = &context->root();
    for (std::uint32_t i = 0; i < image_.global_count; ++i) {
        Allocation variable;
        variable.base = reinterpret_cast<CUdeviceptr>(image_.globals[i].address);
        variable.size = image_.globals[i].bytes;
        variable.kind = MemoryKind::kGlobal;
        variable.context = context;
        AddressMap::get().add(variable);
    }
    return CUDA_SUCCESS;
}

void Image::retire() {
    for (Kernel* kernel : kernels_) kernel->kill();
    for (std::uint32_t i = 0; i < image_.global_count; ++i)
        AddressMap::get().remove(reinterpret_cast<CUdeviceptr>(image_.globals[i].address));
}

Image::~Image() {
    retire();
    for (std::uint32_t i = 0; settings.any() && i < image_.global_count; ++i)
        untrack_range(reinterpret_cast<CUdeviceptr>(image_.globals[i].address), image_.globals[i].bytes);
    for (Kernel* kernel : kernels_) arena<Kernel>.recycle(kernel);
    // A loader that was removed (at the end of the process) must not be called any more.
    cgh_loader now;
    if (is_ours_ || (current_loader(&now) && now.unload == loader_.unload && now.self == loader_.self))
        loader_.unload(loader_.self, &image_);
}

void Image::limit_registers(std::uint32_t most) {
    for (Kernel* kernel : kernels_) kernel->limit_registers(most);
}

Kernel* Image::kernel(const char* name) const {
    for (Kernel* kernel : kernels_)
        if (std::strcmp(kernel->code().name, name) == 0) return kernel;
    return nullptr;
}

const cgh_global* Image::global(const char* name) const {
    const cgh_global* end = image_.globals + image_.global_count;
    const cgh_global* found = std::find_if(
        image_.globals, end, [&](const cgh_global& global) { return std::strcmp(global.name, name) == 0; });
    return found != end ? found : nullptr;
}

}  // namespace cgh

CGH_API CUresult cghSetImageLoader(const cgh_loader* loader) {
    if (loader != nullptr && (loader->load == nullptr || loader->unload == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard<std::mutex> lock(cgh::loader_mutex);
    cgh::has_loader = loader != nullptr;
    cgh::registered = loader != nullptr ? *loader : cgh_loader{};
    return CUDA_SUCCESS;
}

CGH_API const char* cghLastLoadLog(void) {
    return cgh::last_log.c_str();
}

CGH_API void cghReportRefusals(int on) {
    cgh::reports_refusals.store(on != 0, std::memory_order_relaxed);
}
