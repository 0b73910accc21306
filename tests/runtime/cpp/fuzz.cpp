// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads files whose names come in lines, and answers each with a line: "loaded", or "refused STATUS REASON". Callbacks
// are there for the names that follow the program's name. tests/fuzz/saved_in_c.py and the tests of this folder use it.
#include <cuda_graphs_runtime.h>

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

namespace {

void do_nothing(void*) {}

std::string in_one_line(std::string text) {
    for (char& c : text)
        if (c == '\n' || c == '\r') c = ' ';
    return text;
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<cg_callback> callbacks;
    for (int i = 1; i < argc; ++i) callbacks.push_back({argv[i], do_nothing, nullptr});
    for (std::string path; std::getline(std::cin, path);) {
        cg_graph* graph = nullptr;
        const cg_status status = cg_graph_load(path.c_str(), callbacks.data(), callbacks.size(), &graph);
        const std::string reason = status == CG_OK ? "" : in_one_line(cg_last_error());
        cg_graph_release(graph);
        std::cout << (status == CG_OK ? "loaded" : "refused " + std::to_string(status) + " " + reason) << std::endl;
    }
    return 0;
}
