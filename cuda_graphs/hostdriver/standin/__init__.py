# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The replacements of NVIDIA's libraries. Only cuda_graphs/hostdriver.py loads them.

They are libraries with the name of libcuda (libcuda/), a small NVML (nvml/), and the few functions of the CUDA Runtime
that cuda.core calls (runtime.py). Processes that multiprocessing starts load them too (workers.py). With
CUDA_GRAPHS_STAND_IN=1 so does every Python process that the program starts (children.py).
"""
