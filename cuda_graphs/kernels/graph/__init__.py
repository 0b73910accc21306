# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Graph kernels: nodes for tasks, replay of the executable graph, statistics."""
