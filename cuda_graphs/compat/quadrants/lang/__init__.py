# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`quadrants.lang`: the parts of it that programs use."""

from . import _template_mapper, impl

__all__ = ["_template_mapper", "impl"]
