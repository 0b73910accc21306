// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory of a saved graph in the process that loads it: the rows of the table `memory`, and arrays of the caller.
#ifndef CUDA_GRAPHS_LOADER_MEMORY_HPP
#define CUDA_GRAPHS_LOADER_MEMORY_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "archive.hpp"
#include "core/graphs/named_parameter.hpp"
#include "core/resources/memory.hpp"
#include "program.hpp"

namespace cgr {

enum class Space { kDevice, kHost, kManaged };

// Memory that an operand names: its first byte, the bytes from there to its end, and what keeps it.
struct Place {
    CUdeviceptr address = 0;
    std::size_t size = 0;
    cg::Opaque owner;
};

// A row of the table.
struct LoadedMemory {
    cg::PointerHandle memory;
    std::size_t size = 0;
    std::optional<cg::ParameterType> type;  // of an array
    std::vector<std::int32_t> shape;        // of an array
    std::optional<std::size_t> parameter;   // the number of the parameter of an array
    bool is_counter = false;
    cg::Opaque counter;  // the program's object for a counter

    bool is_array() const noexcept { return type.has_value(); }
    Place place(const Json* offset, const Where& where) const;
    // The array as a value of a parameter.
    cg::ParameterValue value() const;
};

// Returns memory of zeros on the current device.
cg::PointerHandle allocate(Space space, std::size_t size);

// Returns the bytes of an array; none if they are more than memory can have.
std::optional<std::size_t> bytes_of_array(const cg::ParameterType& type, const std::vector<std::int64_t>& shape);

// Allocates all rows of the table with their contents, after all of them were checked.
std::vector<LoadedMemory> load_memory(const Archive& archive, std::size_t parameters, Program& program);

}  // namespace cgr

#endif
