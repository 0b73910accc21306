# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""From Python source to IR: one walk over the syntax tree, in which every value gets its type.

What belongs here reads Python's syntax and knows compile-time values; what means something to the IR alone is a pass.
"""

from .translate import translate

__all__ = ["translate"]
