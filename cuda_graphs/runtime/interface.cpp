// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The functions of cuda_graphs_runtime.h. Each is one call of `guard`, which takes the lock of the core and turns
// failures into a status and a text.
#include <algorithm>
#include <cstring>
#include <new>

#include "core/driver/table.hpp"
#include "core/graphs/executable.hpp"
#include "core/handles/deferred.hpp"
#include "core/handles/gil.hpp"
#include "device.hpp"
#include "loader/device.hpp"
#include "loader/loading.hpp"
#include "loader/memory.hpp"
#include "loader/parameters.hpp"

#define CG_API extern "C" __attribute__((visibility("default")))

namespace cgr {

struct LoadedGraph {
    cg::ContextHandle context;
    cg::NodeHandle definition;  // the entry node
    std::vector<LoadedParameter> parameters;

    // Returns the number of a parameter. Raises a Failure with all names for an unknown one.
    std::size_t find(const char* name) const;
};

std::size_t LoadedGraph::find(const char* name) const {
    std::string known;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (parameters[i].parameter->name == name) return i;
        known += (known.empty() ? "" : ", ") + parameters[i].parameter->name;
    }
    throw Failure(CG_ERROR_NOT_FOUND, std::string("the graph has no parameter '") + name +
                                          "'; it has: " + (known.empty() ? "none" : known));
}

}  // namespace cgr

// The handles of the header. Each is a copy of handles of the core, which keep what they need.
struct cg_graph {
    cgr::LoadedGraph loaded;
};

struct cg_array {
    cg::ContextHandle context;
    cg::ParameterType type;
    cg::ParameterValue value;  // its owner keeps the memory
    std::size_t bytes;
};

struct cg_exec {
    cgr::LoadedGraph loaded;  // its parameters; the definition is kept too, as its nodes name those of the executable
    cg::GraphExecHandle exec;
    cg::StreamHandle stream;                   // of launches without a stream
    cg::EventHandle end;                       // recorded behind the last launch
    std::vector<cg::ParameterChange> changes;  // for the next launch
};

namespace cgr {
namespace {

thread_local std::string last_error;

cg_status note(cg_status status, const char* text) noexcept {
    try {
        last_error = text;
    } catch (const std::bad_alloc&) {
        last_error.clear();
    }
    return status;
}

// Runs the body of a function of the header.
template <class Body>
cg_status guard(Body body) noexcept {
    try {
        const cg::GilAcquire locked;
        body();
        cg::drain_deferred();
        return CG_OK;
    } catch (const Failure& failure) {
        return note(failure.status, failure.what());
    } catch (const std::bad_alloc&) {
        return note(CG_ERROR_OUT_OF_MEMORY, "there is no memory left");
    } catch (const std::exception& error) {
        return note(CG_ERROR_INVALID_VALUE, error.what());
    }
}

template <class T>
T& given(T* pointer, const char* name) {
    if (pointer == nullptr) throw Failure(CG_ERROR_INVALID_VALUE, std::string(name) + " must not be NULL");
    return *pointer;
}

template <class Handle>
void release(Handle* handle) noexcept {
    if (handle == nullptr) return;
    const cg::GilAcquire locked;
    delete handle;
    cg::drain_deferred();
}

// ---- graphs

std::vector<cg_callback> read_callbacks(const cg_callback* callbacks, std::size_t count) {
    std::vector<cg_callback> found;
    for (std::size_t i = 0; i < count; ++i) {
        found.push_back((&given(callbacks, "callbacks"))[i]);
        given(found.back().name, "the name of a callback");
        if (found.back().function == nullptr)
            throw Failure(CG_ERROR_INVALID_VALUE, std::string("callback ") + found.back().name + " has no function");
    }
    return found;
}

// The program of a user of the header: what it gives to cg_graph_load.
class Caller : public Program {
  public:
    explicit Caller(const std::vector<cg_callback>& given) : given_(given) {}

    bool is_on_host() const override { return driver_kind() == CG_DRIVER_HOST; }

    void bind_callbacks(const std::vector<std::string>& names) override {
        std::string missing;
        for (const std::string& name : names) {
            const auto match =
                std::find_if(given_.begin(), given_.end(), [&](const cg_callback& each) { return name == each.name; });
            if (match == given_.end())
                missing += (missing.empty() ? "" : ", ") + name;
            else
                bound_.push_back(*match);
        }
        if (!missing.empty())
            throw Failure(
                CG_ERROR_INVALID_VALUE,
                "the file calls functions of the host, which are missing: give callbacks with the names " + missing);
        for (const cg_callback& each : given_)
            if (std::find(names.begin(), names.end(), each.name) == names.end())
                throw Failure(CG_ERROR_INVALID_VALUE, std::string("the file calls no function ") + each.name);
    }

