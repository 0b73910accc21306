# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Artifacts on disk, and the fingerprint under which they are kept."""
