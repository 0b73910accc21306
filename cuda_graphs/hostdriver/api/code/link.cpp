// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The linker. Its inputs are PTX and containers of PTX. Its output is an image that the driver loads: the only input
// text, or all texts, each after a header line with its length. The image loader makes one module of them
// (hostdriver/ptx/units.py): here to check that it can, and again when the image is loaded.
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "hostdriver/entry.hpp"
#include "hostdriver/loader/library.hpp"
#include "hostdriver/objects/base/arena.hpp"

using namespace cgh;

namespace {

struct Input {
    std::string text;
    std::string name;  // for messages
};

// The state of one linker. cuda.h, cuLinkCreate: the buffers of the options "must remain valid for the life of the
// CUlinkState".
struct Link {
    std::vector<Input> inputs;
    std::string image;               // the linked image; empty before cuLinkComplete
    CUresult broken = CUDA_SUCCESS;  // error of an input that does not fit the earlier inputs
    std::vector<CUjit_option> options;
    void** values = nullptr;
    std::vector<void*> first_values;  // original option values; the driver overwrites the sizes of logs
};

void write_log(const Link& link, CUresult result) {
    std::vector<void*> values = link.first_values;
    const auto count = static_cast<unsigned>(values.size());
    write_jit_log(count, link.options.data(), values.data(), result);
    for (unsigned i = 0; i < count; ++i)
        if (link.options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES ||
            link.options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES)
            link.values[i] = values[i];
}

std::string hexadecimal(std::string_view bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (const char byte : bytes) {
        const auto code = static_cast<unsigned char>(byte);
        text += kDigits[code >> 4];
        text += kDigits[code & 15];
    }
    return text;
}

// Returns one image of several inputs. The loader reads the first line as described in hostdriver/ptx/units.py.
std::string together(std::string_view aim, const std::vector<Input>& inputs) {
    std::string text = "// linked by the host driver of cuda_graphs: ";
    text += aim;
    for (const Input& input : inputs) text += " " + std::to_string(input.text.size()) + ":" + hexadecimal(input.name);
    text += '\n';
    for (const Input& input : inputs) text += input.text;
    return text;
}

CUresult check(const std::string& text) {
    Ref<Image> image;
    return Image::load(text.data(), text.size(), &image);
}

CUresult add_input(Link& link, CUjitInputType type, const void* data, std::size_t size, const char* name) {
    REQUIRE(type < CU_JIT_NUM_INPUT_TYPES, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(type <= CU_JIT_INPUT_FATBINARY, CUDA_ERROR_NOT_SUPPORTED);
    std::string text;
    TRY(Image::find_text(data, size, &text));
    std::vector<Input> inputs = link.inputs;
    inputs.push_back({std::move(text), name != nullptr ? name : ""});
    const CUresult result = check(together("parts", inputs));
    if (result == CUDA_ERROR_INVALID_SOURCE) link.broken = result;
    TRY(result);
    link.inputs = std::move(inputs);
    return CUDA_SUCCESS;
}

// Completes the link. Inputs that are invalid by themselves are ignored, and an empty link is a valid image, as on an
// H200.
CUresult complete(Link& link) {
    TRY(link.broken);
    if (link.inputs.empty()) link.inputs.push_back({".version 8.0\n.target sm_90\n.address_size 64\n", ""});
    std::string image = together("whole", link.inputs);
    TRY(check(image));
    link.image = link.inputs.size() == 1 ? std::move(link.inputs.front().text) : std::move(image);
    return CUDA_SUCCESS;
}

}  // namespace

CGH_API CUresult cuLinkCreate_v2(unsigned int numOptions, CUjit_option* options, void** optionValues,
                                 CUlinkState* stateOut) {
    return entry("cuLinkCreate", [&]() -> CUresult {
        REQUIRE(stateOut != nullptr, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(numOptions == 0 || (options != nullptr && optionValues != nullptr), CUDA_ERROR_INVALID_VALUE);
        Link* link = arena<Link>.create();
        REQUIRE(link != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
        link->options.assign(options, options + numOptions);
        link->values = optionValues;
        link->first_values.assign(optionValues, optionValues + numOptions);
        *stateOut = reinterpret_cast<CUlinkState>(link);
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t size, const char* name,
                                  unsigned int numOptions, CUjit_option* options, void** optionValues) {
    return entry("cuLinkAddData", [&]() -> CUresult {
        auto* link = cast<Link>(state);
        REQUIRE(link != nullptr, CUDA_ERROR_INVALID_HANDLE);
        REQUIRE(data != nullptr && size != 0, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(link->image.empty(), CUDA_ERROR_INVALID_HANDLE);
        const CUresult result = add_input(*link, type, data, size, name);
        write_jit_log(numOptions, options, optionValues, result);
        write_log(*link, result);
        return result;
    });
}

CGH_API CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path, unsigned int numOptions,
                                  CUjit_option* options, void** optionValues) {
    return entry("cuLinkAddFile", [&]() -> CUresult {
        auto* link = cast<Link>(state);
        REQUIRE(link != nullptr, CUDA_ERROR_INVALID_HANDLE);
        REQUIRE(path != nullptr, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(link->image.empty(), CUDA_ERROR_INVALID_HANDLE);
        std::string bytes;
        TRY(read_file(path, &bytes));
        REQUIRE(!bytes.empty(), CUDA_ERROR_INVALID_IMAGE);
        const CUresult result = add_input(*link, type, bytes.data(), bytes.size(), path);
        write_jit_log(numOptions, options, optionValues, result);
        write_log(*link, result);
        return result;
    });
}

// cuda.h: the image "is owned by the link state and is freed" with it.
CGH_API CUresult cuLinkComplete(CUlinkState state, void** cubinOut, size_t* sizeOut) {
    return entry("cuLinkComplete", [&]() -> CUresult {
        auto* link = cast<Link>(state);
        REQUIRE(link != nullptr, CUDA_ERROR_INVALID_HANDLE);
        REQUIRE(cubinOut != nullptr, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(link->image.empty(), CUDA_ERROR_INVALID_HANDLE);  // the link can be completed only once
        const CUresult result = complete(*link);
        write_log(*link, result);
        TRY(result);
        *cubinOut = link->image.data();
        if (sizeOut != nullptr) *sizeOut = link->image.size() + 1;
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuLinkDestroy(CUlinkState state) {
    return entry("cuLinkDestroy", [&]() -> CUresult {
        auto* link = cast<Link>(state);
        REQUIRE(link != nullptr && arena<Link>.kill(link), CUDA_ERROR_INVALID_HANDLE);
        arena<Link>.recycle(link);
        return CUDA_SUCCESS;
    });
}
