// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The context stack of the calling thread.
#ifndef CUDA_GRAPHS_HOSTDRIVER_API_DEVICES_CONTEXT_STACK_HPP
#define CUDA_GRAPHS_HOSTDRIVER_API_DEVICES_CONTEXT_STACK_HPP

#include "hostdriver/objects/devices/context.hpp"

namespace cgh {

void push_context(Context& context);
// Pops the top context. Does nothing if the stack is empty.
void pop_context();

}  // namespace cgh

#endif
