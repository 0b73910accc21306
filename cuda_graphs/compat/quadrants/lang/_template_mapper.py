# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`quadrants.lang._template_mapper`: a module in whose `__builtins__` programs set names."""
