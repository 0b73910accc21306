# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The state of a translation: the frame of a function, its scopes, and the values of its names."""
