// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes driver calls run one at a time. An executable, a clone or an embedded copy stays linked to its source
// graph, and libcuda keeps these links without a lock. The process crashes when one thread destroys an
// executable while another destroys an executable of the same definition, instantiates, clones or edits it
// (driver 580 on an H200, a program in C; docs/design/2026-11-serial-calls.md). The destroying thread does
// not know the other threads, so these calls wait for each other. Launches, updates and the setters of one
// kind of node do not use the links. cuGraphNodeSetParams can embed another graph, so it waits too.
#ifndef CUDA_GRAPHS_CORE_DRIVER_SERIAL_HPP
#define CUDA_GRAPHS_CORE_DRIVER_SERIAL_HPP

#include "table.hpp"

namespace cg {

// Wraps the entries of the table that use these links in a lock.
void serialise(DriverTable& table) noexcept;

}  // namespace cg

#endif
