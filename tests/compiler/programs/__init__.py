# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Random programs for test_random_programs.py: a grammar of the language, from which Hypothesis draws.

A program is a kernel of several tasks with functions that it calls. Its results must not depend on the order of
parallel iterations. In each parallel loop an array, and a variable from outside, therefore has one of three roles. It
is only read; or each iteration has elements of its own; or integers are gathered in it by one commutative operator. A
loop of one iteration may do anything. The grammar leaves out operations whose results differ between machines:
functions with an implementation for each machine, the smaller of two zeros, the bits of NaN.
"""

from tests.compiler.programs.tasks import arguments, programs
from tests.compiler.programs.writer import ARRAYS, COLUMNS, FIELD, ROWS, SIZE, Inner, Settings

__all__ = ["ARRAYS", "COLUMNS", "FIELD", "ROWS", "SIZE", "Inner", "Settings", "arguments", "programs"]
