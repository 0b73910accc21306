# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Show the drivers, their devices, the versions of packages, and the cache of compiled kernels.

If programs run on the host driver, the output says why no GPU is used. Paste it into a report of a problem."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import sys
from pathlib import Path
from typing import Any

import cuda_graphs as cg
from cuda_graphs.drawing.text import size_in_words

from . import cache
from .children import ask
from .outcome import Outcome

HELP = "show drivers, devices, versions and the cache"

# Packages whose versions matter. Those of the first line are required.
PACKAGES = """numpy ml_dtypes llvmlite cuda-python cuda-bindings cuda-pathfinder
    nvidia-cuda-nvrtc nvidia-nvjitlink nvidia-nvvm cupti-python nvtx rich resvg-py shtab
    cuda-core cupy-cuda13x cupy-cuda12x jax numba-cuda quadrants taichi torch triton warp-lang""".split()
# Variables of CUDA and of containers that decide which devices a process has.
VARIABLES = ("CUDA_", "NVIDIA_", "LD_LIBRARY_PATH")
KERNEL_DRIVER = Path("/proc/driver/nvidia/version")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def run(arguments: argparse.Namespace) -> Outcome:
    data = described()
    return Outcome("\n".join(f"{name:12} {text}" for name, text in rows(data)), data)


def described() -> dict[str, Any]:
    """Return the whole report."""
    return {
        "cuda_graphs": cg.__version__,
        "folder": os.path.dirname(os.path.abspath(cg.__file__)),
        "python": platform.python_version(),
        "executable": sys.executable,
        "system": platform.platform(),
        "processors": os.cpu_count(),
        "chosen": chosen(),
        "drivers": {kind: ask("driver_report", kind, driver=kind) for kind in ("cuda", "host")},
        "kernel_driver": kernel_driver(),
        "packages": versions(),
        "cache": cache.described(),
        "environment": {
            name: text for name, text in sorted(os.environ.items()) if name.startswith(VARIABLES)
        },
    }


def chosen() -> dict[str, str]:
    """Return the kind of the driver that programs get, and the reason; or the problem."""
    try:
        driver = cg.driver_info()
    except (cg.DriverNotFoundError, ValueError) as error:
        return {"problem": str(error)}
    return {"kind": driver.kind, "reason": driver.reason}


def kernel_driver() -> str | None:
    """Return the version line of NVIDIA's kernel module, or None if it is not loaded."""
    return KERNEL_DRIVER.read_text().splitlines()[0] if KERNEL_DRIVER.exists() else None


def versions() -> dict[str, str]:
    """Return the versions of the packages that are installed."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def rows(data: dict[str, Any]) -> list[tuple[str, str]]:
    """Return (name, text) of each line."""
    choice = data["chosen"]
    found = [
        ("cuda_graphs", f"{data['cuda_graphs']}, {data['folder']}"),
        ("Python", f"{data['python']}, {data['executable']}"),
        ("system", f"{data['system']}, {data['processors']} processors"),
        ("driver", f"{choice['kind']} ({choice['reason']})" if "kind" in choice else choice["problem"]),
    ]
    for kind, report in data["drivers"].items():
        found += driver_rows(kind, report)
    found.append(("kernel mod.", data["kernel_driver"] or "NVIDIA's is not loaded"))
    found += wrapped("packages", [f"{name} {version}" for name, version in data["packages"].items()])
    size, limit = size_in_words(data["cache"]["bytes"]), size_in_words(data["cache"]["limit_bytes"])
    state = "" if data["cache"]["is_enabled"] else ", off"
    found.append(("cache", f"{data['cache']['directory']}, {size} of {limit}{state}"))
    found += [("variable", f"{name}={text}") for name, text in data["environment"].items()]
    return found


def driver_rows(kind: str, report: dict[str, Any]) -> list[tuple[str, str]]:
    if "problem" in report:
        return [(f"  {kind}", f"not usable: {report['problem']}")]
    major, minor = report["version"]
    return [
        (f"  {kind}", f"CUDA {major}.{minor}, {report['path']}"),
        *(("", f"  device {each['number']}: {device_text(each)}") for each in report["devices"]),
    ]


def device_text(device: dict[str, Any]) -> str:
    major, minor = device["compute_capability"]
    return (
        f"{device['name']}, compute capability {major}.{minor}, {device['memory_bytes'] / 2**30:.1f} GiB, "
        f"{device['multiprocessors']} multiprocessors"
    )


def wrapped(name: str, parts: list[str], width: int = 100) -> list[tuple[str, str]]:
    """Return lines of `parts` with commas, each at most about `width` characters."""
    lines = [""]
    for part in parts:
        if len(lines[-1]) + len(part) > width:
            lines.append("")
        lines[-1] += ", " * bool(lines[-1]) + part
    return [(name if not number else "", line) for number, line in enumerate(lines)]
