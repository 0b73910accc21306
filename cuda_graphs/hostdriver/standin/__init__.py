# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The replacements of NVIDIA's libraries. `stand_in()` and `python -m cuda_graphs.hostdriver` load them (command.py).

The replacements are libraries with the name of libcuda (libcuda/), a small NVML (nvml/), and the functions of the CUDA
Runtime that cuda.core calls (runtime.py). Processes that multiprocessing starts load them, too (workers.py). With
CUDA_GRAPHS_STAND_IN=1 every Python process that the program starts loads them (children.py).

Other rooms may import:
    command  `stand_in()` and the command line
"""
