// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Named parameters of a definition: values that nodes take by name, and that can be set again and again in each
// executable of the definition (executable_parameters.hpp). One table serves a whole hierarchy. A value is a number, an
// address, or an array: an address and extents. A node records which of its fields come from which parameter. Until its
// value is known, a kernel argument is zero. A memset or memcpy node then works on one element of placeholder memory,
// since the driver requires valid operands. No launch ever uses these placeholders.
#ifndef CUDA_GRAPHS_CORE_GRAPHS_NAMED_PARAMETER_HPP
#define CUDA_GRAPHS_CORE_GRAPHS_NAMED_PARAMETER_HPP

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/handles/box.hpp"
#include "graph_memory.hpp"
#include "value_type.hpp"

namespace cg {

constexpr std::size_t kMostAxes = 8;  // largest number of dimensions of an array parameter
constexpr std::size_t kUnbounded = std::numeric_limits<std::size_t>::max();

struct ParameterValue {
    std::uint64_t bits = 0;  // the number or the address
    bool known = false;
    std::array<std::int32_t, kMostAxes> extents{};  // extents of an array, then zeros
    Opaque owner;  // owner of the memory behind an address; empty for an address without an owner

    bool has_words_of(const ParameterValue& other) const noexcept {
        return bits == other.bits && has_extents_of(other);
    }
    bool has_extents_of(const ParameterValue& other) const noexcept {
        std::int32_t difference = 0;  // without branches: a launch with another array makes this comparison
        for (std::size_t axis = 0; axis < kMostAxes; ++axis) difference |= extents[axis] ^ other.extents[axis];
        return difference == 0;
    }
};

// The type of a parameter. `scalar` is the type of an array's elements, or of the components of its elements.
struct ParameterType {
    const ValueType* scalar = nullptr;
    int ndim = -1;                    // number of dimensions of an array; -1 for a number or an address
    std::vector<std::int32_t> inner;  // shape of one element of an array

    bool is_array() const noexcept { return ndim >= 0; }
    bool is_memory() const noexcept { return is_array() || scalar->kind == ValueKind::kPointer; }
    std::size_t item_size() const noexcept;  // bytes of one element of an array
    bool operator==(const ParameterType& other) const noexcept {
        return scalar == other.scalar && ndim == other.ndim && inner == other.inner;
    }
};

constexpr const char* kTemporaryName = ".temporary ";  // begins the name of a temporary

struct NamedParameter {
    std::string name;
    ParameterType type;
    ParameterValue initial;  // the default; never changes
    void* object = nullptr;  // the living Python object, borrowed; its __dealloc__ clears this
    GraphMemoryRef place;    // the memory that the parameter stands for; null for all parameters of programs

    // Returns true for a place, a temporary, and memory of a loop: programs cannot set them.
    bool is_hidden() const noexcept { return name.front() == '.'; }
    // Returns true for a place and a temporary, whose memory executables plan.
    bool is_planned() const noexcept { return place != nullptr || name.rfind(kTemporaryName, 0) == 0; }
};

using ParameterRef = std::shared_ptr<NamedParameter>;

// Returns the bytes of an array; kUnbounded when they exceed the range.
std::size_t bytes_of(const ParameterType& type, const ParameterValue& value) noexcept;

// The field of a node that a value is written to.
enum class Field : std::uint8_t {
    kArgument,
    kDestination,
    kSource,
    kExtent,
    kValue,
    kBytes,  // the size of a copy, or the count of a fill, from the bytes of an array
    kSize,   // operand of the SizeRule
};

struct ParameterUse {
    ParameterRef parameter;
    Field field = Field::kArgument;
    std::uint8_t word = 0;       // 0: the number or address; n: extent n - 1 of an array
    bool is_fixed = false;       // the node takes only arrays of the shape of the default
    std::uint32_t argument = 0;  // index of the kernel argument, or of the operand of the SizeRule
    std::uint32_t byte = 0;      // of the kernel argument, where an address begins
    std::uint64_t offset = 0;    // added to an address

