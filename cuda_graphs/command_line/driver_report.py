# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Prints a report of the driver of this process as JSON. `info` and `doctor` run this module once for each driver."""

from __future__ import annotations

import json
import sys
from typing import Any

import cuda_graphs as cg
from cuda_graphs.core.driver import choice

__all__ = ["main"]


def main(kind: str) -> None:
    print(json.dumps(report(kind)))


def report(kind: str) -> dict[str, Any]:
    """Return the driver's version and library, and its devices; or the "problem" of a driver that is not usable."""
    try:
        driver = cg.driver_info()
    except cg.DriverNotFoundError as error:
        return {"problem": choice.problem_of_cuda() if kind == "cuda" else str(error).splitlines()[0]}
    return {
        "kind": driver.kind,
        "version": list(driver.version),
        "path": driver.path,
        "devices": [described(device) for device in cg.Device.get_all_devices()],
    }


def described(device: Any) -> dict[str, Any]:
    return {
        "number": device.device_id,
        "name": device.name,
        "compute_capability": list(device.compute_capability),
        "memory_bytes": device.total_memory,
        "multiprocessors": device.properties.multiprocessor_count,
    }


if __name__ == "__main__":
    main(sys.argv[1])
