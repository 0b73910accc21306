// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Instrumentation for tests of the layers above the driver. It counts the calls of each driver function, makes calls
// fail, counts live objects and records when graph nodes ran. Functions are named without their version ("cuMemAlloc"),
// as in core/driver/functions.def. cuGetProcAddress is not instrumented.
//
// The environment variable CUDA_GRAPHS_HOST_FAIL makes calls fail without a change to the program. Its value is a
// comma-separated list of <function>:<nth>[:<code>]. The driver reports a malformed value on standard error, and cuInit
// returns CUDA_ERROR_INVALID_VALUE.
#ifndef CUDA_GRAPHS_HOSTDRIVER_TEST_HOOKS_H
#define CUDA_GRAPHS_HOSTDRIVER_TEST_HOOKS_H

#include <cuda.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Makes the `nth` call (from 1) of `function` do nothing but return `code`. `code` is a name
// ("CUDA_ERROR_OUT_OF_MEMORY"), a number, or NULL for CUDA_ERROR_OUT_OF_MEMORY, which every call that creates an object
// may return. CUDA_SUCCESS is accepted too: the call then reports success without doing its work. A new setting
// replaces the earlier one of the same function; `nth` 0 removes it. Returns CUDA_ERROR_NOT_FOUND for an unknown
// function and CUDA_ERROR_INVALID_VALUE for an unknown code.
CUresult cghFailCall(const char* function, uint64_t nth, const char* code);

// Returns the number of calls of `function` that were made to fail so far.
uint64_t cghFailedCalls(const char* function);

// Starts (`on` not 0) or stops counting calls. Calls nest: counting stops when every start has been matched by a stop.
void cghCountCalls(int on);

// Writes the name of the `index`-th function and its number of calls while counting was on. Returns
// CUDA_ERROR_INVALID_VALUE past the last function.
CUresult cghCallCount(uint32_t index, const char** function, uint64_t* count);

// Writes the `index`-th kind of object and its number of live objects: live handles, allocations, or captures that have
// not ended. Returns CUDA_ERROR_INVALID_VALUE past the last kind.
CUresult cghLiveObjects(uint32_t index, const char** kind, uint64_t* count);

// Starts or stops recording when each node of a running graph begins and ends, and each run of a body of a conditional
// node. Starting discards the earlier records.
void cghRecordNodes(int on);

typedef struct cgh_node_record {
    const char* name;    // the kernel's name, or the kind's, or "body"; valid until recording starts again
    const char* kind;    // the kind of the node, or "body"
    CUgraphNode node;    // the node of the instantiated definition, which may be destroyed; of a body, its conditional
                         // node; null for the end of a child graph
    uint64_t around;     // number of the launch or body run that the node or body is in
    uint64_t number;     // of a body run, odd; 0 for a node. Numbers of launches are even
    uint64_t iteration;  // of a body of a while node, from 0
    uint64_t thread;     // a number that is unique to the thread in the process
    uint64_t stream;     // cuStreamGetId of the launch stream
    int64_t start, end;  // nanoseconds on a steady clock
    uint32_t branch;     // index of the body in its node
    int32_t device;      // ordinal of the device of the stream
} cgh_node_record;

// Writes the `index`-th record, in the order in which the nodes and bodies ended. Returns CUDA_ERROR_INVALID_VALUE past
// the last record.
CUresult cghNodeRecord(uint64_t index, cgh_node_record* out);

#ifdef __cplusplus
}
#endif

#endif
