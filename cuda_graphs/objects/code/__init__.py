# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Program, ObjectCode, Kernel, their arguments and launches."""
