// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The multiprocessors of a device as a resource, partitions of it, and green contexts, each of which has a partition.
#include "hostdriver/objects/devices/green_context.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "hostdriver/entry.hpp"
#include "hostdriver/execution/thread_state.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/devices/device.hpp"
#include "hostdriver/objects/streams/capture.hpp"
#include "hostdriver/objects/streams/intake.hpp"
#include "hostdriver/objects/streams/stream.hpp"

namespace cgh {

CUresult GreenContext::status() const {
    return inner_.status();
}

GreenContext* green_of(const Stream& stream) {
    return stream.is_created() ? stream.green() : current_green();
}

void GreenContext::destroy() {
    primary_.synchronize(this);
    arena<Context>.kill(&inner_);
    inner_.destroy();
}

}  // namespace cgh

using namespace cgh;

namespace {

// The private fields of a resource.
struct Origin {
    std::int32_t device;
    std::uint32_t is_part;
};
static_assert(sizeof(CUdevResource) == 144, "as in CUDA 13.0: programs hold them");

CUdevResource resource_of(CUdevice device, unsigned multiprocessors, bool is_part) {
    CUdevResource made;
    std::memset(&made, 0, sizeof made);
    if (multiprocessors == 0) return made;
    const Origin origin{device, is_part};
    made.type = CU_DEV_RESOURCE_TYPE_SM;
    std::memcpy(made._internal_padding, &origin, sizeof origin);
    made.sm.smCount = multiprocessors;
    made.sm.minSmPartitionSize = 1;
    made.sm.smCoscheduledAlignment = 1;
    return made;
}

Origin origin_of(const CUdevResource& resource) {
    Origin origin;
    std::memcpy(&origin, resource._internal_padding, sizeof origin);
    return origin;
}

CUresult give_resource(CUdevice device, unsigned multiprocessors, CUdevResource* out, CUdevResourceType type) {
    REQUIRE(out != nullptr, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(type == CU_DEV_RESOURCE_TYPE_SM, CUDA_ERROR_INVALID_RESOURCE_TYPE);
    *out = resource_of(device, multiprocessors, false);
    return CUDA_SUCCESS;
}

unsigned all_multiprocessors() {
    return static_cast<unsigned>(multiprocessors());
}

// Finds a live green context.
CUresult find_green(CUgreenCtx handle, GreenContext** out) {
    *out = cast<GreenContext>(handle);
    return *out != nullptr ? (*out)->status() : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult make_green(CUdevice ordinal, unsigned multiprocessors, GreenContext** out) {
    Device* device = nullptr;
    TRY(find_device(ordinal, &device));
    CUcontext retained = nullptr;
    TRY(device->retain_primary(&retained));
    Context* const inner = arena<Context>.create(ordinal);
    *out = inner != nullptr ? arena<GreenContext>.create(device->context(), *inner, multiprocessors) : nullptr;
    if (*out == nullptr) device->release_primary();
    REQUIRE(*out != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
    inner->make_green(**out);
    return CUDA_SUCCESS;
}

}  // namespace

CGH_API CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource* resource, CUdevResourceType type) {
    return entry("cuDeviceGetDevResource", [&]() -> CUresult {
        Device* found = nullptr;
        TRY(find_device(device, &found));
        return give_resource(device, all_multiprocessors(), resource, type);
    });
}

CGH_API CUresult cuCtxGetDevResource(CUcontext hCtx, CUdevResource* resource, CUdevResourceType type) {
    return entry("cuCtxGetDevResource", [&]() -> CUresult {
        const Context* const context = cast<Context>(hCtx);
        REQUIRE(context != nullptr, CUDA_ERROR_INVALID_CONTEXT);
        const GreenContext* const green = context->green();
        return give_resource(context->device(), green != nullptr ? green->multiprocessors() : all_multiprocessors(),
                             resource, type);
    });
}

CGH_API CUresult cuGreenCtxGetDevResource(CUgreenCtx hCtx, CUdevResource* resource, CUdevResourceType type) {
    return entry("cuGreenCtxGetDevResource", [&]() -> CUresult {
        GreenContext* green = nullptr;
        TRY(find_green(hCtx, &green));
        return give_resource(green->inner().device(), green->multiprocessors(), resource, type);
    });
}

// cuda.h: "If result is NULL, the API simulates a split and provides the amount of groups that would be created in
// nbGroups"; "the output results cannot be split again without first creating a descriptor and a green context". An
// H200 ignores unknown flags. Here a partition may have any number of multiprocessors.
CGH_API CUresult cuDevSmResourceSplitByCount(CUdevResource* result, unsigned int* nbGroups, const CUdevResource* input,
                                             CUdevResource* remaining, unsigned int, unsigned int minCount) {
    return entry("cuDevSmResourceSplitByCount", [&]() -> CUresult {
        REQUIRE(nbGroups != nullptr && input != nullptr, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(input->type == CU_DEV_RESOURCE_TYPE_SM, CUDA_ERROR_INVALID_RESOURCE_TYPE);
        REQUIRE(result == nullptr || *nbGroups != 0, CUDA_ERROR_INVALID_VALUE);
        const Origin origin = origin_of(*input);
        const unsigned whole = input->sm.smCount, each = std::max(minCount, input->sm.minSmPartitionSize);
        REQUIRE(each != 0 && each <= whole && origin.is_part == 0, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
        const unsigned possible = whole / each;
        *nbGroups = result != nullptr ? std::min(*nbGroups, possible) : possible;
        if (result != nullptr) std::fill_n(result, *nbGroups, resource_of(origin.device, each, true));
        if (remaining != nullptr) *remaining = resource_of(origin.device, whole - *nbGroups * each, true);
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuDevResourceGenerateDesc(CUdevResourceDesc* phDesc, CUdevResource* resources,
                                           unsigned int nbResources) {
    return entry("cuDevResourceGenerateDesc", [&]() -> CUresult {
        REQUIRE(phDesc != nullptr && resources != nullptr && nbResources != 0, CUDA_ERROR_INVALID_VALUE);
        ResourceDescription sum{origin_of(resources[0]).device, 0};
        for (unsigned i = 0; i < nbResources; ++i) {
            REQUIRE(resources[i].type == CU_DEV_RESOURCE_TYPE_SM, CUDA_ERROR_INVALID_RESOURCE_TYPE);
            REQUIRE(origin_of(resources[i]).device == sum.device, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
            sum.multiprocessors += resources[i].sm.smCount;
        }
        sum.multiprocessors = std::min(sum.multiprocessors, all_multiprocessors());
        auto* const made = arena<ResourceDescription>.create(sum);
        REQUIRE(made != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
        *phDesc = reinterpret_cast<CUdevResourceDesc>(made);
        return CUDA_SUCCESS;
    });
}

// Without a description the green context gets the whole device, as on an H200.
CGH_API CUresult cuGreenCtxCreate(CUgreenCtx* phCtx, CUdevResourceDesc desc, CUdevice dev, unsigned int flags) {
    return entry("cuGreenCtxCreate", [&]() -> CUresult {
        TRY(Capture::check_unsafe_call());
        REQUIRE(phCtx != nullptr && flags == CU_GREEN_CTX_DEFAULT_STREAM, CUDA_ERROR_INVALID_VALUE);
        const ResourceDescription* const described = cast<ResourceDescription>(desc);
        REQUIRE(desc == nullptr || described != nullptr, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(described == nullptr || described->device == dev, CUDA_ERROR_INVALID_DEVICE);
        GreenContext* green = nullptr;
        TRY(make_green(dev, described != nullptr ? described->multiprocessors : all_multiprocessors(), &green));
        *phCtx = green->handle();
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuGreenCtxDestroy(CUgreenCtx hCtx) {
    return entry("cuGreenCtxDestroy", [&]() -> CUresult {
        TRY(Capture::check_unsafe_call());
        GreenContext* const green = cast<GreenContext>(hCtx);
        REQUIRE(green != nullptr && arena<GreenContext>.kill(green), CUDA_ERROR_INVALID_CONTEXT);
        green->destroy();
        return device_of(green->primary()).release_primary();
    });
}

CGH_API CUresult cuCtxFromGreenCtx(CUcontext* pContext, CUgreenCtx hCtx) {
    return entry("cuCtxFromGreenCtx", [&]() -> CUresult {
        REQUIRE(pContext != nullptr, CUDA_ERROR_INVALID_VALUE);
        GreenContext* green = nullptr;
        TRY(find_green(hCtx, &green));
        *pContext = green->inner().handle();
        return CUDA_SUCCESS;
    });
}

// cuda.h: "If green context is supplied as NULL and the current context is set to a green context, the Id of the
// current green context is returned."
CGH_API CUresult cuGreenCtxGetId(CUgreenCtx greenCtx, unsigned long long* greenCtxId) {
    return entry("cuGreenCtxGetId", [&]() -> CUresult {
        REQUIRE(greenCtxId != nullptr, CUDA_ERROR_INVALID_VALUE);
        GreenContext* green = current_green();
        if (greenCtx != nullptr) TRY(find_green(greenCtx, &green));
        REQUIRE(green != nullptr, CUDA_ERROR_INVALID_CONTEXT);
        *greenCtxId = green->inner().id();
        return green->status();
    });
}

CGH_API CUresult cuGreenCtxStreamCreate(CUstream* phStream, CUgreenCtx greenCtx, unsigned int flags, int priority) {
    return entry("cuGreenCtxStreamCreate", [&]() -> CUresult {
        REQUIRE(phStream != nullptr && flags == CU_STREAM_NON_BLOCKING, CUDA_ERROR_INVALID_VALUE);
        GreenContext* green = nullptr;
        TRY(find_green(greenCtx, &green));
        Stream* const stream = arena<Stream>.create(green->primary(), Stream::Kind::kCreated, flags,
                                                    std::clamp(priority, kGreatestPriority, kLeastPriority), green);
        REQUIRE(stream != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
        *phStream = stream->handle();
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuStreamGetGreenCtx(CUstream hStream, CUgreenCtx* phCtx) {
    return entry("cuStreamGetGreenCtx", [&]() -> CUresult {
        REQUIRE(phCtx != nullptr, CUDA_ERROR_INVALID_VALUE);
        Stream* stream = nullptr;
        TRY(find_stream(hStream, &stream));
        TRY(stream->intake().inspect(*stream, Inspection::kAllowed));
        GreenContext* const green = green_of(*stream);
        *phCtx = green != nullptr ? green->handle() : nullptr;
        return CUDA_SUCCESS;
    });
}
