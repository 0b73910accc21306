// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls that run one at a time. An executable, a clone and an embedded copy stay tied to the graph that they were made
// of, and libcuda keeps these ties without a lock: destroying an executable beside another one of the same definition,
// or beside an instantiation, a clone or an edit of that, ends the process (driver 580 on an H200, a program in C;
// docs/design/2026-11-serial-calls.md). Who destroys does not know what others do, so these calls wait for each other.
// Launches, updates and the setters of one kind of node do not touch the ties; cuGraphNodeSetParams can embed another
// graph, and waits too.
#ifndef CUDA_GRAPHS_DRIVER_SERIAL_HPP
#define CUDA_GRAPHS_DRIVER_SERIAL_HPP

#include "table.hpp"

namespace cg {

// Puts a lock round those entries of a table.
void serialise(DriverTable& table) noexcept;

}  // namespace cg

#endif
