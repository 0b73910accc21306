// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests of what is above the driver: how often each driver function is called, calls that fail, which objects are
// left, and when nodes of graphs ran. The functions are named without their version ("cuMemAlloc"), as in
// _driver/functions.def; cuGetProcAddress is not watched.
//
// The environment variable CUDA_GRAPHS_HOST_FAIL does the same from outside: <function>:<nth>[:<code>], several of them
// separated by commas. What is wrong there is said on standard error, and cuInit answers CUDA_ERROR_INVALID_VALUE.
#ifndef CUDA_GRAPHS_HOSTDRIVER_CALL_WATCH_H
#define CUDA_GRAPHS_HOSTDRIVER_CALL_WATCH_H

#include <cuda.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// From now on, the `nth` call (from 1) of `function` does nothing but answer with `code`: a name
// ("CUDA_ERROR_OUT_OF_MEMORY"), a number, or NULL for CUDA_ERROR_OUT_OF_MEMORY, which every call that makes something
// may answer. CUDA_SUCCESS is a code too: the call then pretends. Replaces what was asked for this function before; an
// `nth` of 0 takes it back. CUDA_ERROR_NOT_FOUND: no such function. CUDA_ERROR_INVALID_VALUE: no such code.
CUresult cghFailCall(const char* function, uint64_t nth, const char* code);

// How many calls of `function` were failed so far.
uint64_t cghFailedCalls(const char* function);

// Counting begins with the first and ends with the last of several users.
void cghCountCalls(int on);

// The `index`-th function and how often it was called while calls were counted; CUDA_ERROR_INVALID_VALUE past the last.
CUresult cghCallCount(uint32_t index, const char** function, uint64_t* count);

// The `index`-th kind of object and how many of it live now: handles that are not dead, allocations, captures that have
// not ended. CUDA_ERROR_INVALID_VALUE past the last.
CUresult cghLiveObjects(uint32_t index, const char** kind, uint64_t* count);

// From now on, or no longer: notes when each node of a graph that runs began and ended. Switching it on forgets what
// was noted before.
void cghNoteNodes(int on);

typedef struct cgh_noted_node {
    const char* name;  // of the kernel, else of the kind; valid until notes are switched on again
    const char* kind;
    uint64_t thread;     // a number that no other thread ever has
    uint64_t stream;     // cuStreamGetId of the stream that the graph was launched on
    int64_t start, end;  // nanoseconds of a steady clock
} cgh_noted_node;

// The `index`-th noted node, in the order of their ends; CUDA_ERROR_INVALID_VALUE past the last.
CUresult cghNotedNode(uint64_t index, cgh_noted_node* out);

#ifdef __cplusplus
}
#endif

#endif
