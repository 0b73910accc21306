# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Analyses of a definition: its order, the lifetimes of its allocations, and `GraphDef.check`.

Other rooms may import:
    check     GraphDef.check and its report
    refusals  reasons why a driver refuses a node
"""
