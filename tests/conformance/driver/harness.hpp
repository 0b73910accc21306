// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Cases, their records, and the objects that cases build: graphs, nodes, memory, streams, events.
//
// A case calls the driver and writes every result as a line "label: answer" into its Record. The lines of the real
// driver are stored and compared. `must` is for preparatory calls: if one fails, the case ends with the line "setup
// failed".
#ifndef CONFORMANCE_HARNESS_HPP
#define CONFORMANCE_HARNESS_HPP

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "driver.hpp"

namespace conf {

class Record {
  public:
    // `sink` receives every line at once, so a crash loses only the lines after it.
    explicit Record(std::function<void(const std::string&)> sink) : sink_(std::move(sink)) {}
    void operator()(const std::string& label, CUresult result) { add(label, drv.name(result)); }
    void operator()(const std::string& label, const std::string& text) { add(label, text); }
    void operator()(const std::string& label, const char* text) { add(label, text); }
    void operator()(const std::string& label, bool value) { add(label, value ? "yes" : "no"); }
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T> || std::is_enum_v<T>>>
    void operator()(const std::string& label, T value) {
        if constexpr (std::is_enum_v<T>)
            add(label, std::to_string(static_cast<long long>(value)));
        else
            add(label, std::to_string(value));
    }
    void line(const std::string& text) { sink_(text); }

  private:
    void add(const std::string& label, const std::string& text) { sink_(label + ": " + text); }
    std::function<void(const std::string&)> sink_;
};

enum class Mode {
    kShared,  // in a process with other cases, primary context current
    kAlone,   // in a separate process, primary context current: leaves sticky errors or counts objects
    kBare,    // in a separate process, without a call of cuInit
};

struct Case {
    std::string name;
    Mode mode;
    std::function<void(Record&)> run;
};

class Cases {
  public:
    void add(const std::string& name, std::function<void(Record&)> run) { list_.push_back({name, Mode::kShared, run}); }
    void alone(const std::string& name, std::function<void(Record&)> run) {
        list_.push_back({name, Mode::kAlone, run});
    }
    void bare(const std::string& name, std::function<void(Record&)> run) { list_.push_back({name, Mode::kBare, run}); }
    const std::vector<Case>& list() const { return list_; }

  private:
    std::vector<Case> list_;
};

struct SetupFailed {
    std::string what;
};

void must(CUresult result, const char* what);

// Device 0 with its primary context current, and the library of kPtx. Both are made at their first use in a process.
CUdevice device();
CUcontext context();
CUlibrary library();
CUfunction kernel(const char* name);  // a CUkernel cast: good for launches, but not for the `func` of a kernel node

// ---- owned objects; destructors ignore the driver's result ----------------------------------------------------------

template <class Handle>
class Owned {
  public:
    Owned() = default;
    Owned(Handle handle, void (*destroy)(Handle)) : handle_(handle), destroy_(destroy) {}
    Owned(Owned&& other) noexcept : handle_(other.release()), destroy_(other.destroy_) {}
    Owned& operator=(Owned&&) = delete;
    ~Owned() {
        if (handle_ != Handle{}) destroy_(handle_);
    }
    operator Handle() const { return handle_; }  // NOLINT(google-explicit-constructor): stands for the handle in calls
    Handle release() {
        const Handle handle = handle_;
        handle_ = Handle{};
        return handle;
    }

  private:
    Handle handle_{};
    void (*destroy_)(Handle) = nullptr;
};

using Graph = Owned<CUgraph>;
using Exec = Owned<CUgraphExec>;
using Stream = Owned<CUstream>;
using Event = Owned<CUevent>;

Graph new_graph();
Graph new_clone(CUgraph graph);
Exec new_exec(CUgraph graph, unsigned long long flags = 0);
Stream new_stream(unsigned flags = CU_STREAM_NON_BLOCKING);
Event new_event(unsigned flags = CU_EVENT_DEFAULT);

// Waits until copied data has arrived. A driver may return from a copy before the data of pageable memory has arrived
// on the device. Streams that do not wait for the legacy default stream could then run too early.
void wait_for_what_was_copied();

// Device memory of ints, filled with one value.
class Ints {
  public:
    explicit Ints(size_t count = 1, int value = 0);
    Ints(const Ints&) = delete;
    ~Ints();
    operator CUdeviceptr() const { return pointer_; }  // NOLINT(google-explicit-constructor): as Owned
    int get(size_t index = 0) const;
    void set(int value, size_t index = 0);

