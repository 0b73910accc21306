// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Names and texts of the statuses that the recorded libcuda knows (tests/conformance/driver/h200.json), one per line.
// Their explanations for users are in cuda_graphs/errors/table.py.
#include "hostdriver/objects/base/error_codes.hpp"

#include <cstring>

namespace cgh {
namespace {

struct Row {
    CUresult code;
    const char* name;
    const char* text;
};

#define CODE(name, text) {name, #name, text}
constexpr Row kCodes[] = {
    CODE(CUDA_SUCCESS, "no error"),
    CODE(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    CODE(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    CODE(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    CODE(CUDA_ERROR_DEINITIALIZED, "driver shutting down"),
    CODE(CUDA_ERROR_PROFILER_DISABLED, "profiler disabled while using external profiling tool"),
    CODE(CUDA_ERROR_PROFILER_NOT_INITIALIZED, "profiler not initialized: call cudaProfilerInitialize()"),
    CODE(CUDA_ERROR_PROFILER_ALREADY_STARTED, "profiler already started"),
    CODE(CUDA_ERROR_PROFILER_ALREADY_STOPPED, "profiler already stopped"),
    CODE(CUDA_ERROR_STUB_LIBRARY, "CUDA driver is a stub library"),
    CODE(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, "the call requires a newer driver"),
    CODE(CUDA_ERROR_DEVICE_UNAVAILABLE, "CUDA-capable device(s) is/are busy or unavailable"),
    CODE(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    CODE(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    CODE(CUDA_ERROR_DEVICE_NOT_LICENSED, "device doesn't have valid Grid license"),
    CODE(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    CODE(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    CODE(CUDA_ERROR_CONTEXT_ALREADY_CURRENT, "context already current"),
    CODE(CUDA_ERROR_MAP_FAILED, "mapping of buffer object failed"),
    CODE(CUDA_ERROR_UNMAP_FAILED, "unmapping of buffer object failed"),
    CODE(CUDA_ERROR_ARRAY_IS_MAPPED, "array is mapped"),
    CODE(CUDA_ERROR_ALREADY_MAPPED, "resource already mapped"),
    CODE(CUDA_ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device"),
    CODE(CUDA_ERROR_ALREADY_ACQUIRED, "resource already acquired"),
    CODE(CUDA_ERROR_NOT_MAPPED, "resource not mapped"),
    CODE(CUDA_ERROR_NOT_MAPPED_AS_ARRAY, "resource not mapped as array"),
    CODE(CUDA_ERROR_NOT_MAPPED_AS_POINTER, "resource not mapped as pointer"),
    CODE(CUDA_ERROR_ECC_UNCORRECTABLE, "uncorrectable ECC error encountered"),
    CODE(CUDA_ERROR_UNSUPPORTED_LIMIT, "limit is not supported on this architecture"),
    CODE(CUDA_ERROR_CONTEXT_ALREADY_IN_USE, "exclusive-thread device already in use by a different thread"),
    CODE(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "peer access is not supported between these two devices"),
    CODE(CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed"),
    CODE(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, "invalid OpenGL or DirectX context"),
    CODE(CUDA_ERROR_NVLINK_UNCORRECTABLE, "uncorrectable NVLink error detected during the execution"),
    CODE(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "PTX JIT compiler library not found"),
    CODE(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "the provided PTX was compiled with an unsupported toolchain."),
    CODE(CUDA_ERROR_JIT_COMPILATION_DISABLED, "PTX JIT compilation was disabled"),
    CODE(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, "the provided execution affinity is not supported"),
    CODE(CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC, "the provided PTX contains unsupported call to cudaDeviceSynchronize"),
    CODE(CUDA_ERROR_CONTAINED, "invalid access of a peer or hardware, contained to this process"),
    CODE(CUDA_ERROR_INVALID_SOURCE, "device kernel image is invalid"),
    CODE(CUDA_ERROR_FILE_NOT_FOUND, "file not found"),
    CODE(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, "shared object symbol not found"),
    CODE(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, "shared object initialization failed"),
    CODE(CUDA_ERROR_OPERATING_SYSTEM, "OS call failed or operation not supported on this OS"),
    CODE(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    CODE(CUDA_ERROR_ILLEGAL_STATE, "the operation cannot be performed in the present state"),
    CODE(CUDA_ERROR_LOSSY_QUERY, "attempted introspection would be semantically lossy"),
    CODE(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    CODE(CUDA_ERROR_NOT_READY, "device not ready"),
    CODE(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    CODE(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"),
    CODE(CUDA_ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated"),
    CODE(CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING, "launch uses incompatible texturing mode"),
    CODE(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access is already enabled"),
    CODE(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access has not been enabled"),
    CODE(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, "cannot set while device is active in this process"),
    CODE(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
    CODE(CUDA_ERROR_ASSERT, "device-side assert triggered"),
    CODE(CUDA_ERROR_TOO_MANY_PEERS, "peer mapping resources exhausted"),
    CODE(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "part or all of the requested memory range is already mapped"),
    CODE(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "pointer does not correspond to a registered memory region"),
    CODE(CUDA_ERROR_HARDWARE_STACK_ERROR, "hardware stack error"),
    CODE(CUDA_ERROR_ILLEGAL_INSTRUCTION, "an illegal instruction was encountered"),
    CODE(CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address"),
    CODE(CUDA_ERROR_INVALID_ADDRESS_SPACE, "operation not supported on global/shared address space"),
    CODE(CUDA_ERROR_INVALID_PC, "invalid program counter"),
    CODE(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    CODE(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "too many blocks in cooperative launch"),
    CODE(CUDA_ERROR_TENSOR_MEMORY_LEAK, "tensor memory was not completely freed"),
    CODE(CUDA_ERROR_NOT_PERMITTED, "operation not permitted"),
    CODE(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    CODE(CUDA_ERROR_SYSTEM_NOT_READY, "system not yet initialized"),
    CODE(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "system has unsupported display driver / cuda driver combination"),
    CODE(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, "forward compatibility was attempted on non supported HW"),
    CODE(CUDA_ERROR_MPS_CONNECTION_FAILED, "MPS client failed to connect to the MPS control daemon or the MPS server"),
    CODE(CUDA_ERROR_MPS_RPC_FAILURE, "the remote procedural call between the MPS server and the MPS client failed"),
    CODE(CUDA_ERROR_MPS_SERVER_NOT_READY, "MPS server is not ready to accept new MPS client requests"),
    CODE(CUDA_ERROR_MPS_MAX_CLIENTS_REACHED,
         "the hardware resources required to create MPS client have been exhausted"),
    CODE(CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED,
         "the hardware resources required to support device connections have been exhausted"),
    CODE(CUDA_ERROR_MPS_CLIENT_TERMINATED, "the MPS client has been terminated by the server"),
    CODE(CUDA_ERROR_CDP_NOT_SUPPORTED, "the current device does not support CUDA dynamic parallelism"),
    CODE(CUDA_ERROR_CDP_VERSION_MISMATCH,
         "unsupported interaction between different versions of CUDA dynamic parallelism"),
    CODE(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing"),
    CODE(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "operation failed due to a previous error during capture"),
    CODE(CUDA_ERROR_STREAM_CAPTURE_MERGE, "operation would result in a merge of separate capture sequences"),
    CODE(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "capture was not ended in the same stream as it began"),
    CODE(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "capturing stream has unjoined work"),
    CODE(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "dependency created on uncaptured work in another stream"),
    CODE(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
         "operation would make the legacy stream depend on a capturing blocking stream"),
    CODE(CUDA_ERROR_CAPTURED_EVENT, "operation not permitted on an event last recorded in a capturing stream"),
    CODE(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
         "attempt to terminate a thread-local capture sequence from another thread"),
    CODE(CUDA_ERROR_TIMEOUT, "wait operation timed out"),
    CODE(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
         "the graph update was not performed because it included changes which violated constraints specific to "
         "instantiated graph update"),
    CODE(CUDA_ERROR_EXTERNAL_DEVICE, "an async error has occurred in external entity outside of CUDA"),
    CODE(CUDA_ERROR_INVALID_CLUSTER_SIZE, "a kernel launch error has occurred due to cluster misconfiguration"),
    CODE(CUDA_ERROR_FUNCTION_NOT_LOADED, "the function handle is not loaded"),
    CODE(CUDA_ERROR_INVALID_RESOURCE_TYPE, "the resources passed in are not valid resource types"),
    CODE(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, "the resources are insufficient or non-applicable"),
    CODE(CUDA_ERROR_KEY_ROTATION, "an error happened during the key rotation sequence"),
    CODE(CUDA_ERROR_UNKNOWN, "unknown error"),
};
#undef CODE

const Row* find(CUresult code) {
    for (const Row& row : kCodes)
        if (row.code == code) return &row;
    return nullptr;
}

}  // namespace

const char* error_name(CUresult code) {
    const Row* row = find(code);
    return row != nullptr ? row->name : nullptr;
}

bool find_error(const char* name, CUresult* code) {
    for (const Row& row : kCodes) {
        if (std::strcmp(row.name, name) != 0) continue;
        *code = row.code;
        return true;
    }
    return false;
}

const char* error_text(CUresult code) {
    const Row* row = find(code);
    return row != nullptr ? row->text : nullptr;
}

}  // namespace cgh
