# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Analyses of a definition: its order, the lifetimes of its allocations, and `GraphDef.check`.

Other rooms may import:
    accesses  the accesses of nodes in words
    check     GraphDef.check and its report
    comparison  GraphDef.diff and its result
    memory_use  GraphDef.memory
    sharing   the plan by which temporaries share memory
    order     a topological order of nodes
    refusals  reasons why a driver refuses a node
"""
