# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What is put in the place of NVIDIA's libraries by cuda_graphs/hostdriver.py, and by nothing else: libraries with the
name of libcuda (libcuda/), a small NVML (nvml/), and the few functions of the CUDA Runtime that cuda.core calls
(runtime.py). Processes that multiprocessing starts are given the same (workers.py), and where CUDA_GRAPHS_STAND_IN says
so, every Python process that the program starts (children.py).
"""
