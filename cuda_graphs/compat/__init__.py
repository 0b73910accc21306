# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Names of Taichi and Quadrants on the objects of this package.

    import cuda_graphs.compat.taichi as ti

`python -m cuda_graphs.compat script.py` runs a program whose `import taichi` or `import quadrants` gives these modules.
Only the spelling is here. What a name does is in the library.
"""
