# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The library of MPI that mpi4py loads: that of the mpiexec that started this process.

mpi4py loads the first library that it finds. With another MPI than that of mpiexec, each rank would be alone, or would
end in MPI_Init. The programs that start ranks are ancestors of this process, and their folder has the library.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["VARIABLE", "Starter", "find_starter"]

VARIABLE = "MPI4PY_LIBMPI"  # the path of the library, read by mpi4py
OPEN_MPI, MPICH = "Open MPI", "MPICH"
LIBRARIES = {OPEN_MPI: "libmpi.so.40", MPICH: "libmpi.so.12"}
FOLDERS = ("lib", "lib64")
# Program that starts ranks -> its MPI. Intel MPI has the launcher and the ABI of MPICH.
PROGRAMS = {
    "hydra_pmi_proxy": MPICH,
    "mpiexec.gforker": MPICH,
    "orted": OPEN_MPI,
    "orterun": OPEN_MPI,
    "prted": OPEN_MPI,
    "prterun": OPEN_MPI,
}
MISMATCH = (
    "{program} of {mpi} started this process, and mpi4py loads {version}, so the ranks cannot find each other. Set the "
    f"environment variable {VARIABLE} to the path of {{library}} of {{mpi}}, or start the program with the mpiexec of "
    "the MPI that mpi4py loads"
)


@dataclass(frozen=True)
class Starter:
    """The program that started this rank.

    Attributes:
        program: Its path.
        mpi: The name of its MPI, a key of LIBRARIES.
    """

    program: Path
    mpi: str

    def library(self) -> str | None:
        """Return the path of the library beside the program; None if it is elsewhere."""
        paths = (self.program.parent.parent / folder / LIBRARIES[self.mpi] for folder in FOLDERS)
        return next((str(path) for path in paths if path.exists()), None)

    def check(self, version: str) -> None:
        """Refuse the library of another MPI.

        Args:
            version: The text of MPI_Get_library_version.

        Raises:
            RuntimeError: It is the library of another MPI.
        """
        if version.startswith(OPEN_MPI) != (self.mpi == OPEN_MPI):
            name = " ".join(version.partition("\n")[0].partition(",")[0].split())
            library = LIBRARIES[self.mpi]
            raise RuntimeError(
                MISMATCH.format(program=self.program, mpi=self.mpi, version=name, library=library)
            )


def find_starter() -> Starter | None:
    """Return the nearest ancestor of this process that starts ranks; None for other launchers."""
    for program in ancestors():
        if program.name in PROGRAMS:
            return Starter(program, PROGRAMS[program.name])
    return None


def ancestors() -> Iterator[Path]:
    """Yield the programs of the parent of this process, of its parent, and so on, as far as they can be read."""
    process = os.getppid()
    while process > 0:
        try:
            yield Path(os.readlink(f"/proc/{process}/exe"))
            process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:  # a process of another user, or one that has ended
            return
