# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Build the C++ program of this folder and time the driver at a path with it.

    python benchmarks/raw/run.py LIBRARY [--repeats N] [--processes N | --full]

Prints JSON: {row: [median of each process, in microseconds]}, since what a call costs depends on where a process has
its memory; with --full what one program itself prints. LIBRARY is `libcuda.so.1` or the host driver's
`libcuda_graphs_hostdriver.so`. The program is built again when one of its sources is newer.
"""

import argparse
import json
import os
import subprocess
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROGRAM = ROOT / "build" / "raw" / "raw"
FLAGS = ["-std=c++17", "-O3", "-Wall", "-Wextra", "-Werror", "-Wsign-conversion"]
# Sources in addition to the files of this folder.
SEEN = [
    ROOT / "cuda_graphs/core/driver/functions.def",
    ROOT / "cuda_graphs/hostdriver/image_loader.h",
]


def cuda_include() -> Path:
    """Return the folder of cuda.h, found as in setup.py."""
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(variable) and Path(os.environ[variable], "include/cuda.h").exists():
            return Path(os.environ[variable], "include")
    from cuda import pathfinder

    folder = pathfinder.find_nvidia_header_directory("cudart")
    if folder is None:
        raise SystemExit("cuda.h not found: install the wheel nvidia-cuda-runtime, or set CUDA_HOME")
    return Path(folder)


def build() -> Path:
    """Return the program; compile it if a source is newer."""
    sources = sorted(HERE.glob("*.cpp"))
    newest = max(path.stat().st_mtime for path in [*sources, *HERE.glob("*.hpp"), *SEEN])
    if not PROGRAM.exists() or PROGRAM.stat().st_mtime < newest:
        PROGRAM.parent.mkdir(parents=True, exist_ok=True)
        command = ["g++", *FLAGS, f"-I{cuda_include()}", *map(str, sources), "-ldl", "-o", str(PROGRAM)]
        subprocess.run(command, check=True)
    return PROGRAM


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("library")
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--processes", type=int, default=5)
    parser.add_argument("--full", action="store_true")
    arguments = parser.parse_args()
    command = [str(build()), arguments.library, str(arguments.repeats)]

    def measured() -> dict[str, Any]:
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)

    if arguments.full:
        print(json.dumps(measured(), indent=1))
        return
    runs = [measured()["rows"] for _ in range(arguments.processes)]
    print(json.dumps({name: [run[name]["median"] for run in runs] for name in runs[0]}, indent=1))


if __name__ == "__main__":
    main()
