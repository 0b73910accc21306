# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What users can ask of a kernel, and the errors that kernels with `debug=True` report."""
