// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "module.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "context.hpp"
#include "core/driver/driver_facts.hpp"
#include "core/driver/table.hpp"
#include "core/handles/deferred.hpp"
#include "core/handles/error.hpp"
#include "core/handles/gil.hpp"
#include "core/handles/leak_report.hpp"
#include "core/handles/registry.hpp"

namespace cg {

namespace {

constexpr std::size_t kLogBytes = 16 * 1024;

Registry<CUkernel>& kernels() {
    return registry_of_process<CUkernel>();
}

std::atomic<bool> may_print{false};

KernelHandle make_kernel(CUkernel raw, const LibraryHandle& library, const Opaque& owner) {
    if (!library) may_print = true;  // the code is not known
    auto box = std::make_shared<KernelBox>();
    box->raw = raw;
    box->library = library;
    box->owner = owner;
    return handle_of(std::move(box));
}

KernelHandle make_function(CUfunction raw, const Opaque& owner) {
    may_print = true;
    auto box = std::make_shared<KernelBox>();
    box->raw = reinterpret_cast<CUkernel>(raw);
    box->function = raw;
    box->owner = owner;
    return handle_of(std::move(box));
}

// Returns a copy of a name that is never freed, the same for equal names. Its address is even (StreamBox::last_launch):
// the text of a std::string is aligned, inside the object and outside.
const char* keep_name(const char* name) {
    static auto& names = *new std::set<std::string>;
    static auto& mutex = *new std::mutex;
    const std::lock_guard<std::mutex> lock(mutex);
    return names.emplace(name).first->c_str();
}

bool is_of(const std::vector<KernelType>& signature, const std::vector<Parameter>& parameters) {
    return std::equal(signature.begin(), signature.end(), parameters.begin(), parameters.end(),
                      [](const KernelType& type, const Parameter& parameter) {
                          return type.size == 0 || type.size == parameter.size;
                      });
}

// Gives each parameter its type, and the range of ints that it takes.
void add_types(const std::vector<KernelType>& signature, std::vector<Parameter>& parameters) {
    for (std::size_t index = 0; index < parameters.size(); ++index) {
        Parameter& parameter = parameters[index];
        if (!signature.empty()) parameter.type = signature[index];
        parameter.ints = ints_of(parameter.type.form, parameter.size);
    }
}

CUresult ask_parameters(KernelBox& box) {
    std::vector<Parameter> found;
    for (std::size_t index = 0;; ++index) {
        Parameter parameter{};
        const CUresult status =
            box.function != nullptr
                ? driver().cuFuncGetParamInfo(box.function, index, &parameter.offset, &parameter.size)
                : driver().cuKernelGetParamInfo(box.raw, index, &parameter.offset, &parameter.size);
        // "CUDA_ERROR_INVALID_VALUE if paramIndex is outside the range" marks the end of the list.
        if (status == CUDA_ERROR_INVALID_VALUE) break;
        if (status != CUDA_SUCCESS) return status;
        found.push_back(std::move(parameter));
    }
    if (!is_of(box.signature, found)) box.signature.clear();
    add_types(box.signature, found);
    box.parameters = std::move(found);
    box.known.store(true, std::memory_order_release);
    return CUDA_SUCCESS;
}

// Returns whether an image is PTX with several entries, which the driver can translate side by side. With one entry,
// threads would only cost time.
bool has_several_entries(const void* image) {
    constexpr std::string_view kEntry = ".entry";
    const auto* text = static_cast<const char*>(image);
    if (*text != '/' && *text != '.') return false;  // other formats may contain zeros
    const std::string_view ptx = text;
    const std::size_t first = ptx.find(kEntry);
    return first != std::string_view::npos && ptx.find(kEntry, first + 1) != std::string_view::npos;
}

}  // namespace

bool LibraryBox::finish() noexcept {
    if (raw == nullptr) return true;
    const GilRelease no_gil;
    const RelaxedCapture relaxed;
    return !must_retry(relaxed.status()) && has_ended(driver().cuLibraryUnload(raw), "cuLibraryUnload");
}

bool code_may_print() noexcept {
    return may_print.load(std::memory_order_relaxed);
}

LibraryHandle load_library(const void* image, bool prints) {
    drain_deferred();
    if (prints) may_print = true;
    auto box = make_box<LibraryBox>();
    const RelaxedCapture relaxed;
    CU_TRY(relaxed.status());
    CUjit_option threads = CU_JIT_SPLIT_COMPILE;
    void* as_many_as_cpus = nullptr;
    const unsigned options = can_translate_in_threads() && has_several_entries(image) ? 1 : 0;
    CU_TRY(driver().cuLibraryLoadData(&box->raw, image, &threads, &as_many_as_cpus, options, nullptr, nullptr, 0));
    return handle_of(std::move(box));
}

std::string load_log(const void* image) {
    std::string log(kLogBytes, '\0');
    std::array<CUjit_option, 2> options = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(std::uintptr_t{kLogBytes})};
    const RelaxedCapture relaxed;
    CUmodule module = nullptr;
    const CUresult status =
        driver().cuModuleLoadDataEx(&module, image, unsigned{options.size()}, options.data(), values.data());
    if (status == CUDA_SUCCESS) driver().cuModuleUnload(module);
    log.resize(log.find('\0') == std::string::npos ? kLogBytes : log.find('\0'));
    return log;
}

