# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A fuzzer of the host driver's image loader. It loads randomly damaged PTX, fatbins and bytes from files, as
cuModuleLoad does. Each image is loaded or refused; images that crash, hang or fail in another way are kept.

    python -m tests.fuzz.images --minutes 60 [--first NUMBER] [--keep FOLDER]

The cases run in a process of their own with a limit of memory. It is replaced when it dies or takes too long for one.
"""

import argparse
import ctypes
import os
import resource
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.fuzz.mutations import case

ROOT = Path(__file__).resolve().parents[2]
MEMORY = 6 << 30  # that a process which loads may write to
UNKNOWN = 999  # CUDA_ERROR_UNKNOWN: an exception of the loader that is no refusal (core/driver/seam.pyx)
PATIENCE = 60  # seconds for one case, on a machine that is busy with other things


class Driver:
    """The host driver's own entry points, with the image loader that cuda_graphs registers."""

    def __init__(self) -> None:
        import cuda_graphs as cg

        cg.use_driver("host")
        cg.Device().set_current()
        self.library = ctypes.CDLL(cg.driver_info().path)
        self.library.cghLastLoadLog.restype = ctypes.c_char_p

    def outcome(self, image: bytes, path: Path) -> str:
        """Loads an image, and does not run it: "" if it was loaded or refused for a reason, else what went wrong."""
        path.write_bytes(image)
        module = ctypes.c_void_p()
        status = self.library.cuModuleLoad(ctypes.byref(module), os.fsencode(path))
        if status == 0:
            return "" if self.library.cuModuleUnload(module) == 0 else "it cannot be unloaded"
        why = self.library.cghLastLoadLog().decode(errors="replace")
        return why or "no reason" if status == UNKNOWN else ""


def work(first: int) -> None:
    """In the child: one line before each case, and one after."""
    os.nice(10)
    driver = Driver()
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    with tempfile.TemporaryDirectory() as folder:
        number = first
        while True:
            print("case", number, flush=True)
            print("done", repr(driver.outcome(case(number), Path(folder, "image"))), flush=True)
            number += 1


class Worker:
    def __init__(self, first: int, module: str):
        command = [sys.executable, "-m", module, "--work", str(first)]
        environment = {**os.environ, "CUDA_GRAPHS_DRIVER": "host", "CUDA_GRAPHS_CACHE": "0"}
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as the process)
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=self.errors
        )
        assert self.process.stdout is not None
        self.out = self.process.stdout

    def line(self) -> str | None:
        """The next line; "" if the process has ended, None if it takes too long."""
        if not select.select([self.out], [], [], PATIENCE)[0]:
            return None
        return self.out.readline().decode()

    def end(self) -> str:
        """Ends the process; returns its exit code and its last output."""
        self.process.kill()
        code = self.process.wait()
        self.errors.seek(0)
        return f"the process ended with {code}\n{self.errors.read().decode(errors='replace')[-3000:]}"


def run(
    minutes: float,
    first: int,
    keep: Path,
    module: str = "tests.fuzz.images",
    make: Callable[[int], bytes] = case,
) -> tuple[int, dict[int, str]]:
    """(how many cases ran, what was wrong by number). `make` returns the case of a number, which `module` runs. It
    tells and keeps each wrong case at once."""
    end = time.monotonic() + 60 * minutes
    number = first
    wrong: dict[int, str] = {}

    def note(bad: int, what: str) -> None:
        wrong[bad] = what
        print(f"case {bad}: {what}", flush=True)
        keep.mkdir(parents=True, exist_ok=True)
        (keep / f"case{bad}").write_bytes(make(bad))

    while time.monotonic() < end:
        worker = Worker(number, module)
        while time.monotonic() < end:
            head, tail = worker.line(), ""
            if head:
                number = int(head.split()[1])
                found = worker.line()
                tail = found or ""
                what = "it hangs" if found is None else ""
            if not head or not tail.startswith("done"):
                note(number, (what if head else "") or worker.end())
                number += 1
                break
            if tail.strip() != "done ''":
                note(number, tail)
            number += 1
        worker.end()
    print(
        f"{number - first} files, {len(wrong)} of them crash, hang or fail in another way than by a refusal"
    )
    return number - first, wrong


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=ROOT / "out" / "fuzz")
    parser.add_argument("--work", type=int)
    args = parser.parse_args()
    if args.work is not None:
        work(args.work)
    return min(1, len(run(args.minutes, args.first, args.keep)[1]))


if __name__ == "__main__":
    sys.exit(main())
