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
void add_graph_memory_cases(Cases& cases);           // which nodes may name the memory of alloc nodes
void add_conditional_cases(Cases& cases);            // conditional handles, nodes, bodies
void add_exec_cases(Cases& cases);                   // instantiate, launch, update, per-node changes
void add_patch_cases(Cases& cases);                  // nodes of an executable set again and again
void add_change_cases(Cases& cases);                 // nodes of definitions changed, what an update points at
void add_runtime_cases(Cases& cases);                // devices, contexts, streams, events
void add_memory_cases(Cases& cases);                 // memory, pointers, pools, copies, fills
void add_code_cases(Cases& cases);                   // libraries, kernels, launches, occupancy
void add_lifetime_cases(Cases& cases);               // user objects
void add_order_cases(Cases& cases);                  // what executing gives, in which order
void add_capture_cases(Cases& cases);                // stream capture: what begins, joins, ends and breaks one
void add_capture_rule_cases(Cases& cases);           // forks and joins, the legacy default stream
void add_capture_graph_cases(Cases& cases);          // dependency sets, captures into graphs and bodies
void add_capture_end_cases(Cases& cases);            // threads that may end a capture, and what is left
void add_capture_node_cases(Cases& cases);           // what work becomes in a capture
void add_capture_mode_cases(Cases& cases);           // which calls the modes forbid, to which threads
void add_interprocess_cases(Cases& cases);           // what processes share, asked by one
void add_process_cases(Cases& cases);                // the same, by two processes
void add_memory_operation_cases(Cases& cases);       // waits for values in memory, writes of them
void add_memory_operation_node_cases(Cases& cases);  // the same as nodes of graphs
void add_context_event_cases(Cases& cases);          // events of whole contexts
void add_green_context_cases(Cases& cases);          // resources of a device and contexts with a part of them
void add_setting_cases(Cases& cases);                // core dumps, logs, what a device can do besides
void add_location_cases(Cases& cases);               // memory by where it is, tensor maps
void add_sticky_cases(Cases& cases);                 // faults of kernels, dead handles, no context, not initialised

// The device facts as a JSON object.
std::string device_facts();

}  // namespace conf

#endif
