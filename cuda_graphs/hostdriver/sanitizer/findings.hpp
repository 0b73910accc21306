// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Findings of the checks, and the way that they reach the program.
//
// An invalid address ends its kernel and its context with CUDA_ERROR_ILLEGAL_ADDRESS or CUDA_ERROR_MISALIGNED_ADDRESS,
// as on a GPU. A GPU does not report the other bugs: the work continues, and the next call that waits for work of the
// context returns CUDA_ERROR_ILLEGAL_STATE, once. Queries do not report findings, because the caller may be about to
// release a resource.
//
// The program requests the text of a finding after the call (cghFindings). A program that does not know cghFindings
// gets it on standard error (cghReportRefusals), and so does a program that ends without a waiting call.
#ifndef CUDA_GRAPHS_HOSTDRIVER_SANITIZER_FINDINGS_HPP
#define CUDA_GRAPHS_HOSTDRIVER_SANITIZER_FINDINGS_HPP

#include <cuda.h>

#include <string>

namespace cgh {

class Context;

// Reports an invalid address. The caller ends the kernel.
void report_invalid_address(Context& context, const std::string& text);
// Reports any other finding. `what` identifies it: a finding is reported once.
void report(Context& context, const std::string& what, const std::string& text);

// Returns the result of a call that waited: the context's error, or CUDA_ERROR_ILLEGAL_STATE if there are findings
// since the last such call.
CUresult outcome_of(Context& context);

}  // namespace cgh

#endif