  private:
    CUdeviceptr pointer_ = 0;
};

// Pinned host ints, zeroed.
class Pinned {
  public:
    explicit Pinned(size_t count = 1);
    Pinned(const Pinned&) = delete;
    ~Pinned();
    volatile int& operator[](size_t index) { return static_cast<volatile int*>(pointer_)[index]; }
    void* data() const { return pointer_; }
    CUdeviceptr address() const { return reinterpret_cast<CUdeviceptr>(pointer_); }

  private:
    void* pointer_ = nullptr;
};

// ---- nodes: each function throws SetupFailed if the driver returns an error -----------------------------------------

using Nodes = std::vector<CUgraphNode>;

// Returns kernel parameters. `function` is a CUkernel cast, and goes to the field `kern`.
CUDA_KERNEL_NODE_PARAMS kernel_params(CUfunction function, void** arguments = nullptr, unsigned grid = 1,
                                      unsigned block = 1);
CUDA_MEMSET_NODE_PARAMS memset_params(CUdeviceptr dst, unsigned value, unsigned element = 4, size_t width = 1,
                                      size_t height = 1, size_t pitch = 0);
CUDA_MEMCPY3D copy_params(CUdeviceptr dst, CUdeviceptr src, size_t bytes);    // device to device
CUDA_MEMCPY3D copy_to_host_params(void* dst, CUdeviceptr src, size_t bytes);  // device to host
CUDA_MEM_ALLOC_NODE_PARAMS alloc_params(size_t bytes);
CUgraphNodeParams conditional_params(CUgraphConditionalHandle handle, CUgraphConditionalNodeType type, unsigned size);

CUgraphNode empty_node(CUgraph graph, const Nodes& after = {});
CUgraphNode plain_kernel_node(CUgraph graph, const Nodes& after = {}, const char* name = "empty");
CUgraphNode set_int_node(CUgraph graph, CUdeviceptr target, int value, const Nodes& after = {});
CUgraphNode mul_add_node(CUgraph graph, CUdeviceptr target, int factor, int term, const Nodes& after = {});
CUgraphNode set_condition_node(CUgraph graph, CUgraphConditionalHandle handle, unsigned value, const Nodes& after = {});
CUgraphNode count_up_node(CUgraph graph, CUdeviceptr counter, CUgraphConditionalHandle handle, unsigned end,
                          const Nodes& after = {});
CUgraphNode wait_flag_node(CUgraph graph, CUdeviceptr flag, const Nodes& after = {});
CUgraphNode memset_node(CUgraph graph, CUdeviceptr dst, unsigned value, const Nodes& after = {});
CUgraphNode copy_node(CUgraph graph, CUdeviceptr dst, CUdeviceptr src, size_t bytes, const Nodes& after = {});
CUgraphNode host_node(CUgraph graph, CUhostFn function, void* data, const Nodes& after = {});
CUgraphNode child_node(CUgraph graph, CUgraph child, const Nodes& after = {});
CUgraphNode record_node(CUgraph graph, CUevent event, const Nodes& after = {});
CUgraphNode wait_node(CUgraph graph, CUevent event, const Nodes& after = {});
CUgraphNode alloc_node(CUgraph graph, size_t bytes, CUdeviceptr* address, const Nodes& after = {});
CUgraphNode free_node(CUgraph graph, CUdeviceptr address, const Nodes& after = {});

CUgraphConditionalHandle new_handle(CUgraph graph);                          // no default
CUgraphConditionalHandle new_handle(CUgraph graph, unsigned default_value);  // CU_GRAPH_COND_ASSIGN_DEFAULT

struct Conditional {
    CUgraphNode node;
    std::vector<CUgraph> bodies;
};
Conditional conditional_node(CUgraph graph, CUgraphConditionalHandle handle, CUgraphConditionalNodeType type,
                             unsigned size, const Nodes& after = {});

// ---- common questions -----------------------------------------------------------------------------------------------

// Instantiates with cuGraphInstantiateWithParams. Records the status under "label", the result_out, and whether there
// is an error node.
void ask_instantiate(Record& r, const std::string& label, CUgraph graph, unsigned long long flags = 0);
// Launches on a new stream and waits. Records nothing.
void run(CUgraphExec exec);
void run_graph(CUgraph graph);
size_t node_count(CUgraph graph);
size_t edge_count(CUgraph graph);
// Waits at most two seconds until `done` returns true. Returns its last result.
bool eventually(const std::function<bool()>& done);
// An address that no allocator has returned, canonical and 256-byte aligned.
constexpr CUdeviceptr kGarbage = 0x123456700;

}  // namespace conf

#endif
