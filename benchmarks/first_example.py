# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""From a wheel to the first example: an empty environment, the wheel with its dependencies, and examples/hillslope.py.

    python benchmarks/first_example.py dist/cuda_graphs-*-cp311-*.whl

The interpreter that runs this file makes the environment. Nothing is cached: neither downloads nor code of kernels. The
times depend on the network and on other load, so the load average is printed too. The bar is 60 s of the clock.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
BAR_S = 60
LEFT_OUT = ("PYTHON", "VIRTUAL_ENV", "XDG_CACHE_HOME")


def cpu_seconds() -> float:
    """Return the CPU time of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(what: str, command: list[object], folder: Path) -> float:
    """Run a command with a home of its own, and without the settings of Python; return its seconds."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(LEFT_OUT)}
    environment |= {"HOME": str(folder / "home"), "PIP_NO_CACHE_DIR": "1"}
    start, used = time.perf_counter(), cpu_seconds()
    done = subprocess.run(
        [str(each) for each in command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{what} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    elapsed = time.perf_counter() - start
    print(f"{what:28} {elapsed:6.1f} s of the clock, {cpu_seconds() - used:6.1f} s of the CPU", flush=True)
    return elapsed


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wheel", type=Path)
    wheel = parser.parse_args().wheel.resolve()
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "home").mkdir()
        shutil.copytree(EXAMPLES, folder / "examples")
        python = folder / "venv/bin/python"
        install = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        total = timed("empty environment", [sys.executable, "-m", "venv", folder / "venv"], folder)
        total += timed("installation", [*install, f"{wheel}[cuda]", "matplotlib"], folder)
        total += timed("examples/hillslope.py", [python, "examples/hillslope.py"], folder)
    print(
        f"{'together':28} {total:6.1f} s of the clock, {cpu_seconds():6.1f} s of the CPU; load average "
        f"{before:.1f} before, {os.getloadavg()[0]:.1f} after; {os.cpu_count()} cores"
    )
    if total > BAR_S:
        raise SystemExit(f"more than {BAR_S} s")


if __name__ == "__main__":
    main()
