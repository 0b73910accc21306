# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Profiles of graphs: when each node ran, and what the times say.

A recorder (`host_recorder`, `cupti_recorder`) gives a Recording: the runs of nodes and bodies, with the handles of the
nodes. `assembly` assigns the runs to the nodes of the definitions, and `analysis` computes the rows of the table, the
critical path and the gaps. `table`, `pictures` and `trace_events` write them.

Other rooms may import:
    profile  `profile()` and the Profile that it returns
"""