    void read_callback(std::size_t number, const std::string*, cg::NodeSpec& spec) override {
        spec.params.host.fn = bound_[number].function;
        spec.params.host.userData = bound_[number].data;
    }

    Counter make_counter(std::int64_t) override {
        constexpr std::size_t kBytes = 16;
        return {allocate(Space::kDevice, kBytes), {}};
    }

    MakeError make_error() const override {
        return [](const char* text) -> cg::Opaque { return std::make_shared<std::string>(text); };
    }

  private:
    const std::vector<cg_callback>& given_;
    std::vector<cg_callback> bound_;  // in the order of the file
};

LoadedGraph load_definition(const cg::ContextHandle& context, std::string_view file, Program& program) {
    LoadedGraph found;
    found.context = context;
    found.definition = cg::create_graph();
    if (!found.definition) fail_noted("create a graph");
    found.parameters = load(found.definition, file, program).parameters;
    return found;
}

// `name` is the file's, for messages; empty for a file in memory.
void load_graph(std::string_view file, const std::string& name, const cg_callback* callbacks, std::size_t count,
                cg_graph** graph) {
    const std::vector<cg_callback> bound = read_callbacks(callbacks, count);
    const cg::ContextHandle context = context_of_thread();
    const Current current(context);
    Caller caller(bound);
    try {
        *graph = new cg_graph{load_definition(context, file, caller)};
    } catch (const Failure& failure) {
        throw Failure(failure.status, name.empty() ? failure.what() : name + ": " + failure.what());
    }
}

// The types of the header, in their order. Arrays have no elements of the last one.
constexpr const char* kTypes[] = {"i8",  "i16", "i32",  "i64", "u8",  "u16",  "u32",
                                  "u64", "f16", "bf16", "f32", "f64", "bool", "pointer"};

cg_type number_of(const cg::ValueType& type) {
    const auto is_it = [&](std::string_view name) { return name == type.name; };
    return static_cast<cg_type>(std::find_if(std::begin(kTypes), std::end(kTypes), is_it) - std::begin(kTypes));
}

const cg::ValueType& element_type(cg_type number) {
    if (number < 0 || number >= CG_POINTER)
        throw Failure(CG_ERROR_INVALID_VALUE, "type must be CG_I8 to CG_BOOL, got " + std::to_string(number));
    return *cg::find_value_type(kTypes[number]);
}

void describe(const LoadedParameter& loaded, cg_parameter* out) {
    const cg::NamedParameter& parameter = *loaded.parameter;
    cg_parameter found{};
    found.name = parameter.name.c_str();
    found.type = number_of(*parameter.type.scalar);
    found.ndim = parameter.type.ndim;
    found.element_ndim = static_cast<std::int32_t>(parameter.type.inner.size());
    for (std::size_t i = 0; i < parameter.type.inner.size() && i < 2; ++i)
        found.element_shape[i] = parameter.type.inner[i];
    found.roles = loaded.roles;
    found.has_default = parameter.initial.known ? 1 : 0;
    found.bytes = parameter.type.scalar->size;
    if (parameter.type.is_array()) found.bytes = 0;
    if (parameter.type.is_array() && parameter.initial.known) {
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(found.ndim); ++axis)
            found.shape[axis] = parameter.initial.extents[axis];
        found.bytes = cg::bytes_of(parameter.type, parameter.initial);
    }
    *out = found;
}

// ---- arrays

std::vector<std::int64_t> read_shape(std::int32_t ndim, const std::int64_t* shape) {
    constexpr std::int64_t kMostExtent = 0x7fffffff;
    if (ndim < 0 || ndim > CG_MOST_AXES)
        throw Failure(CG_ERROR_INVALID_VALUE, "ndim must be from 0 to 8, got " + std::to_string(ndim));
    std::vector<std::int64_t> found;
    for (std::int32_t axis = 0; axis < ndim; ++axis) {
        found.push_back((&given(shape, "shape"))[axis]);
        if (found.back() < 1 || found.back() > kMostExtent)
            throw Failure(CG_ERROR_INVALID_VALUE,
                          "an extent must be from 1 to 2**31 - 1, got " + std::to_string(found.back()));
    }
    return found;
}

void copy_extents(const std::vector<std::int64_t>& shape, cg::ParameterValue& to) {
    for (std::size_t axis = 0; axis < shape.size(); ++axis) to.extents[axis] = static_cast<std::int32_t>(shape[axis]);
}

cg_array* create_array(cg_type type, std::int32_t ndim, const std::int64_t* extents) {
    cg::ParameterType made;
    made.scalar = &element_type(type);
    made.ndim = ndim;
    const std::vector<std::int64_t> shape = read_shape(ndim, extents);
    const auto bytes = bytes_of_array(made, shape);
    if (!bytes) throw Failure(CG_ERROR_INVALID_VALUE, "the array is larger than memory can be");
    const cg::ContextHandle context = context_of_thread();
    const Current current(context);
    cg::ParameterValue value;
    const cg::PointerHandle memory = allocate(Space::kDevice, *bytes);
    check(without_lock(cg::driver().cuCtxSynchronize), "fill an array with zeros");
    value.bits = *memory;
    value.known = true;
    value.owner = memory;
    copy_extents(shape, value);
    return new cg_array{context, made, value, *bytes};
}

// ---- executables

// Raises the failure that a problem of the core describes.
[[noreturn]] void fail_with(const cg::ParameterProblem& problem) {
    using cg::ParameterFault;
    const std::string name = problem.parameter ? "parameter '" + problem.parameter->name + "'" : "a parameter";
    const auto refuse = [&](const char* why) { return Failure(CG_ERROR_INVALID_VALUE, name + " " + why); };
    switch (problem.fault) {
        case ParameterFault::kMissing:
            throw refuse("has neither a default nor a value");
        case ParameterFault::kPageable:
            throw refuse("is memory that the driver does not know, and a copy uses it");
        case ParameterFault::kExtent:
            throw refuse("is the size or count of a node and must be 1 or more");
        case ParameterFault::kLength:
            throw refuse("has a value for which a copy or fill would go beyond the end of an operand");
        case ParameterFault::kShape:
            throw refuse("takes arrays of the shape of its default only");
        case ParameterFault::kRefused:
            throw Failure(CG_ERROR_INVALID_VALUE,
                          problem.why ? *static_cast<const std::string*>(problem.why.get()) : name + " is refused");
        default:
            check(problem.status, "set " + name);
            throw refuse("cannot be set");
    }
}

cg_exec* instantiate_graph(const LoadedGraph& loaded) {
    const Current current(loaded.context);
    auto made = std::make_unique<cg_exec>();
    made->loaded = loaded;
    CUDA_GRAPH_INSTANTIATE_PARAMS params{};
    CUresult status = CUDA_SUCCESS;
    made->exec = cg::instantiate(loaded.definition, &params, {}, &status);
    if (!made->exec) {
        check(status, "instantiate the graph");
        throw Failure(CG_ERROR_DRIVER, "cannot instantiate the graph: the driver's result is " +
                                           std::to_string(static_cast<int>(params.result_out)));
    }
    made->stream = cg::create_stream(loaded.context, CU_STREAM_NON_BLOCKING, 0);
    made->end = cg::create_event(loaded.context, false, true);
    if (!made->stream || !made->end) fail_noted("create the stream of an executable");
    return made.release();
}

// Keeps a value for the next launch.
template <class Encode>
void set_value(cg_exec* exec, const char* name, Encode encode) {
    cg_exec& to = given(exec, "exec");
    const std::size_t number = to.loaded.find(&given(name, "name"));
    const cg::ParameterRef& parameter = to.loaded.parameters[number].parameter;
    cg::ParameterChange change;
    change.value = encode(*parameter);
    change.parameter = &parameter;
    change.index = number;
    auto known = std::find_if(to.changes.begin(), to.changes.end(),
                              [&](const cg::ParameterChange& each) { return each.parameter == change.parameter; });
    if (known == to.changes.end())
        to.changes.push_back(std::move(change));
    else
        *known = std::move(change);
}

template <class Number>
void set_number(cg_exec* exec, const char* name, Number number,
                bool (*encode)(const cg::ValueType&, Number, cg::ParameterValue*)) {
    set_value(exec, name, [&](const cg::NamedParameter& parameter) {
        cg::ParameterValue value;
        if (parameter.type.is_memory() || !encode(*parameter.type.scalar, number, &value))
            throw Failure(CG_ERROR_INVALID_VALUE, "parameter '" + parameter.name + "' of type " +
                                                      parameter.type.scalar->name + " does not take " +
                                                      std::to_string(number));
        return value;
    });
}

cg::ParameterValue address_value(const cg::NamedParameter& parameter, std::uint64_t address,
                                 const std::int64_t* shape) {
    if (!parameter.type.is_memory())
        throw Failure(CG_ERROR_INVALID_VALUE, "parameter '" + parameter.name + "' is a number");
    cg::ParameterValue value;
    value.bits = address;
    value.known = true;
    if (!parameter.type.is_array()) return value;
    if (shape != nullptr)
        copy_extents(read_shape(parameter.type.ndim, shape), value);
    else if (parameter.initial.known)
        value.extents = parameter.initial.extents;
    else
        throw Failure(CG_ERROR_INVALID_VALUE, "parameter '" + parameter.name + "' has no default shape: give shape");
    return value;
}

void launch(cg_exec& exec, void* stream) {
    const Current current(exec.loaded.context);
    const cg::StreamHandle on = stream == nullptr ? exec.stream : cg::create_stream_ref(static_cast<CUstream>(stream));
    if (!on) fail_noted("use the stream");
    cg::ParameterProblem problem;
    cg::ParameterChanges changes;
    changes.swap(exec.changes);
    CUresult status = CUDA_SUCCESS;
    {
        const cg::GilRelease released;
        status = cg::launch(exec.exec, on, changes, &problem);
    }
    if (problem.fault != cg::ParameterFault::kNone) fail_with(problem);
    check(status, "launch the graph");
    check(without_lock(cg::driver().cuEventRecord, *exec.end, *on), "record the end of a launch");
}

// An event that was never recorded counts as reached (cuda.h, cuEventSynchronize).
void wait(const cg_exec& exec) {
    const Current current(exec.loaded.context);
    const cg::EventHandle end = exec.end;  // another thread may release the executable
    check(without_lock(cg::driver().cuEventSynchronize, *end), "wait for the graph");
}

// Copies the elements of an array. Another thread may release the array meanwhile.
template <class Copy>
void copy(const cg_array& array, std::size_t bytes, const char* attempt, Copy call) {
    if (bytes != array.bytes)
        throw Failure(CG_ERROR_INVALID_VALUE,
                      "the array has " + std::to_string(array.bytes) + " bytes, got " + std::to_string(bytes));
    const Current current(array.context);
    const cg::Opaque memory = array.value.owner;
    check(without_lock(call, static_cast<CUdeviceptr>(array.value.bits)), attempt);
}

}  // namespace
}  // namespace cgr

