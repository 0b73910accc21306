// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches of kernels.
#include "hostdriver/api/streams/launch_attributes.hpp"
#include "hostdriver/entry.hpp"
#include "hostdriver/objects/streams/intake.hpp"
#include "hostdriver/objects/streams/stream.hpp"

using namespace cgh;

namespace {

CUresult launch(CUfunction function, const LaunchShape& shape, CUstream handle, void** params, void** extra,
                const CUlaunchAttribute* attributes = nullptr, unsigned attribute_count = 0) {
    Stream* stream = nullptr;
    TRY(find_stream(handle, &stream));
    Kernel* kernel = find_kernel(function);
    if (kernel == nullptr) return stream->intake().refuse(*stream, CUDA_ERROR_INVALID_HANDLE);
    // A function belongs to the context that its module was loaded into. A CUkernel belongs to no context.
    const Context* const home = find_function(function) != nullptr ? kernel->image().context : nullptr;
    if (home != nullptr && home != &stream->context())
        return stream->intake().refuse(*stream, CUDA_ERROR_INVALID_HANDLE);
    return stream->intake().kernel(*stream, {*kernel, shape, params, extra, attributes, attribute_count});
}

}  // namespace

CGH_API CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                                unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                                unsigned int sharedMemBytes, CUstream hStream, void** kernelParams, void** extra) {
    return entry("cuLaunchKernel", [&]() -> CUresult {
        const LaunchShape shape{
            {{gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, {1, 1, 1}, sharedMemBytes, nullptr},
            false};
        return launch(f, shape, hStream, kernelParams, extra);
    });
}

CGH_API CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** kernelParams, void** extra) {
    return entry("cuLaunchKernelEx", [&]() -> CUresult {
        REQUIRE(config != nullptr, CUDA_ERROR_INVALID_VALUE);
        LaunchShape shape;
        if (const CUresult bad = shape_of(*config, &shape); bad != CUDA_SUCCESS)
            return refuse_work(config->hStream, bad);
        return launch(f, shape, config->hStream, kernelParams, extra, config->attrs, config->numAttrs);
    });
}

CGH_API CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                           unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                                           unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                                           void** kernelParams) {
    return entry("cuLaunchCooperativeKernel", [&]() -> CUresult {
        const LaunchShape shape{
            {{gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, {1, 1, 1}, sharedMemBytes, nullptr},
            true};
        CUlaunchAttribute cooperative{};
        cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        cooperative.value.cooperative = 1;
        return launch(f, shape, hStream, kernelParams, nullptr, &cooperative, 1);
    });
}
