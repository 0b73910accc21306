// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches the graph of save.py without Python, twice at the same time and with arrays of its own: heat_cpp heat.cgg. It
// prints the temperatures of two rods side by side.
#include <cuda_graphs_runtime.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

void check(cg_status status) {
    if (status != CG_OK) throw std::runtime_error(cg_last_error());
}

// Owns a handle.
template <class Handle, void (*Release)(Handle*)>
struct Deleter {
    void operator()(Handle* handle) const { Release(handle); }
};
using Graph = std::unique_ptr<cg_graph, Deleter<cg_graph, cg_graph_release>>;
using Exec = std::unique_ptr<cg_exec, Deleter<cg_exec, cg_exec_release>>;
using Array = std::unique_ptr<cg_array, Deleter<cg_array, cg_array_release>>;

Graph load(const char* path) {
    cg_graph* made = nullptr;
    check(cg_graph_load(path, nullptr, 0, &made));
    return Graph(made);
}

Exec instantiate(const Graph& graph) {
    cg_exec* made = nullptr;
    check(cg_graph_instantiate(graph.get(), &made));
    return Exec(made);
}

Array array_like(const Graph& graph, const char* name) {
    cg_parameter like{};
    check(cg_graph_find_parameter(graph.get(), name, &like));
    cg_array* made = nullptr;
    check(cg_array_create(like.type, like.ndim, like.shape, &made));
    return Array(made);
}

// A rod whose ends are kept at two temperatures. A graph with a loop has one executable, so each rod loads its own.
class Rod {
  public:
    Rod(const char* path, float left, float right) : graph_(load(path)), exec_(instantiate(graph_)) {
        std::size_t bytes = 0;
        check(cg_array_get_bytes(start_.get(), &bytes));
        std::vector<float> u(bytes / sizeof(float));
        u.front() = left;
        u.back() = right;
        check(cg_array_write(start_.get(), u.data(), bytes));
        check(cg_exec_set_array(exec_.get(), "start", start_.get()));
        check(cg_exec_set_array(exec_.get(), "end", end_.get()));
        check(cg_exec_launch(exec_.get(), nullptr));
    }

    std::vector<float> wait() const {
        check(cg_exec_wait(exec_.get()));
        std::size_t bytes = 0;
        check(cg_array_get_bytes(end_.get(), &bytes));
        std::vector<float> u(bytes / sizeof(float));
        check(cg_array_read(end_.get(), u.data(), bytes));
        return u;
    }

  private:
    Graph graph_;
    Array start_ = array_like(graph_, "start"), end_ = array_like(graph_, "end");
    Exec exec_;
};

}  // namespace

int main(int argc, char** argv) try {
    if (argc < 2) throw std::runtime_error("give a file of save.py");
    const Rod first(argv[1], 0.0F, 1.0F), second(argv[1], 2.0F, -2.0F);
    const std::vector<float> left = first.wait(), right = second.wait();
    for (std::size_t i = 0; i < left.size(); ++i) std::printf("%.6f %.6f\n", left[i], right[i]);
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "heat: %s\n", error.what());
    return 1;
}
