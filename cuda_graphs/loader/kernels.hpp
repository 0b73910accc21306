// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels of a saved graph. The driver of this process loads the first code of the file that it takes.
#ifndef CUDA_GRAPHS_LOADER_KERNELS_HPP
#define CUDA_GRAPHS_LOADER_KERNELS_HPP

#include <memory>
#include <vector>

#include "archive.hpp"
#include "core/handles/argument_pack.hpp"
#include "core/resources/module.hpp"
#include "program.hpp"
#include "sizes.hpp"

namespace cgr {

struct LoadedKernel {
    cg::KernelHandle kernel;
    const std::vector<cg::Parameter>* parameters = nullptr;  // of the box of `kernel`
    bool has_types = false;                                  // the file has the types, or says that they are unknown
    std::shared_ptr<const TaskSize> task;                    // of a kernel of Python, else null
};

std::vector<LoadedKernel> load_kernels(const Archive& archive, Program& program);

// Appends a number as the value of a parameter of a kernel. Fails for one that does not fit.
void append_number(cg::ArgumentPack& pack, const LoadedKernel& kernel, const cg::Parameter& to, const Json& value,
                   const Where& where);

}  // namespace cgr

#endif
