# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Writes what the functions of CUDA's mathematics library give on this machine's GPU, for test_mathematics.py to hold
the host driver to.

    CUDA_GRAPHS_DRIVER=cuda python -m tests.conformance.mathematics_record tests/conformance/mathematics_h200.npz
"""

import sys
from pathlib import Path

import numpy as np

import cuda_graphs as cg
from tests.conformance import test_mathematics as law
from tests.conformance.ptx_differential import Bench


def record(path: Path) -> None:
    device = cg.Device()
    device.set_current()
    bench = Bench(device)
    ptx = cg.Program(law.source(), code_type="c++").compile("ptx").code
    module = cg.ObjectCode.from_ptx(ptx)
    found = {"ptx": np.frombuffer(ptx, np.uint8)}
    for kind in law.KINDS:
        for function in (*law.ONE, *law.TWO):
            name = law.name_of(function, kind)
            few, many = (
                law.results(bench, module, kind, function, *law.arguments(kind, function, count))
                for count in (law.N, law.MANY)
            )
            found |= {name: law.kept(few), f"{name} of many": law.digest(many)}
    np.savez_compressed(path, made_by=np.array(f"{device.name}: {cg.driver_info()}"), **found)
    print(f"{len(found) // 2} functions on {device.name}: {path}")


if __name__ == "__main__":
    record(Path(sys.argv[1]))
