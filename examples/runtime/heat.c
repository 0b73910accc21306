// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches the graph of save.py without Python: heat_c heat.cgg [rate]. It prints the parameters, and the temperatures
// of a rod whose ends are kept at 0 and 1.
#include <cuda_graphs_runtime.h>
#include <stdio.h>
#include <stdlib.h>

static void check(cg_status status) {
    if (status == CG_OK) return;
    fprintf(stderr, "heat: %s\n", cg_last_error());
    exit(1);
}

static void list_parameters(const cg_graph* graph) {
    size_t count = 0;
    check(cg_graph_count_parameters(graph, &count));
    for (size_t i = 0; i < count; ++i) {
        cg_parameter parameter;
        check(cg_graph_get_parameter(graph, i, &parameter));
        printf("%s%s%s: %d dimensions, %llu bytes\n", parameter.roles & CG_ROLE_INPUT ? "input " : "",
               parameter.roles & CG_ROLE_OUTPUT ? "output " : "", parameter.name, parameter.ndim,
               (unsigned long long)parameter.bytes);
    }
}

int main(int argc, char** argv) {
    cg_graph* graph = NULL;
    cg_exec* exec = NULL;
    cg_array *start = NULL, *end = NULL;
    size_t bytes = 0;
    if (argc < 2 || cg_abi_version() != CG_ABI_VERSION) return 2;

    check(cg_graph_load(argv[1], NULL, 0, &graph));
    list_parameters(graph);
    check(cg_graph_default(graph, "start", &start));
    check(cg_graph_default(graph, "end", &end));
    check(cg_graph_instantiate(graph, &exec));
    cg_graph_release(graph);  // the executable keeps what it needs

    check(cg_array_get_bytes(start, &bytes));
    size_t cells = bytes / sizeof(float);
    float* u = calloc(cells, sizeof(float));
    if (u == NULL) return 2;
    u[cells - 1] = 1.0F;
    check(cg_array_write(start, u, bytes));

    if (argc > 2) check(cg_exec_set_float(exec, "rate", atof(argv[2])));
    check(cg_exec_launch(exec, NULL));
    check(cg_exec_wait(exec));
    check(cg_array_read(end, u, bytes));
    for (size_t i = 0; i < cells; ++i) printf("%.6f\n", u[i]);

    free(u);
    cg_array_release(start);
    cg_array_release(end);
    cg_exec_release(exec);
    return 0;
}