using namespace cgr;

CG_API int32_t cg_abi_version(void) {
    return CG_ABI_VERSION;
}

CG_API const char* cg_last_error(void) {
    return last_error.c_str();
}

CG_API cg_status cg_open_driver(cg_driver kind, const char* host_library) {
    return guard([&] { open_driver(kind, host_library); });
}

CG_API cg_status cg_driver_kind(cg_driver* kind) {
    return guard([&] { given(kind, "kind") = driver_kind(); });
}

CG_API cg_status cg_graph_load(const char* path, const cg_callback* callbacks, size_t count, cg_graph** graph) {
    return guard([&] {
        const std::string name = &given(path, "path");
        load_graph(read_file(name), name, callbacks, count, &given(graph, "graph"));
    });
}

CG_API cg_status cg_graph_load_memory(const void* data, size_t bytes, const cg_callback* callbacks, size_t count,
                                      cg_graph** graph) {
    return guard([&] {
        const std::string_view file(&given(static_cast<const char*>(data), "data"), bytes);
        load_graph(file, "", callbacks, count, &given(graph, "graph"));
    });
}

CG_API cg_status cg_graph_count_parameters(const cg_graph* graph, size_t* count) {
    return guard([&] { given(count, "count") = given(graph, "graph").loaded.parameters.size(); });
}

