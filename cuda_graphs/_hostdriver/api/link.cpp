// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The linker, for code that is complete as it is: what goes in as PTX comes out as an image that the driver loads,
// which is the same PTX. Several inputs, which would have to be made one, are refused.
#include <cstring>
#include <string>

#include "../loader/library.hpp"
#include "../objects/arena.hpp"
#include "entry.hpp"

using namespace cgh;

namespace {

struct Link {
    std::string text;  // PTX with its NUL, or empty
};

CUresult add_image(CUlinkState handle, CUjitInputType type, std::string text) {
    auto* link = cast<Link>(handle);
    REQUIRE(link != nullptr, CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(type < CU_JIT_NUM_INPUT_TYPES, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(type != CU_JIT_INPUT_CUBIN, CUDA_ERROR_NO_BINARY_FOR_GPU);
    REQUIRE(type == CU_JIT_INPUT_PTX && link->text.empty(), CUDA_ERROR_NOT_SUPPORTED);
    // Loaded for a look at it, so that wrong PTX is refused here.
    Ref<Image> image;
    TRY(Image::load(text.c_str(), text.size() + 1, &image));
    link->text = std::move(text);
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
        *stateOut = reinterpret_cast<CUlinkState>(link);
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t size, const char*,
                                  unsigned int numOptions, CUjit_option* options, void** optionValues) {
    return entry("cuLinkAddData", [&]() -> CUresult {
        REQUIRE(data != nullptr && size != 0, CUDA_ERROR_INVALID_VALUE);
        const auto* text = static_cast<const char*>(data);
        const CUresult result = add_image(state, type, std::string(text, strnlen(text, size)));
        write_jit_log(numOptions, options, optionValues, result);
        return result;
    });
}

CGH_API CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path, unsigned int numOptions,
                                  CUjit_option* options, void** optionValues) {
    return entry("cuLinkAddFile", [&]() -> CUresult {
        REQUIRE(path != nullptr, CUDA_ERROR_INVALID_VALUE);
        std::string text;
        TRY(read_file(path, &text));
        const CUresult result = add_image(state, type, text.c_str());  // up to its NUL
        write_jit_log(numOptions, options, optionValues, result);
        return result;
    });
}

// cuda.h: the image "is owned by the link state and is freed" with it.
CGH_API CUresult cuLinkComplete(CUlinkState state, void** cubinOut, size_t* sizeOut) {
    return entry("cuLinkComplete", [&]() -> CUresult {
        auto* link = cast<Link>(state);
        REQUIRE(link != nullptr, CUDA_ERROR_INVALID_HANDLE);
        REQUIRE(cubinOut != nullptr && !link->text.empty(), CUDA_ERROR_INVALID_VALUE);
        *cubinOut = link->text.data();
        if (sizeOut != nullptr) *sizeOut = link->text.size() + 1;
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
