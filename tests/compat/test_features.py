# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: each documented feature of the peers gives the values that Python, NumPy or the peer's manual say."""

import pytest

from cuda_graphs.compat import algorithms
from tests.compat import features_of_fields, features_of_kernels

CASES = [*features_of_fields.CASES, *features_of_kernels.CASES]


@pytest.mark.parametrize("case", CASES, ids=[each.__name__ for each in CASES])
def test_feature_of_the_peers_gives_the_documented_values(case, driver):
    case()
    for each in (*vars(algorithms).values(), *vars(features_of_kernels).values()):
        if hasattr(each, "forget") and hasattr(each, "__wrapped__"):
            each.forget()
