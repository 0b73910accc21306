# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Task flows: nodes in program order, whose edges follow from the memory that they access.

Other rooms may import:
    explanation  EdgeExplanation
    task_flow    TaskFlow
"""
