// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "place_uses.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace cg {

namespace {

void add_word(std::vector<PlaceWord>& words, CUdeviceptr address, Field field, std::size_t argument = 0,
              std::size_t byte = 0) {
    if (address < GraphMemory::kFirstStandIn) return;
    PlaceWord word;
    word.place = find_place(address);
    if (!word.place) return;
    word.use.field = field;
    word.use.argument = static_cast<std::uint32_t>(argument);
    word.use.byte = static_cast<std::uint32_t>(byte);
    word.use.offset = address - word.place->start();
    words.push_back(std::move(word));
}

void add_argument_words(std::vector<PlaceWord>& words, const NodeSpec& spec, const std::vector<Parameter>& parameters) {
    if (spec.params.kernel.kernelParams == nullptr) return;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const auto* bytes = static_cast<const char*>(spec.params.kernel.kernelParams[i]);
        for (std::size_t at = 0; at + sizeof(CUdeviceptr) <= parameters[i].size; at += sizeof(CUdeviceptr)) {
            CUdeviceptr word = 0;
            std::memcpy(&word, bytes + at, sizeof word);
            add_word(words, word, Field::kArgument, i, at);
        }
    }
}

}  // namespace

std::vector<PlaceWord> list_place_words(const NodeSpec& spec, const std::vector<Parameter>* parameters) {
    std::vector<PlaceWord> words;
    if (spec.kind == NodeKind::kKernel && parameters != nullptr)
        add_argument_words(words, spec, *parameters);
    else if (spec.kind == NodeKind::kMemset)
        add_word(words, spec.params.memset.dst, Field::kDestination);
    else if (spec.kind == NodeKind::kMemcpy) {
        add_word(words, destination_of(spec.params.memcpy.copyParams), Field::kDestination);
        add_word(words, source_of(spec.params.memcpy.copyParams), Field::kSource);
    }
    return words;
}

void drop_place_uses(std::vector<ParameterUse>& uses) {
    const auto is_place = [](const ParameterUse& use) { return use.is_place(); };
    uses.erase(std::remove_if(uses.begin(), uses.end(), is_place), uses.end());
}

bool has_fixed_addresses(const NodeSpec& spec) noexcept {
    if (spec.kind == NodeKind::kMemset) return spec.params.memset.height > 1;
    if (spec.kind != NodeKind::kMemcpy) return false;
    const CUDA_MEMCPY3D& copy = spec.params.memcpy.copyParams;
    return copy.Height > 1 || copy.Depth > 1;
}

void own_arguments(NodeSpec& spec, const std::vector<Parameter>& parameters) {
    if (spec.arguments.size() != 0 || spec.params.kernel.kernelParams == nullptr) return;
    for (std::size_t i = 0; i < parameters.size(); ++i)
        spec.arguments.append_copy(spec.params.kernel.kernelParams[i], parameters[i].size);
    spec.params.kernel.kernelParams = spec.arguments.pointers();
}

// The operands of copies are declared as unified memory, as write_value does: an executable that had the place as a
// parameter takes the node in an update.
void write_settled(NodeSpec& spec, const PlaceWord& word, const std::vector<Parameter>* parameters) {
    const CUdeviceptr address = word.place->settled() + word.use.offset;
    if (spec.kind == NodeKind::kMemset) {
        spec.params.memset.dst = address;
    } else if (spec.kind == NodeKind::kMemcpy && word.use.field == Field::kDestination) {
        set_destination(spec.params.memcpy.copyParams, address, CU_MEMORYTYPE_UNIFIED);
    } else if (spec.kind == NodeKind::kMemcpy) {
        set_source(spec.params.memcpy.copyParams, address, CU_MEMORYTYPE_UNIFIED);
    } else {
        own_arguments(spec, *parameters);
        std::memcpy(static_cast<char*>(spec.params.kernel.kernelParams[word.use.argument]) + word.use.byte, &address,
                    sizeof address);
    }
}

void show_wanted(NodeSpec& loaded, const NodeParameters& parameters) noexcept {
    const auto is_place = [](const ParameterUse& use) { return use.is_place(); };
    if (loaded.kind == NodeKind::kKernel) return;
    if (std::any_of(parameters.uses.begin(), parameters.uses.end(), is_place)) loaded.params = parameters.wanted;
    // A size that a parameter gives may be missing. That of a temporary is known.
    if (loaded.kind == NodeKind::kMemset)
        loaded.params.memset.width = std::max(parameters.wanted.memset.width, std::size_t{1});
    else
        loaded.params.memcpy.copyParams.WidthInBytes =
            std::max(parameters.wanted.memcpy.copyParams.WidthInBytes, std::size_t{1});
}

std::vector<NodeRecord*> list_users(GraphBox& graph, const NamedParameter& parameter) {
    std::vector<NodeRecord*> users;
    const auto is_use = [&](const ParameterUse& use) { return use.parameter.get() == &parameter; };
    for (GraphBox* each : list_living(graph))
        each->nodes.for_each([&](NodeRecord& node) {
            if (node.raw == nullptr || !node.metadata || !node.metadata->parameters) return;
            const std::vector<ParameterUse>& uses = node.metadata->parameters->uses;
            if (std::any_of(uses.begin(), uses.end(), is_use)) users.push_back(&node);
        });
    return users;
}

}  // namespace cg
