# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs as Python objects, on NVIDIA GPUs and on any CPU."""

from cuda_graphs._driver.choice import DriverInfo, driver_info, use_driver

__all__ = ["DriverInfo", "driver_info", "use_driver"]
