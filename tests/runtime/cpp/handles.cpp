// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Laws of handles, for a file of examples/runtime/save.py: each order of releases works, also while launches run, on
// several threads; wrong calls are refused with words and change nothing.
#include <cuda_graphs_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

#define CHECK(condition)                                                                  \
    do {                                                                                  \
        if (condition) break;                                                             \
        std::printf("%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, cg_last_error()); \
        std::exit(1);                                                                     \
    } while (false)

struct Handles {
    cg_graph* graph = nullptr;
    cg_exec* exec = nullptr;
    cg_array* start = nullptr;
    cg_array* end = nullptr;

    explicit Handles(const char* path) {
        CHECK(cg_graph_load(path, nullptr, 0, &graph) == CG_OK);
        CHECK(cg_graph_default(graph, "start", &start) == CG_OK);
        CHECK(cg_graph_default(graph, "end", &end) == CG_OK);
        CHECK(cg_graph_instantiate(graph, &exec) == CG_OK);
        const std::vector<float> u = ends(3.0F);
        CHECK(cg_array_write(start, u.data(), u.size() * sizeof(float)) == CG_OK);
    }

    std::vector<float> ends(float value) const {
        std::size_t bytes = 0;
        CHECK(cg_array_get_bytes(start, &bytes) == CG_OK);
        std::vector<float> u(bytes / sizeof(float));
        u.front() = u.back() = value;
        return u;
    }

    void release(int which) {
        if (which == 0) cg_graph_release(graph);
        if (which == 1) cg_exec_release(exec);
        if (which == 2) cg_array_release(start);
        if (which == 3) cg_array_release(end);
    }
};

// 24 orders, before the launch has ended and after.
void release_in_each_order(const char* path) {
    std::vector<int> order{0, 1, 2, 3};
    do {
        for (const bool waits : {false, true}) {
            Handles handles(path);
            CHECK(cg_exec_launch(handles.exec, nullptr) == CG_OK);
            if (waits) CHECK(cg_exec_wait(handles.exec) == CG_OK);
            for (const int each : order) handles.release(each);
        }
    } while (std::next_permutation(order.begin(), order.end()));
}

void use_what_is_left(const char* path) {
    Handles handles(path);
    cg_graph_release(handles.graph);
    CHECK(cg_exec_launch(handles.exec, nullptr) == CG_OK);
    CHECK(cg_exec_wait(handles.exec) == CG_OK);
    cg_exec_release(handles.exec);
    std::vector<float> u = handles.ends(0);
    CHECK(cg_array_read(handles.end, u.data(), u.size() * sizeof(float)) == CG_OK);
    for (const float each : u) CHECK(each > 2.9F && each < 3.1F);
    handles.release(2);
    handles.release(3);
}

void run_threads(const char* path) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([path] {
            for (int round = 0; round < 3; ++round) use_what_is_left(path);
        });
    for (std::thread& each : threads) each.join();
}

void refuse(cg_status status, cg_status wanted, const char* word) {
    CHECK(status == wanted);
    CHECK(std::strstr(cg_last_error(), word) != nullptr);
}

void refuse_wrong_calls(const char* path) {
    Handles handles(path);
    cg_graph* none = nullptr;
    cg_array* array = nullptr;
    cg_parameter parameter;
    const std::int64_t other = 7, negative = -1;
    refuse(cg_graph_load(nullptr, nullptr, 0, &none), CG_ERROR_INVALID_VALUE, "path");
    refuse(cg_graph_load(path, nullptr, 1, &none), CG_ERROR_INVALID_VALUE, "callbacks");
    refuse(cg_graph_load("/missing", nullptr, 0, &none), CG_ERROR_FILE, "/missing");
    refuse(cg_graph_load_memory("x", 1, nullptr, 0, &none), CG_ERROR_DAMAGED, "no zip file");
    CHECK(none == nullptr);
    refuse(cg_graph_get_parameter(handles.graph, 99, &parameter), CG_ERROR_INVALID_VALUE, "index");
    refuse(cg_graph_find_parameter(handles.graph, "middle", &parameter), CG_ERROR_NOT_FOUND, "start, end");
    refuse(cg_graph_default(handles.graph, "rate", &array), CG_ERROR_INVALID_VALUE, "rate");
    refuse(cg_array_create(99, 1, &other, &array), CG_ERROR_INVALID_VALUE, "type");
    refuse(cg_array_create(CG_F32, 9, &other, &array), CG_ERROR_INVALID_VALUE, "ndim");
    refuse(cg_array_create(CG_F32, 1, &negative, &array), CG_ERROR_INVALID_VALUE, "extent");
    refuse(cg_array_write(handles.start, &other, 3), CG_ERROR_INVALID_VALUE, "3");
    refuse(cg_exec_set_int(handles.exec, "start", 3), CG_ERROR_INVALID_VALUE, "start");
    refuse(cg_exec_set_array(handles.exec, "rate", handles.start), CG_ERROR_INVALID_VALUE, "rate");
    refuse(cg_exec_launch(nullptr, nullptr), CG_ERROR_INVALID_VALUE, "exec");
    // Nothing is made where there is no place for it: the leak checker sees the rest.
    refuse(cg_graph_default(handles.graph, "start", nullptr), CG_ERROR_INVALID_VALUE, "array");
    refuse(cg_graph_instantiate(handles.graph, nullptr), CG_ERROR_INVALID_VALUE, "exec");
    refuse(cg_array_create(CG_F32, 1, &other, nullptr), CG_ERROR_INVALID_VALUE, "array");

    // Values that do not fit are refused by the launch, and forgotten.
    CHECK(cg_array_create(CG_F32, 1, &other, &array) == CG_OK);
    CHECK(cg_exec_set_array(handles.exec, "start", array) == CG_OK);
    refuse(cg_exec_launch(handles.exec, nullptr), CG_ERROR_INVALID_VALUE, "start");
    CHECK(cg_exec_launch(handles.exec, nullptr) == CG_OK);
    CHECK(cg_exec_wait(handles.exec) == CG_OK);
    cg_array_release(array);
    cg_array_release(nullptr);
    for (int each = 0; each < 4; ++each) handles.release(each);
}

}  // namespace

int main(int argc, char** argv) {
    CHECK(argc == 2);
    CHECK(cg_abi_version() == CG_ABI_VERSION);
    release_in_each_order(argv[1]);
    use_what_is_left(argv[1]);
    run_threads(argv[1]);
    refuse_wrong_calls(argv[1]);
    std::puts("all laws hold");
    return 0;
}
