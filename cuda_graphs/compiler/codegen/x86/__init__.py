# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Tasks as functions for the host driver.

Other rooms may import:
    x86_target  the target X86
"""
