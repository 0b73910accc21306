// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string_view>
#include <tuple>

#include "core/driver/table.hpp"
#include "core/graphs/value_type.hpp"
#include "core/handles/error.hpp"
#include "device.hpp"
#include "half.hpp"

namespace cgr {

namespace {

struct CodeType {
    const char* name;
    bool is_text;  // the driver wants a NUL behind it
};

// Code types that each driver loads, the best first.
constexpr CodeType kHostTypes[] = {{"native", false}, {"ptx", true}};
constexpr CodeType kCudaTypes[] = {{"cubin", false}, {"fatbin", false}, {"ptx", true}};

constexpr std::int64_t kMostTypeBytes = 1 << 16;

cg::ValueForm form_of(const Json& name, const Where& where) {
    const auto* const last = std::end(kFormNames);
    const auto* const found = name.is_text() ? std::find(std::begin(kFormNames), last, name.text()) : last;
    if (found == last) fail(where, "has an unknown form");
    return static_cast<cg::ValueForm>(found - std::begin(kFormNames));
}

// Reads the types of the parameters of a kernel; none if the code tells them.
std::vector<cg::KernelType> read_types(const Row& row) {
    std::vector<cg::KernelType> found;
    if (row.get("types") == nullptr) return found;
    const Where where{"a type", Where::kNone, &row.where};
    for (const Json& data : row.items("types")) {
        const std::vector<Json>& fields = check_list(&data, where, 6);
        if (!fields[0].is_text() || fields[5].kind() != Json::Kind::kBool) fail(where, "has a wrong field");
        cg::KernelType type;
        type.text = fields[0].text();
        type.form = form_of(fields[1], where);
        type.size = static_cast<std::size_t>(check_int(&fields[2], where, 0, kMostTypeBytes));
        type.element = form_of(fields[3], where);
        type.element_size = static_cast<std::size_t>(check_int(&fields[4], where, 0, kMostTypeBytes));
        type.is_read_only = fields[5].flag();
        found.push_back(std::move(type));
    }
    return found;
}

// The code of all kernels. Kernels of one image share its library.
class Codes {
  public:
    Codes(const Archive& archive, Program& program)
        : archive_(archive), program_(program), is_on_host_(program.is_on_host()) {}

    LoadedKernel load(const Row& row) {
        LoadedKernel found;
        const bool has_types = row.get("types") != nullptr;
        std::vector<cg::KernelType> types = read_types(row);
        const Code* code = nullptr;
        found.kernel = load_handle(row, &code);
        found.has_types = has_types || !(code->type->is_text || !is_on_host_);
        program_.note_kernel(found.kernel, {images_.at(code->blob).code, code->blob, code->type->name,
                                            row.text("label"), row.text("name"), has_types ? &types : nullptr});
        if (!types.empty()) cg::set_signature(found.kernel, std::move(types));
        found.parameters = without_lock([&] { return cg::kernel_parameters(found.kernel); });
        if (found.parameters == nullptr) fail_noted("ask for the parameters of a kernel");
        if (row.get("task") != nullptr)
            found.task = std::make_shared<TaskSize>(Row(row.get("task"), {"the task", Where::kNone, &row.where}),
                                                    found.parameters->size(), is_on_host_);
        return found;
    }

  private:
    struct Code {
        std::size_t blob;
        const CodeType* type;
    };
    struct Image {
        std::string code;
        cg::LibraryHandle library;  // empty for one that the driver refuses
    };

    // Lists the code of a kernel that this driver may load, the best first.
    void list(const Row& row) {
        const Row codes(row.get("code"), {"the code", Where::kNone, &row.where});
        codes_.clear();
        const auto add = [&](const CodeType& type) {
            if (codes.get(type.name) == nullptr) return;
            if (std::string_view(type.name) == "cubin" && !is_for_this_gpu(row)) return;
            codes_.push_back({codes.index(type.name, archive_.table("blobs").size()), &type});
        };
        if (is_on_host_) {
            for (const CodeType& type : kHostTypes) add(type);
        } else {
            list_cubins(row);
            for (const CodeType& type : kCudaTypes) add(type);
        }
    }

    // A cubin runs on GPUs of its major version, from its minor version on. The nearest is the best.
    void list_cubins(const Row& row) {
        if (row.get("cubins") == nullptr) return;
        const Row cubins(row.get("cubins"), {"the cubins", Where::kNone, &row.where});
        const std::string major = std::to_string(device_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
        for (int minor = device_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR); minor >= 0; --minor) {
            const std::string name = major + std::to_string(minor);
            if (cubins.get(name.c_str()) != nullptr)
                codes_.push_back({cubins.index(name.c_str(), archive_.table("blobs").size()), kCudaTypes});
        }
    }

    static bool is_for_this_gpu(const Row& row) {
        const std::string here = std::to_string(device_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)) +
                                 std::to_string(device_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
        const Json* const wanted = row.get("architecture");
        return wanted != nullptr && wanted->is_text() && wanted->text() == here;
    }

