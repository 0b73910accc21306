# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""core/ and bindings/ hold programs of other libraries, which need a libcuda.so.1: NVIDIA's, or the host driver that
stands in for it. They are collected where there is one in use, and run by test_programs.py where there is none.
"""

import cuda_graphs as cg
from cuda_graphs import hostdriver


def has_libcuda():
    return hostdriver.stands_in() or cg.driver_info().kind == "cuda"


collect_ignore = [] if has_libcuda() else ["core", "bindings"]
