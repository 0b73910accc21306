# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that nobody thought of, for test_random_programs.py: a grammar of the language, from which Hypothesis draws.

A program is a kernel of several tasks with functions that it calls. What it computes must not depend on the order of
parallel iterations. So in each parallel loop an array, and a variable from outside, has one of three parts to play
there: it is only read; or each iteration has elements of its own; or integers are gathered in it by one operator whose
order has no meaning. A loop of one iteration may do anything. Left out is what has no one result on all machines:
functions that each machine has its own of, which of two zeros is the smaller, the bits of NaN.
"""

from tests.compiler.programs.tasks import arguments, programs
from tests.compiler.programs.writer import ARRAYS, COLUMNS, FIELD, ROWS, SIZE, Inner, Settings

__all__ = ["ARRAYS", "COLUMNS", "FIELD", "ROWS", "SIZE", "Inner", "Settings", "arguments", "programs"]
