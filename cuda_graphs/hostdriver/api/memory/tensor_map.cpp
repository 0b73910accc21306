// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor maps. A tensor map describes a tensor whose boxes a kernel copies. Maps are encoded and checked as cuda.h
// says. Code with instructions that use a tensor map is refused when it is loaded.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "hostdriver/entry.hpp"

using namespace cgh;

namespace {

struct ElementType {
    std::uint32_t bits;
    bool is_float;
    bool is_packed;  // packed into chunks of 16 bytes
};

// Indexed by CUtensorMapDataType.
constexpr ElementType kElements[] = {
    {8, false, false},  {16, false, false}, {32, false, false}, {32, false, false},
    {64, false, false}, {64, false, false}, {16, true, false},  {32, true, false},
    {64, true, false},  {16, true, false},  {32, true, false},  {32, true, false},
    {32, true, false},  {4, false, false},  {4, false, true},   {6, false, true},
};

constexpr cuuint32_t kMaxRank = 5;

// The contents of a map's opaque words.
struct Tensor {
    void* address;
    CUtensorMapDataType type;
    cuuint32_t rank;
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion promotion;
    CUtensorMapFloatOOBfill fill;
    std::uint16_t box[kMaxRank];
    std::uint8_t steps[kMaxRank];
    std::uint8_t is_columns;
    std::uint32_t last[kMaxRank];  // of each dimension
    cuuint64_t strides[kMaxRank - 1];
};
static_assert(sizeof(Tensor) <= sizeof(CUtensorMap));

std::uint32_t alignment(const Tensor& tensor) {
    return tensor.interleave == CU_TENSOR_MAP_INTERLEAVE_32B || kElements[tensor.type].is_packed ? 32 : 16;
}

CUresult check_choices(const Tensor& tensor) {
    REQUIRE(tensor.type < std::size(kElements), CUDA_ERROR_INVALID_VALUE);
    REQUIRE(tensor.interleave <= CU_TENSOR_MAP_INTERLEAVE_32B, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(tensor.swizzle <= CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(tensor.promotion <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(tensor.fill <= CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(tensor.fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE || kElements[tensor.type].is_float,
            CUDA_ERROR_INVALID_VALUE);
    // cuda.h requires CU_TENSOR_MAP_SWIZZLE_32B. An H200 also accepts no swizzle.
    REQUIRE(tensor.interleave != CU_TENSOR_MAP_INTERLEAVE_32B || tensor.swizzle <= CU_TENSOR_MAP_SWIZZLE_32B,
            CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

CUresult take_extents(const cuuint64_t* dims, const cuuint64_t* strides, const cuuint32_t* steps, Tensor* tensor) {
    constexpr cuuint64_t kMostElements = cuuint64_t{1} << 32, kMostBytes = cuuint64_t{1} << 40;
    REQUIRE(reinterpret_cast<std::uintptr_t>(tensor->address) % alignment(*tensor) == 0, CUDA_ERROR_INVALID_VALUE);
    for (cuuint32_t i = 0; i < tensor->rank; ++i) {
        REQUIRE(dims[i] != 0 && dims[i] <= kMostElements, CUDA_ERROR_INVALID_VALUE);
        tensor->last[i] = static_cast<std::uint32_t>(dims[i] - 1);
        // cuda.h: "if interleave is ..._NONE, the first element of this array is ignored", but an H200 refuses a 0
        // there too.
        const bool counts = i != 0 || tensor->interleave != CU_TENSOR_MAP_INTERLEAVE_NONE;
        REQUIRE(steps[i] != 0 && (!counts || steps[i] <= 8), CUDA_ERROR_INVALID_VALUE);
        tensor->steps[i] = counts ? static_cast<std::uint8_t>(steps[i]) : 1;
    }
    const bool is_even = tensor->type != CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B || dims[0] % 2 == 0;
    REQUIRE(is_even && (!kElements[tensor->type].is_packed || dims[0] % 128 == 0), CUDA_ERROR_INVALID_VALUE);
    for (cuuint32_t i = 0; i + 1 < tensor->rank; ++i) {
        REQUIRE(strides[i] % alignment(*tensor) == 0 && strides[i] < kMostBytes, CUDA_ERROR_INVALID_VALUE);
        tensor->strides[i] = strides[i];
    }
    return CUDA_SUCCESS;
}

// Checks the innermost row of a box, which has `elements` elements.
CUresult check_row(const Tensor& tensor, cuuint32_t elements) {
    const ElementType element = kElements[tensor.type];
    REQUIRE(!element.is_packed || elements == 128, CUDA_ERROR_INVALID_VALUE);
    if (tensor.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) return CUDA_SUCCESS;
    const std::uint32_t bytes = elements * (element.is_packed ? 8 : element.bits) / 8;
    REQUIRE(bytes % 16 == 0, CUDA_ERROR_INVALID_VALUE);
    constexpr std::uint32_t kAny = ~std::uint32_t{0};
    constexpr std::uint32_t kSpans[] = {kAny, 32, 64, 128, 128, 128, 128};  // by CUtensorMapSwizzle
    REQUIRE(bytes <= kSpans[tensor.swizzle], CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

CUresult put(const Tensor& tensor, CUtensorMap* out) {
    std::memset(static_cast<void*>(out), 0, sizeof *out);
    std::memcpy(static_cast<void*>(out), &tensor, sizeof tensor);
    return CUDA_SUCCESS;
}

// cuda.h requires an alignment of 64 bytes. The maps of cuda.core are not aligned; only the kernel's copy must be.
bool is_place_of_a_map(const CUtensorMap* map) {
    return map != nullptr;
}

// cuda.h, cuTensorMapEncodeIm2col: the largest distance between corners of the box and of the tensor, by rank.
CUresult check_corners(cuuint32_t rank, const cuuint64_t* dims, const int* lower, const int* upper) {
    constexpr int kFarthest[] = {0, 0, 0, 32768, 128, 16};
    for (cuuint32_t i = 0; i + 2 < rank; ++i) {
        for (const int corner : {lower[i], upper[i]})
            REQUIRE(corner >= -kFarthest[rank] && corner < kFarthest[rank], CUDA_ERROR_INVALID_VALUE);
        const auto size = static_cast<std::int64_t>(dims[i + 1]);
        REQUIRE(size + upper[i] - lower[i] > 0, CUDA_ERROR_INVALID_VALUE);
    }
    return CUDA_SUCCESS;
}

}  // namespace

CGH_API CUresult cuTensorMapEncodeTiled(CUtensorMap* tensorMap, CUtensorMapDataType tensorDataType,
                                        cuuint32_t tensorRank, void* globalAddress, const cuuint64_t* globalDim,
                                        const cuuint64_t* globalStrides, const cuuint32_t* boxDim,
                                        const cuuint32_t* elementStrides, CUtensorMapInterleave interleave,
                                        CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion,
                                        CUtensorMapFloatOOBfill oobFill) {
    return entry("cuTensorMapEncodeTiled", [&]() -> CUresult {
        REQUIRE(is_place_of_a_map(tensorMap) && globalDim != nullptr && boxDim != nullptr, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(elementStrides != nullptr && (globalStrides != nullptr || tensorRank == 1), CUDA_ERROR_INVALID_VALUE);
        const cuuint32_t least = interleave == CU_TENSOR_MAP_INTERLEAVE_NONE ? 1 : 3;
        REQUIRE(tensorRank >= least && tensorRank <= kMaxRank, CUDA_ERROR_INVALID_VALUE);
        Tensor tensor{
            globalAddress, tensorDataType, tensorRank, interleave, swizzle, l2Promotion, oobFill, {}, {}, 0, {}, {}};
        TRY(check_choices(tensor));
        TRY(take_extents(globalDim, globalStrides, elementStrides, &tensor));
        for (cuuint32_t i = 0; i < tensorRank; ++i) {
            REQUIRE(boxDim[i] != 0 && boxDim[i] <= 256, CUDA_ERROR_INVALID_VALUE);
            tensor.box[i] = static_cast<std::uint16_t>(boxDim[i]);
        }
        TRY(check_row(tensor, boxDim[0]));
        return put(tensor, tensorMap);
    });
}

CGH_API CUresult cuTensorMapEncodeIm2col(CUtensorMap* tensorMap, CUtensorMapDataType tensorDataType,
                                         cuuint32_t tensorRank, void* globalAddress, const cuuint64_t* globalDim,
                                         const cuuint64_t* globalStrides, const int* pixelBoxLowerCorner,
                                         const int* pixelBoxUpperCorner, cuuint32_t channelsPerPixel,
                                         cuuint32_t pixelsPerColumn, const cuuint32_t* elementStrides,
                                         CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                         CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill) {
    return entry("cuTensorMapEncodeIm2col", [&]() -> CUresult {
        REQUIRE(is_place_of_a_map(tensorMap) && globalDim != nullptr, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(globalStrides != nullptr && elementStrides != nullptr, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(pixelBoxLowerCorner != nullptr && pixelBoxUpperCorner != nullptr, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(tensorRank >= 3 && tensorRank <= kMaxRank, CUDA_ERROR_INVALID_VALUE);
        Tensor tensor{
            globalAddress, tensorDataType, tensorRank, interleave, swizzle, l2Promotion, oobFill, {}, {}, 1, {}, {}};
        TRY(check_choices(tensor));
        TRY(take_extents(globalDim, globalStrides, elementStrides, &tensor));
        TRY(check_corners(tensorRank, globalDim, pixelBoxLowerCorner, pixelBoxUpperCorner));
        REQUIRE(channelsPerPixel != 0 && channelsPerPixel <= 256, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(pixelsPerColumn != 0 && pixelsPerColumn <= 1024, CUDA_ERROR_INVALID_VALUE);
        tensor.box[0] = static_cast<std::uint16_t>(channelsPerPixel);
        tensor.box[1] = static_cast<std::uint16_t>(pixelsPerColumn);
        TRY(check_row(tensor, channelsPerPixel));
        return put(tensor, tensorMap);
    });
}

// cuda.h: "globalAddress ... must follow previous alignment requirements".
CGH_API CUresult cuTensorMapReplaceAddress(CUtensorMap* tensorMap, void* globalAddress) {
    return entry("cuTensorMapReplaceAddress", [&]() -> CUresult {
        REQUIRE(is_place_of_a_map(tensorMap), CUDA_ERROR_INVALID_VALUE);
        Tensor tensor;
        std::memcpy(&tensor, tensorMap, sizeof tensor);
        REQUIRE(tensor.type < std::size(kElements) && tensor.rank != 0, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(reinterpret_cast<std::uintptr_t>(globalAddress) % alignment(tensor) == 0, CUDA_ERROR_INVALID_VALUE);
        tensor.address = globalAddress;
        return put(tensor, tensorMap);
    });
}
