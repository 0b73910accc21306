# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Every row of the PTX table (tests/ptx/table.py) through the public API, on the driver of this process.

    python -m tests.conformance.ptx_differential ...
        --record out.npz        the results of every row, to the bit
        --compare a.npz b.npz   two recordings with each other and with what the table expects
        --both folder           records libcuda and the host driver on this machine, and compares

Results are compared to the bit, except that all NaNs of arithmetic are equal, and rows with a tolerance must be within
it. Exit status: the number of rows that differ, at most 100.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import cuda_graphs as cg
from tests.ptx import table

ROOT = Path(__file__).resolve().parents[2]
Rows = list[tuple[int, table.Row]]
CHUNK = 50
CONFIG = cg.LaunchConfig(grid=table.GRID, block=table.BLOCK)


class Bench:
    """Moves arrays to the device, launches, and brings results back."""

    def __init__(self, device: cg.Device) -> None:
        self.stream = device.create_stream()
        self.device = device
        self.pinned = cg.PinnedMemoryResource()

    def _through_host(self, array: np.ndarray) -> cg.Buffer:
        staging = self.pinned.allocate(array.nbytes, stream=self.stream)
        np.from_dlpack(staging).view(np.uint8)[:] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        return staging

    def run(
        self, config: cg.LaunchConfig, kernel: cg.Kernel, arrays: list[np.ndarray], *values
    ) -> list[np.ndarray]:
        """Launches the kernel with copies of the arrays on the device and the values; returns the arrays' new
        content."""
        hosts = [self._through_host(array) for array in arrays]
        buffers = [self.device.allocate(array.nbytes, stream=self.stream) for array in arrays]
        for buffer, host in zip(buffers, hosts, strict=True):
            buffer.copy_from(host, stream=self.stream)
        cg.launch(self.stream, config, kernel, *buffers, *values)
        for buffer, host in zip(buffers, hosts, strict=True):
            buffer.copy_to(host, stream=self.stream)
        self.stream.sync()
        found = [
            np.from_dlpack(host).view(array.dtype).reshape(array.shape).copy()
            for host, array in zip(hosts, arrays, strict=True)
        ]
        for buffer in (*buffers, *hosts):
            buffer.close(self.stream)
        return found

    def row(self, kernel: cg.Kernel, row: table.Row) -> np.ndarray:
        arrays = [*row.inputs, *[np.zeros(1, np.uint8)] * (3 - len(row.inputs)), row.output()]
        return self.run(CONFIG, kernel, arrays, table.COUNT)[-1]


def results(rows: Rows, bench: Bench) -> Iterator[tuple[table.Row, np.ndarray | str]]:
    """Each row with its results, or with why its module does not load."""
    try:
        module = cg.ObjectCode.from_ptx(table.module_text(rows).encode())
        kernels = [module.get_kernel(row.entry(number)) for number, row in rows]
    except cg.CUDAError as refused:
        if len(rows) == 1:
            yield rows[0][1], str(refused)
        else:  # one by one, so that the refused row is known
            for row in rows:
                yield from results([row], bench)
        return
    for (_, row), kernel in zip(rows, kernels, strict=True):
        yield row, bench.row(kernel, row)


def chunks(rows: Rows) -> Iterator[Rows]:
    for at in range(0, len(rows), CHUNK):
        yield rows[at : at + CHUNK]


def record(path: Path) -> int:
    device = cg.Device()
    device.set_current()
    bench = Bench(device)
    rows = list(enumerate(table.all_rows()))
    found = [result for part in chunks(rows) for result in results(part, bench)]
    refused = {row.id: text for row, text in found if isinstance(text, str)}
    arrays = {f"r{k}": result for k, (_, result) in enumerate(found) if not isinstance(result, str)}
    names = np.array([row.id for row, _ in found])
    np.savez_compressed(path, names=names, driver=np.array(f"{device.name}: {cg.driver_info()}"), **arrays)
    for name, text in refused.items():
        print(f"does not load: {name}: {text}")
    print(f"{len(arrays)} rows of {len(found)} recorded on {device.name}: {path}")
    return len(refused)


def recording(path: Path) -> dict[str, np.ndarray]:
    """The results by row."""
    with np.load(path) as stored:
        print(f"{path}: {stored['driver']}")
        names = stored["names"].tolist()
        return {name: stored[f"r{k}"] for k, name in enumerate(names) if f"r{k}" in stored}


def compare(first: Path, second: Path) -> int:
    a, b = recording(first), recording(second)
    differing, other_nans, wrong = 0, 0, {first: 0, second: 0}
    for row in table.all_rows():
        if row.id not in a or row.id not in b:
            print(f"not in both: {row.id}")
            differing += 1
        for path, recorded in ((first, a), (second, b)):
            if row.id not in recorded:
                wrong[path] += 1
            elif text := table.complaint(row, recorded[row.id]):
                print(f"{path.name} is not what is expected: {text}")
                wrong[path] += 1
        if row.id not in a or row.id not in b:
            continue
        if text := table.complaint(row, a[row.id], b[row.id], exact=True):
            print(f"{first.name} is not {second.name}: {text}")
            differing += 1
        elif a[row.id].tobytes() != b[row.id].tobytes():
            other_nans += 1
    rows = len(table.all_rows())
    print(f"{rows} rows: {differing} differ; {other_nans} only in which NaN they make")
    for path, count in wrong.items():
        print(f"{path.name}: {rows - count} as expected, {count} not")
    return differing + sum(wrong.values())


def both(folder: Path) -> int:
    folder = folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    refused = 0
    for driver in ("cuda", "host"):
        command = [sys.executable, "-m", __spec__.name, "--record", folder / f"ptx_{driver}.npz"]
        environment = {**os.environ, "CUDA_GRAPHS_DRIVER": driver}
        status = subprocess.run(command, env=environment, cwd=ROOT, check=False).returncode
        if not (folder / f"ptx_{driver}.npz").exists():
            return 100
        refused += status
    return refused + compare(folder / "ptx_cuda.npz", folder / "ptx_host.npz")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--record", type=Path, metavar="OUT")
    way.add_argument("--compare", type=Path, nargs=2, metavar=("A", "B"))
    way.add_argument("--both", type=Path, metavar="FOLDER")
    args = parser.parse_args()
    if args.record:
        return record(args.record)
    return compare(*args.compare) if args.compare else both(args.both)


if __name__ == "__main__":
    sys.exit(min(main(), 100))
