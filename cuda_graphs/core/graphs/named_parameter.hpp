// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Named parameters of a definition: values that nodes take by name, and that can be set again and again in each
// executable of the definition (executable_parameters.hpp). One table serves a whole hierarchy. A node records which of
// its fields come from which parameter. Until its value is known, a kernel argument is zero. A memset or memcpy node
// then works on one element of placeholder memory, since the driver requires valid operands. No launch ever uses these
// placeholders.
#ifndef CUDA_GRAPHS_CORE_GRAPHS_NAMED_PARAMETER_HPP
#define CUDA_GRAPHS_CORE_GRAPHS_NAMED_PARAMETER_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/handles/box.hpp"
#include "value_type.hpp"

namespace cg {

struct ParameterValue {
    std::uint64_t bits = 0;
    bool known = false;
    Opaque owner;  // owner of the memory behind a pointer; empty for an address without an owner
};

struct NamedParameter {
    std::string name;
    const ValueType* type = nullptr;
    ParameterValue initial;  // the default; never changes
    void* object = nullptr;  // the living Python object, borrowed; its __dealloc__ clears this
};

using ParameterRef = std::shared_ptr<NamedParameter>;

// The field of a node that a value is written to.
enum class Field : std::uint8_t { kArgument, kDestination, kSource, kExtent, kValue };

struct ParameterUse {
    ParameterRef parameter;
    Field field = Field::kArgument;
    std::uint32_t argument = 0;  // index of the kernel argument
};

// The named parameters that a node uses.
struct NodeParameters {
    std::vector<ParameterUse> uses;
    CUgraphNodeParams wanted{};  // parameters of a memset or memcpy node, with zero for each value that is not known
};

// The parameters of a hierarchy, in creation order.
class ParameterTable {
  public:
    ParameterRef find(const std::string& name) const;
    bool has(const ParameterRef& parameter) const { return find(parameter->name) == parameter; }
    void add(const ParameterRef& parameter) { all_.push_back(parameter); }
    const std::vector<ParameterRef>& all() const noexcept { return all_; }

  private:
    std::vector<ParameterRef> all_;
};

// Returns a value as a size or count. A negative value becomes larger than any size that the driver accepts.
inline std::size_t as_extent(const ValueType& type, std::uint64_t bits) noexcept {
    const auto shift = static_cast<unsigned>(64 - 8 * type.size);
    return type.kind == ValueKind::kInt ? static_cast<std::size_t>(static_cast<std::int64_t>(bits << shift) >> shift)
                                        : bits;
}

// Writes a value into the parameters of a node; for a kernel, into the arguments that they point to.
void write_value(CUgraphNodeParams& params, const ParameterUse& use, std::uint64_t bits) noexcept;

// Returns true when write_value would change nothing.
bool has_value(const CUgraphNodeParams& params, const ParameterUse& use, std::uint64_t bits) noexcept;

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
