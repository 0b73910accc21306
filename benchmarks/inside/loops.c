// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Bare driver calls in a loop, for a caller that is in the same process as what they are compared with: what a call of
// the driver costs depends on the process (threads, heap, contexts), so only then is the difference ours.
#include <stddef.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

// Microseconds a call of cuGraphLaunch.
double launches(int (*launch)(void*, void*), void* exec, void* stream, int calls) {
    const double start = now();
    for (int i = 0; i < calls; ++i)
        if (launch(exec, stream) != 0) return -1;
    return (now() - start) / calls;
}

// Microseconds of one cuGraphInstantiateWithFlags; the executable is destroyed after the clock was read.
double instantiation(int (*instantiate)(void**, void*, unsigned long long), int (*destroy)(void*), void* graph) {
    void* exec = NULL;
    const double start = now();
    if (instantiate(&exec, graph, 0) != 0) return -1;
    const double elapsed = now() - start;
    destroy(exec);
    return elapsed;
}

typedef int (*LaunchKernel)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                            void**);

// Microseconds a call of cuLaunchKernel with one block of one thread and one argument of 8 bytes.
double kernel_launches(LaunchKernel launch, void* function, void* stream, void* argument, int calls) {
    void* arguments[] = {argument};
    const double start = now();
    for (int i = 0; i < calls; ++i)
        if (launch(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL) != 0) return -1;
    return (now() - start) / calls;
}

// CUDA_KERNEL_NODE_PARAMS_v2 of cuda.h, CUDA 12.0; cuLaunchKernel takes a CUkernel in place of a CUfunction.
struct KernelNode {
    void* function;
    unsigned grid[3], block[3], shared;
    void **arguments, **extra;
    void *kernel, *context;
};

// Microseconds of launching the kernels of `tasks` nodes on a stream, mean of `calls` in a row.
double task_launches(LaunchKernel launch, const struct KernelNode* nodes, void* stream, int tasks, int calls) {
    const double start = now();
    for (int i = 0; i < calls; ++i)
        for (const struct KernelNode* n = nodes; n != nodes + tasks; ++n)
            if (launch(n->function ? n->function : n->kernel, n->grid[0], n->grid[1], n->grid[2], n->block[0],
                       n->block[1], n->block[2], n->shared, stream, n->arguments, NULL) != 0)
                return -1;
    return (now() - start) / calls;
}

// Microseconds a call of cuGraphExecUpdate; the information that it gives back is CUgraphExecUpdateResultInfo.
double updates(int (*update)(void*, void*, void*), void* exec, void* graph, int calls) {
    struct {
        int result;
        void *node, *from;
    } info;
    const double start = now();
    for (int i = 0; i < calls; ++i)
        if (update(exec, graph, &info) != 0) return -1;
    return (now() - start) / calls;
}

// Microseconds a call of cuGraphExecKernelNodeSetParams.
double settings(int (*set)(void*, void*, void*), void* exec, void* node, void* parameters, int calls) {
    const double start = now();
    for (int i = 0; i < calls; ++i)
        if (set(exec, node, parameters) != 0) return -1;
    return (now() - start) / calls;
}

// Microseconds a call of cuGraphExecKernelNodeSetParams and of cuGraphLaunch, with two sets of parameters in turns.
double changed_launches(int (*set)(void*, void*, void*), int (*launch)(void*, void*), void* exec, void* node,
                        void* const* parameters, void* stream, int calls) {
    const double start = now();
    for (int i = 0; i < calls; ++i)
        if (set(exec, node, parameters[i % 2]) != 0 || launch(exec, stream) != 0) return -1;
    return (now() - start) / calls;
}

typedef int (*AddKernelNode)(void**, void*, void* const*, size_t, const void*);

// Makes a graph, a chain of `n` kernel nodes. Returns the status of the first call that failed, or 0.
int chain(int (*create)(void**, unsigned), AddKernelNode add, const void* parameters, int n, void** graph) {
    void* node = NULL;
    int status = create(graph, 0);
    for (int i = 0; i < n && status == 0; ++i) {
        void* const before = node;
        status = add(&node, *graph, &before, i != 0, parameters);
    }
    return status;
}

// Microseconds a node of building `repeats` chains of `n` kernel nodes, which are destroyed after the clock was read.
double chains(int (*create)(void**, unsigned), AddKernelNode add, int (*destroy)(void*), const void* parameters, int n,
              int repeats) {
    void* graphs[1024];
    const double start = now();
    for (int r = 0; r < repeats; ++r)
        if (chain(create, add, parameters, n, &graphs[r]) != 0) return -1;
    const double elapsed = now() - start;
    for (int r = 0; r < repeats; ++r) destroy(graphs[r]);
    return elapsed / repeats / n;
}
