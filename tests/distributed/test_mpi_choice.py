# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: mpi4py loads the library of the mpiexec that started the process, and a library of another MPI is an error.

A copy of the shell with the name of a program of mpiexec starts Python here, so no second MPI is needed.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.distributed.ranks import ROOT

LIMIT_S = 60
PRINT_LIBRARY = """
import cuda_graphs as cg
comm = cg.distributed.init()
print(comm.size, *{line.split()[-1] for line in open("/proc/self/maps") if "libmpi.so" in line})
"""
LOADED_BY_THE_USER = "import mpi4py.MPI" + PRINT_LIBRARY


@pytest.fixture
def library():
    """Return the path of the library of MPICH that mpi4py loads alone."""
    pytest.importorskip("mpi4py", reason="needs pip install 'cuda-graphs[mpi]'")
    found = started_by(None, PRINT_LIBRARY).stdout.split()
    if not found or not found[-1].endswith("libmpi.so.12"):
        pytest.skip("needs MPICH")
    return found[-1]


def copy_of(library, folder):
    """Copy the library into a folder, with a link to the folder of the libraries that it needs. Return the path."""
    folder.mkdir()
    (folder / "mpich").symlink_to(Path(library).with_name("mpich"))
    return str(shutil.copy(library, folder / "libmpi.so.12"))


def started_by(program, text, **variables):
    """Run a program of Python, started by a copy of the shell at the path `program`."""
    command = [sys.executable, "-W", "error", "-c", text]
    if program is not None:
        program.parent.mkdir(parents=True)
        shutil.copy(os.path.realpath("/bin/sh"), program)
        command = [program, "-c", '"$@"; exit $?', "sh", *command]
    kept = {name: value for name, value in os.environ.items() if name != "MPI4PY_LIBMPI"}
    return subprocess.run(
        command,
        cwd=ROOT,
        env=kept | {"PYTHONPATH": str(ROOT), "CUDA_GRAPHS_DRIVER": "host"} | variables,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


@pytest.mark.parametrize("folder", ["lib", "lib64"])
def test_mpi4py_loads_the_library_beside_mpiexec(library, folder, tmp_path):
    mine = copy_of(library, tmp_path / folder)
    child = started_by(tmp_path / "bin" / "hydra_pmi_proxy", PRINT_LIBRARY)
    assert child.stdout.split() == ["1", mine], child.stderr


def test_a_library_that_the_user_has_chosen_is_loaded(library, tmp_path):
    copy_of(library, tmp_path / "lib")
    child = started_by(tmp_path / "bin" / "hydra_pmi_proxy", PRINT_LIBRARY, MPI4PY_LIBMPI=library)
    assert child.stdout.split() == ["1", library], child.stderr


@pytest.mark.parametrize("program", [PRINT_LIBRARY, LOADED_BY_THE_USER])
def test_mpiexec_of_another_mpi_is_an_error_that_names_both_and_the_remedy(library, program, tmp_path):
    child = started_by(tmp_path / "bin" / "prterun", program)
    assert child.returncode == 1
    for text in (
        f"{tmp_path}/bin/prterun of Open MPI",
        "mpi4py loads MPICH",
        "MPI4PY_LIBMPI",
        "libmpi.so.40",
    ):
        assert text in child.stderr
