# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`programs`: the programs of tests/runtime/Makefile, with the library of the package. `Answers` talks to one."""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import cuda_graphs as cg
from cuda_graphs.kernels.arrays import keep_alive
from tests.saving import graphs

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LIBRARY = ROOT / "cuda_graphs/runtime/libcuda_graphs.so"


def make(*arguments):
    """One at a time: all tests share what is built."""
    build = ROOT / "build/runtime"
    build.mkdir(parents=True, exist_ok=True)
    with (build / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        command = ["make", "-s", "-C", HERE, f"PYTHON={sys.executable}", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def programs():
    """programs(name, *arguments): a process that runs a program on the driver of this test run."""
    if not (shutil.which("make") and shutil.which("g++")):
        pytest.skip("needs make and g++")
    done = make("programs", f"LIBRARY={LIBRARY}")
    assert done.returncode == 0, done.stdout + done.stderr
    return ROOT / "build/runtime/plain"


@pytest.fixture(autouse=True)
def kernels_forget(device):
    """Kernels keep no code after a test: what is counted then is what the test has left behind."""
    yield
    device.sync()
    keep_alive.release_finished()
    for value in vars(graphs).values():
        if isinstance(value, cg.KernelFunction):
            value.forget()


@pytest.fixture
def environment(driver):
    return {**os.environ, "CUDA_GRAPHS_DRIVER": driver.kind}


class Answers:
    """A program that answers each line with a line."""

    def __init__(self, program, *arguments, env=None):
        self.process = subprocess.Popen(
            [program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env
        )

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.stdin.close()
        self.process.stdout.close()
        code = self.process.wait(60)
        assert error[0] is not None or code == 0, f"the program ended with {code}"

    def ask(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, f"the program ended at {line!r}"
        return answer.rstrip("\n")