    bool is_place() const noexcept { return parameter->place != nullptr; }
};

// Returns true for an address that a copy or fill reads or writes.
inline bool is_operand(const ParameterUse& use) noexcept {
    return use.field == Field::kDestination || use.field == Field::kSource;
}

// The blocks and threads of a kernel node, and its dynamic shared memory in bytes.
struct LaunchSize {
    unsigned int grid[3] = {};
    unsigned int block[3] = {};
    unsigned int shared = 0;
};

inline LaunchSize size_of(const CUDA_KERNEL_NODE_PARAMS_v3& kernel) noexcept {
    return {{kernel.gridDimX, kernel.gridDimY, kernel.gridDimZ},
            {kernel.blockDimX, kernel.blockDimY, kernel.blockDimZ},
            kernel.sharedMemBytes};
}

inline void write_size(CUDA_KERNEL_NODE_PARAMS_v3& kernel, const LaunchSize& size) noexcept {
    kernel.gridDimX = size.grid[0], kernel.gridDimY = size.grid[1], kernel.gridDimZ = size.grid[2];
    kernel.blockDimX = size.block[0], kernel.blockDimY = size.block[1], kernel.blockDimZ = size.block[2];
    kernel.sharedMemBytes = size.shared;
}

// Computes the size of a launch from values of parameters: the operands, in the order of ParameterUse::argument.
// Returns false for values that the kernel does not take; `why` may then get a Python exception. Called without the
// GIL. It need not be called again for another array of the same extents unless it `reads_addresses`.
struct SizeRule {
    bool (*resize)(void* self, const ParameterValue* const* operands, LaunchSize* size, Opaque* why) = nullptr;
    void* self = nullptr;
    bool reads_addresses = true;
    Opaque owner;  // owner of `self`
};

// The number of rules that are functions of Python and run now, in all threads.
extern std::atomic<int> size_functions_running;

using SizeRuleRef = std::shared_ptr<const SizeRule>;

// The rules of a node whose fields are values of named parameters.
struct NodeRules {
    std::size_t most = kUnbounded;  // bytes that a copy or fill may touch in operands that are no parameters
    bool takes_any_shape = false;   // a kernel that takes arrays of other shapes than at build time
    SizeRuleRef size;               // null for a kernel whose size does not depend on parameters
};

// The named parameters that a node uses.
struct NodeParameters {
    std::vector<ParameterUse> uses;
    NodeRules rules;
    CUgraphNodeParams wanted{};  // parameters of a memset or memcpy node, with zero for each value that is not known
};

// The parameters of a hierarchy, in creation order.
class ParameterTable {
  public:
    ParameterRef find(const std::string& name) const;
    // Returns the parameter that stands for a place, or null.
    ParameterRef find(const GraphMemory& place) const;
    bool has(const ParameterRef& parameter) const { return find(parameter->name) == parameter; }
    void add(const ParameterRef& parameter) {
        has_places_ |= parameter->place != nullptr;
        all_.push_back(parameter);
    }
    // Returns false when no parameter stands for a place.
    bool has_places() const noexcept { return has_places_; }
    const std::vector<ParameterRef>& all() const noexcept { return all_; }

  private:
    std::vector<ParameterRef> all_;
    bool has_places_ = false;
};

// Returns a value as a size or count. A negative value becomes larger than any size that the driver accepts.
inline std::size_t as_extent(const ValueType& type, std::uint64_t bits) noexcept {
    const auto shift = static_cast<unsigned>(64 - 8 * type.size);
    return type.kind == ValueKind::kInt ? static_cast<std::size_t>(static_cast<std::int64_t>(bits << shift) >> shift)
                                        : bits;
}

// Writes a value into the parameters of a node; for a kernel, into the arguments that they point to.
void write_value(CUgraphNodeParams& params, const ParameterUse& use, const ParameterValue& value) noexcept;

// Returns true when write_value would change nothing.
bool has_value(const CUgraphNodeParams& params, const ParameterUse& use, const ParameterValue& value) noexcept;

// Returns the number of bytes from the first to the last byte that a copy or fill touches on each side.
std::size_t reach_of(const CUgraphNodeParams& params) noexcept;

struct GraphBox;
struct NodeRecord;
struct NodeSpec;

// Makes the spec of a memset or memcpy node with unknown values acceptable to the driver: replaces its operands by
// memory of the current context, which the spec then owns. Records the wanted parameters in `parameters`.
CUresult use_placeholders(NodeSpec& spec, NodeParameters& parameters);

// Returns the first parameter that nodes of `source`, or of a graph embedded in it, use and that has another type in
// the hierarchy of `target`; empty when there is no such clash.
ParameterRef find_clash(GraphBox& source, GraphBox& target);

// Returns true when nodes of the graph, or of a graph embedded in it, use named parameters.
bool uses_parameters(GraphBox& graph);

// Returns the parameters of the graph's hierarchy that no node of the hierarchy uses.
std::vector<ParameterRef> unused_parameters(GraphBox& graph);

// Makes the nodes of the copy of `source` inside `holder` use the parameters of the same names in the hierarchy of
// `holder`, and adds the missing parameters to it. Does nothing when no node uses any.
CUresult copy_uses(GraphBox& source, NodeRecord& holder);

}  // namespace cg

#endif
