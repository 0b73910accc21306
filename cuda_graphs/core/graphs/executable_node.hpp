// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// One node of an executable, with the parameters that it has now. New values are written into these parameters first.
// Then `apply` sets the node, with one driver call. Named parameters (executable_parameters.hpp) and graph kernels
// (launch_kernels in executable.hpp) set nodes in this way. Writing runs no Python and allocates nothing.
#ifndef CUDA_GRAPHS_CORE_GRAPHS_EXECUTABLE_NODE_HPP
#define CUDA_GRAPHS_CORE_GRAPHS_EXECUTABLE_NODE_HPP

#include <cuda.h>

#include <cstdint>
#include <vector>

#include "core/resources/module.hpp"
#include "executable_memsets.hpp"
#include "node.hpp"

namespace cg {

// The grid and the arguments of a kernel node for one launch.
struct KernelArguments {
    unsigned int grid;          // number of blocks along x
    const void* const* values;  // address of each argument's value, null for an argument that stays as it is
};

// A use of parameter `parameter` of the executable.
struct WatchedUse {
    std::uint32_t parameter;
    ParameterUse use;
};

// The types of memory as which the operands of a copy are declared; 0 for those in its parameters.
struct CopyTypes {
    CUmemorytype source{};
    CUmemorytype destination{};

    bool are_known() const noexcept { return source != 0; }
};

// Sets a copy in an executable, with the types that its node was made with. The driver does not report them, so all
// that the operands may have are tried. Sets `types` to those that the driver took.
CUresult set_copy(const ExecTarget& exec, CUgraphNode node, CUgraphNodeParams params, CopyTypes* types);

class ExecNode {
  public:
    // `named` is the node of the first definition that names the executable's node.
    explicit ExecNode(NodeRecord& named) noexcept : node_(&named), raw_(named.raw), generation_(named.generation) {}
    ExecNode(ExecNode&&) noexcept = default;  // its parameters point into members that keep their addresses
    ExecNode& operator=(ExecNode&&) noexcept = default;

    // Loads the parameters of a node with the same parameters: the naming node, or its partner in another definition.
    CUresult load(const NodeRecord& source);
    CUresult load(const CUgraphNodeParams& params);

    NodeRecord* node() const noexcept { return node_; }
    // Returns true when the naming node was destroyed.
    bool is_destroyed() const noexcept { return node_->generation != generation_; }

    CUgraphNodeParams& params() noexcept { return params_; }
    const CUgraphNodeParams& params() const noexcept { return params_; }

    // Returns an owner of the code of a kernel node.
    const KernelHandle& kernel() const noexcept { return kernel_; }
    // Writes the values that differ into the parameters of a kernel node.
    void write(const KernelArguments& arguments) noexcept;

    // The size of a kernel node, which a rule computes from the values of parameters (executable_parameters.hpp).
    // restore_size returns to the size that `apply` set last.
    LaunchSize size() const noexcept { return size_of(params_.kernel); }
    void write_size(const LaunchSize& size) noexcept { cg::write_size(params_.kernel, size); }
    void restore_size() noexcept {
        if (rules.size) write_size(applied_);
    }

    // Declares the operands of a copy as memory of these types, whatever is written to the parameters: an executable
    // keeps the types with which its node was made.
    void declare(const CopyTypes& types) noexcept { types_ = types; }

    // Sets the node in the executable. Makes no driver call while a memset or memcpy node lacks a value.
    CUresult apply(const ExecTarget& exec);

    std::uint32_t unknown = 0;  // number of missing values
    bool is_pending = false;    // the executable lacks values that were written
    bool must_follow = false;   // the rules were not followed since a value that they depend on was written
    NodeRules rules;
    std::vector<WatchedUse> watched;              // uses that the rules depend on
    std::vector<const ParameterValue*> operands;  // for the call of `rules.size`

  private:
    CUresult keep_arguments();

    NodeRecord* node_;
    CUgraphNode raw_;
    std::uint32_t generation_;
    CUgraphNodeParams params_{};
    CopyTypes types_;     // of a copy
    LaunchSize applied_;  // of a kernel node
    KernelHandle kernel_;
    const std::vector<Parameter>* layout_ = nullptr;  // parameters of `kernel_`
    std::vector<std::uint64_t> words_;                // argument values of a kernel node
    std::vector<void*> pointers_;                     // pointers to `words_`
};

}  // namespace cg

#endif
