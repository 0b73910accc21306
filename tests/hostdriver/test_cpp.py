# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the host driver's own C++ tests hold, with 0, 1, 2 and 8 workers, for the library that the package uses."""

import fcntl
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
LIBRARY = HERE.parents[1] / "cuda_graphs/hostdriver/libcuda_graphs_hostdriver.so"
SUBJECTS = sorted(path.stem.removeprefix("test_") for path in (HERE / "cpp").glob("test_*.cpp"))


@pytest.mark.skipif(not (shutil.which("make") and shutil.which("g++")), reason="needs make and g++")
@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_host_driver_keeps_its_laws_in_cpp(subject):
    if not LIBRARY.exists():
        pytest.skip("the host driver is not built: run `make`")
    command = ["make", "-s", "-C", HERE, f"PYTHON={sys.executable}", f"DRIVER={LIBRARY}", f"TESTS={subject}"]
    build = HERE.parents[1] / "build/hostdriver"
    build.mkdir(parents=True, exist_ok=True)
    with (build / "lock").open(
        "w"
    ) as lock:  # subjects share check.o; they are built one at a time and run in parallel
        fcntl.flock(lock, fcntl.LOCK_EX)
        built = subprocess.run([*command, "programs"], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    done = subprocess.run([*command, "run"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r"(\d) workers: \d+ laws hold, 0 broken", done.stdout) == ["0", "1", "2", "8"]
