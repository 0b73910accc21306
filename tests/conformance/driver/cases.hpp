// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The areas of cases, one file each.
#ifndef CONFORMANCE_CASES_HPP
#define CONFORMANCE_CASES_HPP

#include <string>

#include "harness.hpp"

namespace conf {

void add_structure_cases(Cases& cases);              // graphs, nodes, edges, clones
void add_node_cases(Cases& cases);                   // parameters of the other node kinds
void add_data_node_cases(Cases& cases);              // memset and memcpy nodes
void add_shape_cases(Cases& cases);                  // copies and fills in more dimensions
void add_edge_data_cases(Cases& cases);              // edges that carry data, clusters
void add_alloc_cases(Cases& cases);                  // alloc and free nodes, graph memory
void add_graph_memory_cases(Cases& cases);           // nodes that may use the memory of alloc nodes
void add_conditional_cases(Cases& cases);            // conditional handles, nodes, bodies
void add_exec_cases(Cases& cases);                   // instantiate, launch, update, per-node changes
void add_patch_cases(Cases& cases);                  // repeated changes of an executable's nodes
void add_change_cases(Cases& cases);                 // changes of definitions' nodes, error nodes of updates
void add_runtime_cases(Cases& cases);                // devices, contexts, streams, events
void add_memory_cases(Cases& cases);                 // memory, pointers, pools, copies, fills
void add_code_cases(Cases& cases);                   // libraries, kernels, launches, occupancy
void add_lifetime_cases(Cases& cases);               // user objects
void add_order_cases(Cases& cases);                  // results and order of execution
void add_capture_cases(Cases& cases);                // stream capture: how captures begin, join, end and break
void add_capture_rule_cases(Cases& cases);           // forks and joins, the legacy default stream
void add_capture_graph_cases(Cases& cases);          // dependency sets, captures into graphs and bodies
void add_capture_end_cases(Cases& cases);            // threads that may end a capture, state after the end
void add_capture_node_cases(Cases& cases);           // nodes that captured work becomes
void add_capture_mode_cases(Cases& cases);           // calls that the modes forbid, by thread
void add_interprocess_cases(Cases& cases);           // sharing between processes, observed by one process
void add_process_cases(Cases& cases);                // the same, observed by two processes
void add_memory_operation_cases(Cases& cases);       // waits for values in memory, writes of values
void add_memory_operation_node_cases(Cases& cases);  // the same as nodes of graphs
void add_context_event_cases(Cases& cases);          // events of whole contexts
void add_green_context_cases(Cases& cases);          // resources of a device and contexts with a part of them
void add_setting_cases(Cases& cases);                // core dumps, logs, other capabilities of a device
void add_location_cases(Cases& cases);               // memory by location, tensor maps
void add_sticky_cases(Cases& cases);                 // faults of kernels, dead handles, no context, not initialised

// Returns the device facts as a JSON object.
std::string device_facts();

}  // namespace conf

#endif
