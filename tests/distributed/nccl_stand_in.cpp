// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The functions of NCCL that cuda_graphs.distributed calls, for one rank: a collective copies its argument on the
// stream. test_nccl.py builds it as libnccl.so.2, so that the calls, captures and lifetimes run without a GPU.
#include <cuda.h>
#include <dlfcn.h>

#include <cstddef>
#include <cstdlib>

namespace {

constexpr std::size_t kSizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};

template <class Function>
Function* driver(const char* name) {
    static void* const library = dlopen(std::getenv("STAND_IN_DRIVER"), RTLD_NOW | RTLD_NOLOAD);
    return reinterpret_cast<Function*>(dlsym(library, name));
}

struct Comm {};

void tell_proxy(void*) {}

// Copies what a collective of one rank copies: nothing in place, as NCCL.
// With STAND_IN_PROXY it also adds a host node, as NCCL does for a network. With STAND_IN_MIXING it adds an event node,
// as NCCL does with its graph mixing support.
int copy(const void* from, void* to, std::size_t count, int type, Comm*, CUstream stream) {
    using Tell = CUresult(CUstream, CUhostFn, void*);
    if (std::getenv("STAND_IN_PROXY") != nullptr) driver<Tell>("cuLaunchHostFunc")(stream, tell_proxy, nullptr);
    if (std::getenv("STAND_IN_MIXING") != nullptr) {
        static CUevent event = nullptr;
        if (event == nullptr) driver<CUresult(CUevent*, unsigned)>("cuEventCreate")(&event, 0);
        driver<CUresult(CUevent, CUstream, unsigned)>("cuEventRecordWithFlags")(event, stream,
                                                                                CU_EVENT_RECORD_EXTERNAL);
    }
    if (from == to) return 0;
    using Copy = CUresult(CUdeviceptr, CUdeviceptr, std::size_t, CUstream);
    return driver<Copy>("cuMemcpyDtoDAsync_v2")(reinterpret_cast<CUdeviceptr>(to), reinterpret_cast<CUdeviceptr>(from),
                                                count * kSizes[type], stream)
               ? 1
               : 0;
}

const void* sent;  // by the send of a group, until its receive

}  // namespace

extern "C" {

struct UniqueId {
    char internal[128];
};

const char* ncclGetErrorString(int) {
    return "unhandled cuda error";
}
const char* ncclGetLastError(void*) {
    return "";
}
int ncclGetUniqueId(UniqueId* id) {
    id->internal[5] = 7;
    return 0;
}
int ncclCommInitRank(Comm** out, int size, UniqueId id, int rank) {
    if (id.internal[5] != 7 || size != 1 || rank != 0) return 4;
    *out = new Comm;
    return 0;
}
int ncclCommSplit(Comm*, int color, int, Comm** out, void* config) {
    if (config != nullptr) return 4;
    *out = color < 0 ? nullptr : new Comm;
    return 0;
}
int ncclCommDestroy(Comm* comm) {
    delete comm;
    return 0;
}
int ncclCommAbort(Comm* comm) {
    delete comm;
    return 0;
}
int ncclCommGetAsyncError(Comm*, int* error) {
    return *error = 0;
}
int ncclCommUserRank(Comm*, int* rank) {
    return *rank = 0;
}
int ncclCommCount(Comm*, int* count) {
    *count = 1;
    return 0;
}
int ncclGroupStart() {
    return 0;
}
int ncclGroupEnd() {
    return 0;
}
int ncclAllReduce(const void* from, void* to, std::size_t n, int type, int op, Comm* comm, CUstream stream) {
    return op < 0 || op > 3 ? 4 : copy(from, to, n, type, comm, stream);
}
int ncclReduce(const void* from, void* to, std::size_t n, int type, int, int, Comm* comm, CUstream stream) {
    return copy(from, to, n, type, comm, stream);
}
int ncclBroadcast(const void* from, void* to, std::size_t n, int type, int root, Comm* comm, CUstream stream) {
    return root != 0 ? 4 : copy(from, to, n, type, comm, stream);
}
int ncclAllGather(const void* from, void* to, std::size_t n, int type, Comm* comm, CUstream stream) {
    return copy(from, to, n, type, comm, stream);
}
int ncclReduceScatter(const void* from, void* to, std::size_t n, int type, int, Comm* comm, CUstream stream) {
    return copy(from, to, n, type, comm, stream);
}
int ncclSend(const void* from, std::size_t, int, int, Comm*, CUstream) {
    sent = from;
    return 0;
}
int ncclRecv(void* to, std::size_t n, int type, int, Comm* comm, CUstream stream) {
    return copy(sent, to, n, type, comm, stream);
}
}
