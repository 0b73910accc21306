// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The contestant in C of benchmarks/first_wait.py: prints the nanoseconds of cg_graph_load, cg_graph_instantiate,
// cg_exec_launch and cg_exec_wait, with the context and the memory pool of the device present.
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
    long long times[5] = {now()};
    check(cg_graph_load(argv[1], NULL, 0, &graph));
    times[1] = now();
    check(cg_graph_instantiate(graph, &exec));
    times[2] = now();
    check(cg_exec_launch(exec, NULL));
    times[3] = now();
    check(cg_exec_wait(exec));
    times[4] = now();
    for (int part = 0; part < 4; ++part) printf("%lld ", times[part + 1] - times[part]);
    return 0;
}