CG_API cg_status cg_graph_get_parameter(const cg_graph* graph, size_t index, cg_parameter* parameter) {
    return guard([&] {
        const auto& all = given(graph, "graph").loaded.parameters;
        if (index >= all.size())
            throw Failure(CG_ERROR_INVALID_VALUE,
                          "index must be below " + std::to_string(all.size()) + ", got " + std::to_string(index));
        describe(all[index], &given(parameter, "parameter"));
    });
}

CG_API cg_status cg_graph_find_parameter(const cg_graph* graph, const char* name, cg_parameter* parameter) {
    return guard([&] {
        const LoadedGraph& loaded = given(graph, "graph").loaded;
        describe(loaded.parameters[loaded.find(&given(name, "name"))], &given(parameter, "parameter"));
    });
}

CG_API cg_status cg_graph_default(const cg_graph* graph, const char* name, cg_array** array) {
    return guard([&] {
        const LoadedGraph& loaded = given(graph, "graph").loaded;
        const cg::NamedParameter& found = *loaded.parameters[loaded.find(&given(name, "name"))].parameter;
        if (!found.type.is_array() || !found.initial.known)
            throw Failure(CG_ERROR_INVALID_VALUE, "parameter '" + found.name + "' has no array as its default");
        cg_array*& out = given(array, "array");
        out = new cg_array{loaded.context, found.type, found.initial, cg::bytes_of(found.type, found.initial)};
    });
}