bool kernel_names(const LibraryHandle& library, std::vector<std::string>& names) {
    unsigned count = 0;
    CU_TRY(driver().cuLibraryGetKernelCount(&count, raw_of(library)));
    std::vector<CUkernel> all(count);
    if (count > 0) CU_TRY(driver().cuLibraryEnumerateKernels(all.data(), count, raw_of(library)));
    for (CUkernel kernel : all) {
        const char* name = nullptr;
        CU_TRY(driver().cuKernelGetName(&name, kernel));
        names.emplace_back(name);
    }
    std::sort(names.begin(), names.end());
    return true;
}

KernelBox::~KernelBox() {
    if (raw != nullptr) kernels().remove(raw);
}

KernelHandle get_kernel(const LibraryHandle& library, const char* name) {
    CUkernel raw = nullptr;
    CU_TRY(driver().cuLibraryGetKernel(&raw, raw_of(library), name));
    KernelHandle kernel = create_kernel_ref(raw, library);
    box_of<KernelBox>(kernel)->name.store(keep_name(name), std::memory_order_relaxed);
    return kernel;
}

void set_signature(const KernelHandle& kernel, std::vector<KernelType> signature) {
    KernelBox& box = *box_of<KernelBox>(kernel);
    const std::lock_guard<std::mutex> lock(box.asking);
    if (!box.known.load(std::memory_order_relaxed)) box.signature = std::move(signature);
}

std::vector<std::string> signature_texts(const KernelHandle& kernel) {
    std::vector<std::string> texts;
    if (is_forked_child()) return texts;  // see kernel_parameters
    KernelBox& box = *box_of<KernelBox>(kernel);
    const std::lock_guard<std::mutex> lock(box.asking);
    for (const KernelType& type : box.signature) texts.push_back(type.text);
    return texts;
}

KernelHandle create_kernel_ref(CUkernel raw, const LibraryHandle& library, const Opaque& owner) {
    KernelHandle known = kernels().get_or_create(raw, [&] { return make_kernel(raw, library, owner); });
    const KernelBox& box = *box_of<KernelBox>(known);
    if (box.library || box.owner || (!library && !owner)) return known;
    // The known box was borrowed without an owner. From now on the raw value maps to a box that has one.
    KernelHandle keeping = make_kernel(raw, library, owner);
    kernels().add(keeping);
    return keeping;
}

KernelHandle create_function_ref(CUfunction raw, const Opaque& owner) {
    const auto key = reinterpret_cast<CUkernel>(raw);
    KernelHandle known = kernels().get_or_create(key, [&] { return make_function(raw, owner); });
    if (!owner || box_of<KernelBox>(known)->owner) return known;
    KernelHandle keeping = make_function(raw, owner);
    kernels().add(keeping);
    return keeping;
}

KernelHandle kernel_of_node(CUfunction func, CUkernel kern) {
    if (kern == nullptr) return create_function_ref(func);
    const KernelHandle known = kernels().find(reinterpret_cast<CUkernel>(func));
    return known && box_of<KernelBox>(known)->function == func ? known : create_kernel_ref(kern, {});
}

CUfunction learn_function(const KernelHandle& kernel, const ContextHandle& context) {
    KernelBox& box = *box_of<KernelBox>(kernel);
    CUcontext current = nullptr;
    CUfunction function = nullptr;
    {
        const GilRelease released;
        CU_TRY(driver().cuCtxGetCurrent(&current));
        if (current != *context) return reinterpret_cast<CUfunction>(box.raw);
        CU_TRY(driver().cuKernelGetFunction(&function, box.raw));
    }
    const auto has_ended = [](const ContextFunction& known) { return known.context.expired(); };
    box.others.erase(std::remove_if(box.others.begin(), box.others.end(), has_ended), box.others.end());
    ContextFunction known{{current, function}, context};
    if (has_ended(box.likely))
        box.likely = std::move(known);
    else
        box.others.push_back(std::move(known));
    return function;
}

bool learn_function_here(const KernelHandle& kernel) {
    ContextHandle context;
    {
        const GilRelease released;
        CUcontext current = nullptr;
        CU_TRY(driver().cuCtxGetCurrent(&current));
        if (current == nullptr) return true;  // the driver refuses the node itself
        context = create_context_ref(current);
    }
    return context && learn_function(kernel, context) != nullptr;
}

std::string kernel_name(const KernelHandle& kernel) {
    if (!kernel) return "";
    const char* name = nullptr;
    const CUfunction function = box_of<KernelBox>(kernel)->function;
    const CUresult status =
        function != nullptr ? driver().cuFuncGetName(&name, function) : driver().cuKernelGetName(&name, raw_of(kernel));
    return status == CUDA_SUCCESS && name != nullptr ? name : "";
}

const std::vector<Parameter>* kernel_parameters(const KernelHandle& kernel) {
    KernelBox& box = *box_of<KernelBox>(kernel);
    // A forked child would wait for ever for a thread that held the lock.
    if (is_forked_child()) return note_error(CUDA_ERROR_NOT_INITIALIZED, "cuKernelGetParamInfo"), nullptr;
    if (box.known.load(std::memory_order_acquire)) return &box.parameters;
    const std::lock_guard<std::mutex> lock(box.asking);
    const CUresult status = box.known.load(std::memory_order_relaxed) ? CUDA_SUCCESS : ask_parameters(box);
    if (status == CUDA_SUCCESS) return &box.parameters;
    note_error(status, box.function != nullptr ? "cuFuncGetParamInfo" : "cuKernelGetParamInfo");
    return nullptr;
}

}  // namespace cg
