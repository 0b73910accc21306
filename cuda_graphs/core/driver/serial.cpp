// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "serial.hpp"

#include "biased_lock.hpp"

namespace cg {

namespace {

BiasedLock one_at_a_time;

template <auto Entry>
struct Serial;

template <class... Args, CUresult (CUDAAPI* DriverTable::*Entry)(Args...)>
struct Serial<Entry> {
    static inline CUresult(CUDAAPI* function)(Args...) = nullptr;

    static CUresult CUDAAPI call(Args... args) {
        const BiasedLock::Hold hold(one_at_a_time);
        return function(args...);
    }
};

template <auto... Entries>
void put_round(DriverTable& table) noexcept {
    ((Serial<Entries>::function = table.*Entries, table.*Entries = &Serial<Entries>::call), ...);
}

}  // namespace

void serialise(DriverTable& table) noexcept {
    using T = DriverTable;
    put_round<&T::cuGraphClone, &T::cuGraphInstantiateWithFlags, &T::cuGraphInstantiateWithParams,
              &T::cuGraphExecDestroy, &T::cuGraphDestroy, &T::cuGraphDestroyNode, &T::cuGraphAddDependencies,
              &T::cuGraphRemoveDependencies, &T::cuGraphAddNode, &T::cuGraphNodeSetParams, &T::cuGraphAddEmptyNode,
              &T::cuGraphAddKernelNode, &T::cuGraphAddMemcpyNode, &T::cuGraphAddMemsetNode, &T::cuGraphAddHostNode,
              &T::cuGraphAddChildGraphNode, &T::cuGraphAddEventRecordNode, &T::cuGraphAddEventWaitNode,
              &T::cuGraphAddMemAllocNode, &T::cuGraphAddMemFreeNode, &T::cuStreamBeginCaptureToGraph>(table);
}

}  // namespace cg
