// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Attributes of streams. They are stored and returned, and have no effect: there is no persisting cache, a thread that
// synchronises runs the work itself, and all memory is in one domain.
#include <mutex>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/devices/device.hpp"
#include "hostdriver/objects/streams/intake.hpp"
#include "hostdriver/objects/streams/stream.hpp"

using namespace cgh;

namespace {

std::mutex attributes_mutex;  // guards the attributes of every stream

StreamAttributes attributes_of(const Stream& stream) {
    const std::lock_guard<std::mutex> lock(attributes_mutex);
    return stream.attributes;
}

CUresult read(const Stream& stream, CUstreamAttrID which, CUstreamAttrValue* out) {
    const StreamAttributes attributes = attributes_of(stream);
    switch (which) {
        case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
            out->accessPolicyWindow = attributes.window;
            return CUDA_SUCCESS;
        case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
            out->syncPolicy = attributes.policy;
            return CUDA_SUCCESS;
        case CU_LAUNCH_ATTRIBUTE_PRIORITY:
            out->priority = stream.priority();
            return CUDA_SUCCESS;
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
            out->memSyncDomain = attributes.domain;
            return CUDA_SUCCESS;
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
            out->memSyncDomainMap = attributes.domain_map;
            return CUDA_SUCCESS;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}

// Writes an attribute. Refuses values that the device lacks: domains past CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT,
// windows larger than CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, and any priority except that of the stream.
CUresult write(Stream& stream, CUstreamAttrID which, const CUstreamAttrValue& value) {
    StreamAttributes next = attributes_of(stream);
    switch (which) {
        case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
            REQUIRE(value.accessPolicyWindow.num_bytes == 0, CUDA_ERROR_INVALID_VALUE);
            next.window = value.accessPolicyWindow;
            break;
        case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
            REQUIRE(value.syncPolicy >= CU_SYNC_POLICY_AUTO && value.syncPolicy <= CU_SYNC_POLICY_BLOCKING_SYNC,
                    CUDA_ERROR_INVALID_VALUE);
            next.policy = value.syncPolicy;
            break;
        case CU_LAUNCH_ATTRIBUTE_PRIORITY:
            return value.priority == stream.priority() ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
            REQUIRE(value.memSyncDomain <= CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE, CUDA_ERROR_INVALID_VALUE);
            next.domain = value.memSyncDomain;
            break;
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
            REQUIRE(value.memSyncDomainMap.default_ < kMemorySyncDomains, CUDA_ERROR_INVALID_VALUE);
            REQUIRE(value.memSyncDomainMap.remote < kMemorySyncDomains, CUDA_ERROR_INVALID_VALUE);
            next.domain_map = value.memSyncDomainMap;
            break;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
    const std::lock_guard<std::mutex> lock(attributes_mutex);
    stream.attributes = next;
    return CUDA_SUCCESS;
}

CUresult find_inspectable(CUstream handle, Stream** out) {
    TRY(find_stream(handle, out));
    return (*out)->intake().inspect(**out, Inspection::kAllowed);
}

}  // namespace

CGH_API CUresult cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr, CUstreamAttrValue* value_out) {
    return entry("cuStreamGetAttribute", [&]() -> CUresult {
        REQUIRE(value_out != nullptr, CUDA_ERROR_INVALID_VALUE);
        Stream* stream = nullptr;
        TRY(find_inspectable(hStream, &stream));
        return read(*stream, attr, value_out);
    });
}

CGH_API CUresult cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr, const CUstreamAttrValue* value) {
    return entry("cuStreamSetAttribute", [&]() -> CUresult {
        REQUIRE(value != nullptr, CUDA_ERROR_INVALID_VALUE);
        Stream* stream = nullptr;
        TRY(find_inspectable(hStream, &stream));
        return write(*stream, attr, *value);
    });
}

// cuda.h: "Both streams must have the same context."
CGH_API CUresult cuStreamCopyAttributes(CUstream dst, CUstream src) {
    return entry("cuStreamCopyAttributes", [&]() -> CUresult {
        Stream *to = nullptr, *from = nullptr;
        TRY(find_inspectable(dst, &to));
        TRY(find_inspectable(src, &from));
        REQUIRE(&to->context() == &from->context(), CUDA_ERROR_INVALID_VALUE);
        const std::lock_guard<std::mutex> lock(attributes_mutex);
        to->attributes = from->attributes;
        return CUDA_SUCCESS;
    });
}