CG_API cg_status cg_graph_instantiate(const cg_graph* graph, cg_exec** exec) {
    return guard([&] {
        cg_exec*& out = given(exec, "exec");
        out = instantiate_graph(given(graph, "graph").loaded);
    });
}

CG_API cg_status cg_array_create(cg_type type, int32_t ndim, const int64_t* shape, cg_array** array) {
    return guard([&] {
        cg_array*& out = given(array, "array");
        out = create_array(type, ndim, shape);
    });
}

CG_API cg_status cg_array_write(const cg_array* array, const void* data, size_t bytes) {
    return guard([&] {
        const void* const from = &given(static_cast<const char*>(data), "data");
        copy(given(array, "array"), bytes, "write an array",
             [&](CUdeviceptr to) { return cg::driver().cuMemcpyHtoD(to, from, bytes); });
    });
}

CG_API cg_status cg_array_read(const cg_array* array, void* data, size_t bytes) {
    return guard([&] {
        void* const to = &given(static_cast<char*>(data), "data");
        copy(given(array, "array"), bytes, "read an array",
             [&](CUdeviceptr from) { return cg::driver().cuMemcpyDtoH(to, from, bytes); });
    });
}

CG_API cg_status cg_array_get_bytes(const cg_array* array, size_t* bytes) {
    return guard([&] { given(bytes, "bytes") = given(array, "array").bytes; });
}

CG_API cg_status cg_array_get_address(const cg_array* array, uint64_t* address) {
    return guard([&] { given(address, "address") = given(array, "array").value.bits; });
}

CG_API cg_status cg_exec_set_array(cg_exec* exec, const char* name, const cg_array* array) {
    return guard([&] {
        const cg_array& from = given(array, "array");
        set_value(exec, name, [&](const cg::NamedParameter& parameter) {
            if (parameter.type.is_array() && !(parameter.type == from.type))
                throw Failure(CG_ERROR_INVALID_VALUE, "parameter '" + parameter.name +
                                                          "' takes arrays of another type or number of dimensions");
            if (!parameter.type.is_memory())
                throw Failure(CG_ERROR_INVALID_VALUE, "parameter '" + parameter.name + "' is a number");
            cg::ParameterValue value = from.value;
            if (!parameter.type.is_array()) value.extents = {};
            return value;
        });
    });
}

CG_API cg_status cg_exec_set_address(cg_exec* exec, const char* name, uint64_t address, const int64_t* shape) {
    return guard([&] {
        set_value(exec, name,
                  [&](const cg::NamedParameter& parameter) { return address_value(parameter, address, shape); });
    });
}

CG_API cg_status cg_exec_set_int(cg_exec* exec, const char* name, int64_t value) {
    return guard([&] { set_number(exec, name, value, encode_int); });
}

CG_API cg_status cg_exec_set_uint(cg_exec* exec, const char* name, uint64_t value) {
    return guard([&] { set_number(exec, name, value, encode_uint); });
}

CG_API cg_status cg_exec_set_float(cg_exec* exec, const char* name, double value) {
    return guard([&] { set_number(exec, name, value, encode_float); });
}

CG_API cg_status cg_exec_launch(cg_exec* exec, void* stream) {
    return guard([&] { launch(given(exec, "exec"), stream); });
}

CG_API cg_status cg_exec_wait(cg_exec* exec) {
    return guard([&] { wait(given(exec, "exec")); });
}

CG_API void cg_graph_release(cg_graph* graph) {
    release(graph);
}

CG_API void cg_exec_release(cg_exec* exec) {
    release(exec);
}

CG_API void cg_array_release(cg_array* array) {
    release(array);
}