    cg::KernelHandle load_handle(const Row& row, const Code** from) {
        const std::string& name = row.text("name");
        row.text("label");
        std::string refused;
        list(row);
        for (const Code& code : codes_) {  // code for another CPU or a later driver: the next may do
            *from = &code;
            const cg::LibraryHandle library = find_library(code, &refused);
            if (!library) continue;
            if (cg::KernelHandle kernel = without_lock([&] { return cg::get_kernel(library, name.c_str()); }))
                return kernel;
            note_refusal(&refused);
        }
        if (!refused.empty()) throw Failure(CG_ERROR_DAMAGED, "kernel '" + name + "' cannot be loaded: " + refused);
        const std::string* const missing = row.optional_text("missing");
        throw Failure(CG_ERROR_DAMAGED, "kernel '" + name + "' has no code for " +
                                            (is_on_host_ ? "the host driver" : "a GPU") +
                                            (missing == nullptr ? "" : ": " + *missing));
    }

    cg::LibraryHandle find_library(const Code& code, std::string* refused) {
        const auto known = images_.find(code.blob);
        if (known != images_.end()) return known->second.library;
        Image& image = images_[code.blob];
        image.code = archive_.blob(code.blob);  // its NUL ends a text
        if (code.type == kHostTypes && !is_whole_native(image.code)) {
            *refused = "its native code is no image, or is truncated";
            return {};
        }
        const bool prints = code.type->name[0] == 'f' || image.code.find("vprintf") != std::string::npos;
        image.library = without_lock([&] { return cg::load_library(image.code.c_str(), prints); });
        if (!image.library) note_refusal(refused);
        return image.library;
    }

    // The driver is not told the length of an image, and reads it from its header (hostdriver/image_loader.h).
    static bool is_whole_native(const std::string& code) {
        constexpr std::string_view kMagic =
            "\x7f"
            "CGHOBJ\n";
        constexpr std::size_t kLengthAt = 16;
        std::uint64_t length = 0;
        if (code.size() < kLengthAt + sizeof length || std::string_view(code).substr(0, kMagic.size()) != kMagic)
            return false;
        std::memcpy(&length, code.data() + kLengthAt, sizeof length);
        return length == code.size();
    }

    static void note_refusal(std::string* refused) {
        try {
            fail_noted("load its code");
        } catch (const Failure& failure) {
            *refused = failure.what() + log_of_driver();
        }
    }

    // The host driver says more than a status.
    static std::string log_of_driver() {
        const auto last = reinterpret_cast<const char* (*)()>(cg::driver_symbol("cghLastLoadLog"));
        const std::string log = last != nullptr ? last() : "";
        return log.empty() ? "" : " (" + log + ")";
    }

    const Archive& archive_;
    Program& program_;
    bool is_on_host_;
    std::vector<Code> codes_;  // of the kernel that is loaded now
    std::map<std::size_t, Image> images_;
};

bool is_float(cg::ValueForm form) noexcept {
    return form == cg::ValueForm::kFloat || form == cg::ValueForm::kBfloat;
}

[[noreturn]] void refuse_number(const Where& where) {
    fail(where, "is a number that the kernel does not take");
}

// Without types the width of a parameter decides: integers are whole numbers of JSON, and floats have a point.
bool is_typed(const LoadedKernel& kernel, const cg::Parameter& to) noexcept {
    return kernel.has_types || to.type.form != cg::ValueForm::kUnknown;
}

void append_float(cg::ArgumentPack& pack, const cg::Parameter& to, double value, bool typed, const Where& where) {
    if (typed && !is_float(to.type.form)) refuse_number(where);
    const bool is_brain = to.type.form == cg::ValueForm::kBfloat;
    std::uint64_t bits = 0;
    if (!encode_float(value, to.size, is_brain, &bits)) refuse_number(where);
    pack.append_copy(&bits, sizeof bits);
}

void append_int(cg::ArgumentPack& pack, const cg::Parameter& to, const Json& value, bool typed, const Where& where) {
    const std::uint64_t bits = value.large();
    const bool is_negative = value.kind() == Json::Kind::kInt && value.integer() < 0;
    const cg::IntRange range = typed ? to.ints : cg::ints_of(cg::ValueForm::kInteger, to.size);
    if (is_negative ? value.integer() >= range.low : bits <= range.high && range.high != 0)
        return static_cast<void>(pack.append_copy(&bits, sizeof bits));
    if (!is_float(to.type.form)) refuse_number(where);
    const double number = is_negative ? static_cast<double>(value.integer()) : static_cast<double>(bits);
    append_float(pack, to, number, typed, where);
}

}  // namespace

std::vector<LoadedKernel> load_kernels(const Archive& archive, Program& program) {
    const std::vector<Json>& table = archive.table("kernels");
    Codes codes(archive, program);
    std::vector<LoadedKernel> found;
    for (std::size_t number = 0; number < table.size(); ++number)
        found.push_back(codes.load({&table[number], {"kernel", number}}));
    return found;
}

void append_number(cg::ArgumentPack& pack, const LoadedKernel& kernel, const cg::Parameter& to, const Json& value,
                   const Where& where) {
    const bool typed = is_typed(kernel, to);
    if (value.kind() == Json::Kind::kFloat) return append_float(pack, to, value.number(), typed, where);
    if (value.kind() != Json::Kind::kInt && value.kind() != Json::Kind::kLarge) refuse_number(where);
    append_int(pack, to, value, typed, where);
}

}  // namespace cgr
