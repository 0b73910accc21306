// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Named parameters of a definition: values that nodes take by name, and that every executable made of it gets on its
// own, again and again (exec_parameters.hpp). One table serves a whole hierarchy. A node notes which of its fields come
// from which parameter; until a value is known, a kernel argument is zero, and a memset or memcpy node works on one
// element of memory that exists for that only, since the driver takes no others. No launch ever sees either.
#ifndef CUDA_GRAPHS_HANDLES_NAMED_PARAMETER_HPP
#define CUDA_GRAPHS_HANDLES_NAMED_PARAMETER_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "box.hpp"
#include "value_type.hpp"

namespace cg {

struct ParameterValue {
    std::uint64_t bits = 0;
    bool known = false;
    Opaque owner;  // of the memory behind a pointer; empty for an address that nobody owns
};

struct NamedParameter {
    std::string name;
    const ValueType* type = nullptr;
    ParameterValue initial;  // the default; never changes
    void* object = nullptr;  // the living Python object, borrowed; it clears this in its __dealloc__
};

using ParameterRef = std::shared_ptr<NamedParameter>;

// Where in a node a value goes.
enum class Field : std::uint8_t { kArgument, kDestination, kSource, kExtent, kValue };

struct ParameterUse {
    ParameterRef parameter;
    Field field = Field::kArgument;
    std::uint32_t argument = 0;  // which one, of a kernel
};

// What a node knows of the parameters it uses.
struct NodeParameters {
    std::vector<ParameterUse> uses;
    CUgraphNodeParams wanted{};  // of a memset or memcpy node: with zero in the place of values that are not known
};

// The parameters of a hierarchy, in the order in which they were made.
class ParameterTable {
  public:
    ParameterRef find(const std::string& name) const;
    bool has(const ParameterRef& parameter) const { return find(parameter->name) == parameter; }
    void add(const ParameterRef& parameter) { all_.push_back(parameter); }
    const std::vector<ParameterRef>& all() const noexcept { return all_; }

  private:
    std::vector<ParameterRef> all_;
};

// A value as a size or count. A negative one becomes larger than anything that the driver takes.
inline std::size_t as_extent(const ValueType& type, std::uint64_t bits) noexcept {
    const auto shift = static_cast<unsigned>(64 - 8 * type.size);
    return type.kind == ValueKind::kInt ? static_cast<std::size_t>(static_cast<std::int64_t>(bits << shift) >> shift)
                                        : bits;
}

// Writes a value into the parameters of a node; of a kernel into the arguments that they point to.
void write_value(CUgraphNodeParams& params, const ParameterUse& use, std::uint64_t bits) noexcept;

// Whether that would change nothing.
bool has_value(const CUgraphNodeParams& params, const ParameterUse& use, std::uint64_t bits) noexcept;

struct GraphBox;
struct NodeRecord;
struct NodeSpec;

// Makes a memset or memcpy node of values that are not all known one that the driver takes: with memory of the current
// context, which the spec then owns. Notes what is wanted instead.
CUresult hold_places(NodeSpec& spec, NodeParameters& parameters);

// The first parameter that nodes of `source`, or of a graph embedded in it, use and that has another type in the
// hierarchy of `target`; empty when there is none.
ParameterRef find_clash(GraphBox& source, GraphBox& target);

// Whether nodes of the graph, or of a graph embedded in it, use any.
bool uses_parameters(GraphBox& graph);

// `holder` got a copy of `source`: its nodes use the parameters of the same names in the hierarchy of `holder`, which
// gets those that it lacks. Does nothing when no node uses any.
CUresult copy_uses(GraphBox& source, NodeRecord& holder);

}  // namespace cg

#endif
