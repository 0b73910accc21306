# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""core/ and bindings/ hold programs of other libraries that need the host driver in the place of libcuda.so.1, where
test_programs.py runs each of them. Some of what they do NVIDIA's driver does not survive, as calls with a context that
is destroyed.
"""

from cuda_graphs import hostdriver

collect_ignore = [] if hostdriver.stands_in() else ["core", "bindings"]
