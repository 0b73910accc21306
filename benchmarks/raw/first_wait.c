// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The contestant in C of benchmarks/first_wait.py: prints the nanoseconds from cg_graph_load to the end of the first
// wait, with the context present.
#define _POSIX_C_SOURCE 199309L
#include <cuda_graphs_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void check(cg_status status) {
    if (status == CG_OK) return;
    fprintf(stderr, "%s\n", cg_last_error());
    exit(1);
}

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int argc, char** argv) {
    const int64_t one = 1;
    cg_array* context = NULL;
    cg_graph* graph = NULL;
    cg_exec* exec = NULL;
    if (argc < 2) return 2;
    check(cg_array_create(CG_U8, 1, &one, &context));  // opens the driver, and makes the context
    const long long start = now();
    check(cg_graph_load(argv[1], NULL, 0, &graph));
    check(cg_graph_instantiate(graph, &exec));
    check(cg_exec_launch(exec, NULL));
    check(cg_exec_wait(exec));
    printf("%lld\n", now() - start);
    return 0;
}
