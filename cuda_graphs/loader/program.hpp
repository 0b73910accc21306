// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// What the program around the loader adds to a file: the C interface (runtime/interface.cpp), or Python
// (saving/loading.pyx). Each method is called under the lock of the core, and may raise.
#ifndef CUDA_GRAPHS_LOADER_PROGRAM_HPP
#define CUDA_GRAPHS_LOADER_PROGRAM_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/graphs/named_parameter.hpp"
#include "core/graphs/node_spec.hpp"
#include "core/resources/memory.hpp"
#include "core/resources/module.hpp"

namespace cgr {

// The names of ValueForm in a file, in its order.
constexpr const char* kFormNames[] = {"unknown", "int",  "uint",    "integer", "word",  "float",
                                      "bfloat",  "bool", "pointer", "complex", "class", "byte"};

// The code that a kernel came from.
struct KernelImage {
    const std::string& code;
    std::size_t blob;  // the number of `code`
    const char* type;  // "native", "ptx", "cubin" or "fatbin"
    const std::string& label;
    const std::string& entry;
    const std::vector<cg::KernelType>* types;  // those of the file; null: the code tells them
};

// The memory in which a loop counts, and the object of the program for it.
struct Counter {
    cg::PointerHandle memory;
    cg::Opaque object;
};

class Program {
  public:
    Program() = default;
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    virtual ~Program() = default;

    // Returns true on the host driver.
    virtual bool is_on_host() const = 0;
    // Finds the functions of the names in a file. Raises for a missing one.
    virtual void bind_callbacks(const std::vector<std::string>& names) = 0;
    // Fills the spec of a host node that calls the function of a name, given by its number. `node`: its name, or null.
    virtual void read_callback(std::size_t number, const std::string* node, cg::NodeSpec& spec) = 0;
    virtual Counter make_counter(std::int64_t limit) = 0;
    // Makes the error of a launch, for SizeRule::resize. Called without the lock, and when this object is gone.
    using MakeError = cg::Opaque (*)(const char* text);
    virtual MakeError make_error() const = 0;

    // What only Python keeps: the code of kernels, the lines that added nodes, and the types of arrays.
    virtual void note_kernel(const cg::KernelHandle&, const KernelImage&) {}
    virtual cg::Opaque line_of(const std::string& /*file*/, int /*line*/) { return {}; }
    virtual cg::Opaque array_form(const cg::ParameterType&, const std::vector<std::int64_t>& /*shape*/) { return {}; }
    virtual cg::Opaque value_form(char /*kind of number, as in NumPy*/) { return {}; }
};

}  // namespace cgr

#endif
