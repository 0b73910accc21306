// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// What was found, and who is told. A bad address ends its kernel and its context with CUDA_ERROR_ILLEGAL_ADDRESS, as on
// a GPU. Of the other bugs a GPU says nothing: work goes on, and the next call that waits for work of the context
// answers CUDA_ERROR_ILLEGAL_STATE, once. (A query tells nothing: who asks may be about to give something back.) The
// text of either is asked for after the call (cghFindings); a program that does not know of it has it on standard error
// (cghTellRefusals), and so has one that ends without having waited.
#ifndef CUDA_GRAPHS_HOSTDRIVER_CHECK_FINDINGS_HPP
#define CUDA_GRAPHS_HOSTDRIVER_CHECK_FINDINGS_HPP

#include <cuda.h>

#include <string>

namespace cgh {

class Context;

// Of a bad address. The caller ends the kernel.
void report_illegal_address(Context& context, const std::string& text);
// Of anything else. `what` tells findings apart: the same is said once.
void report(Context& context, const std::string& what, const std::string& text);

// What a call that waited answers: the context's error, or that something was found since the last one.
CUresult outcome_of(Context& context);

}  // namespace cgh

#endif
