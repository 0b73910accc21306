# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws: ranks find each other under each launcher, and by communicators of other libraries."""

import os
import socket
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress

import pytest

import cuda_graphs as cg
from cuda_graphs.distributed import start
from tests.distributed.ranks import ROOT

LIMIT_S = 100
SLURM = {"SLURM_PROCID": "1", "SLURM_NTASKS": "3", "SLURM_LOCALID": "1"}
TORCHRUN = {"RANK": "1", "WORLD_SIZE": "3", "LOCAL_RANK": "1"}
ADDRESS = {"MASTER_ADDR": "node1"}


@pytest.mark.parametrize(
    ("variables", "launcher"),
    [
        ({}, None),
        (SLURM, None),  # MPI finds these ranks
        (SLURM | ADDRESS, "srun"),
        (TORCHRUN | ADDRESS, "torchrun"),
        (TORCHRUN | SLURM | ADDRESS, "torchrun"),  # torchrun in a job of Slurm
        (ADDRESS, None),
    ],
)
def test_the_variables_of_the_environment_tell_the_launcher(variables, launcher, monkeypatch):
    for name in {*SLURM, *TORCHRUN, *ADDRESS}:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert start.find_launcher() == launcher


@pytest.mark.parametrize(("launcher", "variable"), [("srun", "SLURM_NTASKS"), ("torchrun", "WORLD_SIZE")])
def test_ranks_that_mpi_does_not_see_are_refused_on_the_host_driver(launcher, variable, monkeypatch):
    monkeypatch.setenv(variable, "3")
    with pytest.raises(RuntimeError, match=f"{launcher} started 3 processes, and MPI sees 1.*mpiexec -n 3"):
        start.check_size(1, launcher)
    start.check_size(3, launcher)
    start.check_size(1, None)


def gpus():
    """Return the number of ranks: one for each GPU, at most 2."""
    pytest.importorskip("torch")
    return min(2, len(cg.Device.get_all_devices()))


def agreeing(output, ranks):
    """Return whether each rank said that it agrees with NumPy, and that its loop ran on the device."""
    return all(
        f"rank {each} of {ranks} agrees with NumPy, the loop is conditional" in output
        for each in range(ranks)
    )


@pytest.mark.cuda
@pytest.mark.parametrize("way", ["init", "torch", "nccl"])
def test_ranks_of_torchrun_sum(way):
    ranks = gpus()
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks))
    child = subprocess.run(
        [sys.executable, *launcher, "-m", "tests.distributed.starts", way],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert child.returncode == 0 and agreeing(child.stdout, ranks), child.stdout + child.stderr


@contextmanager
def held_port():
    """Yield a port that Linux gives to no other program, and on which rank 0 can listen.

    A port that is only free may go to another test process while the ranks import PyTorch. Then rank 0 fails, and the
    other ranks wait, or connect to that process. Linux shares a port between sockets with SO_REUSEADDR if at most one
    of them listens. PyTorch's store sets this option.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("", 0))
        yield holder.getsockname()[1]


def test_the_owner_of_a_held_port_can_listen():
    with held_port() as port, socket.create_server(("localhost", port)) as server:
        with socket.create_connection(("localhost", port)), server.accept()[0]:
            pass
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.bind(("", port))


@pytest.mark.cuda
def test_ranks_with_the_variables_of_slurm_sum():
    """Slurm itself is not needed: it starts processes with these variables."""
    ranks = gpus()
    with held_port() as port:
        output, codes = run_ranks(ranks, port)
    assert codes == [0] * ranks and agreeing(output, ranks), output


def run_ranks(ranks, port):
    """Return what the ranks print, and their exit codes. A rank that hangs prints where and ends (starts.py)."""
    common = {"MASTER_ADDR": "localhost", "MASTER_PORT": str(port), "SLURM_NTASKS": str(ranks)}
    with tempfile.TemporaryFile("w+") as log:
        children = [
            subprocess.Popen(
                [sys.executable, "-m", "tests.distributed.starts", "init"],
                cwd=ROOT,
                env=os.environ
                | common
                | {"PYTHONPATH": str(ROOT), "SLURM_PROCID": str(each), "SLURM_LOCALID": str(each)},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
            for each in range(ranks)
        ]
        try:
            with suppress(subprocess.TimeoutExpired):  # then it has the exit code of a killed process
                for child in children:
                    child.wait(LIMIT_S)
        finally:
            for child in children:
                child.kill()
        codes = [child.wait() for child in children]
        log.seek(0)
        return log.read(), codes
