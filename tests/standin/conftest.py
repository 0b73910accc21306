# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""core/ and bindings/ hold programs of other libraries, each of which test_programs.py runs in a process of its own."""

from cuda_graphs import hostdriver

collect_ignore = [] if hostdriver.stands_in() else ["core", "bindings"]
