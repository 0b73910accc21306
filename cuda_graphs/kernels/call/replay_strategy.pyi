# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.kernels.graph.graph_stats import GraphStats
from cuda_graphs.kernels.specialisation.specialisation import Specialisation

from .strategy import Strategy

MOST_GRAPHS: int

class ReplayStrategy(Strategy):
    def stats(self, called: Specialisation | None) -> GraphStats: ...
