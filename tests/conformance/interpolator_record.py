# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Writes what the approximate instructions give on this machine's GPU: test_interpolator.py holds every driver to it.

CUDA_GRAPHS_DRIVER=cuda python -m tests.conformance.interpolator_record tests/conformance/interpolator_h200.npz
"""

import sys
from pathlib import Path

import numpy as np

import cuda_graphs as cg
from tests.conformance import test_interpolator as law


def record(path: Path) -> None:
    device = cg.Device()
    device.set_current()
    unit = law.Unit(device)
    found = {}
    for instruction in law.INSTRUCTIONS:
        for what, values in law.arguments(instruction).items():
            results = unit.results(instruction, values)
            name = f"{instruction.opcode} of {what}"
            found |= {name: law.digest(results), f"{name}, few": results[:: len(results) // law.FEW]}
    np.savez_compressed(path, made_by=np.array(f"{device.name}: {cg.driver_info()}"), **found)
    print(f"{len(law.INSTRUCTIONS)} instructions on {device.name}: {path}")


if __name__ == "__main__":
    record(Path(sys.argv[1]))
