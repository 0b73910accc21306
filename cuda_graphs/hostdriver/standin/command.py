# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a program with the host driver in the place of ``libcuda.so.1``, so that any CUDA program runs on a CPU::

    python -m cuda_graphs.hostdriver script.py [arguments]
    python -m cuda_graphs.hostdriver -m module [arguments]
    python -m cuda_graphs.hostdriver -c code [arguments]

A ``dlopen`` of ``libcuda.so.1`` then returns the host driver: for cuda.bindings, cuda.core, ctypes. This holds in this
process, and in the processes that multiprocessing starts for the program ("spawn", "forkserver"). With
CUDA_GRAPHS_STAND_IN=1 it holds in every Python process that the program starts. Any other process that the program
starts is unchanged, unless this command starts it as well. A forked process cannot use the driver, as with CUDA.

Only this module loads the host driver under that name. In a running process (a notebook, a conftest.py), call
`stand_in()` before any library loads libcuda.
"""

import ctypes
import os
import runpy
import sys
import traceback
from pathlib import Path
from types import ModuleType, TracebackType
from typing import NoReturn

from cuda_graphs.core.driver import choice

from . import children, runtime, workers

__all__ = ["main", "stand_in", "stands_in"]

USAGE = "usage: python -m cuda_graphs.hostdriver (script.py | -m module | -c code | -) [arguments]"
NAME = "libcuda.so.1"
# The name without the version leads to the same driver.
NAMES = {NAME: "libcuda_graphs_standin.so", "libcuda.so": "libcuda_graphs_standin_unversioned.so"}
NVML = "libnvidia-ml.so.1"
FOLDER = Path(__file__).parent


def stands_in() -> bool:
    """Return True if the host driver is in the place of libcuda in this process."""
    loaded = _loaded(NAME)
    return loaded is not None and hasattr(loaded, "cghStandsIn")


def stand_in() -> None:
    """Put the host driver in the place of ``libcuda.so.1`` for the rest of this process, and for the processes that
    multiprocessing starts from now on with "spawn" or "forkserver". Further calls have no effect.

    Call it before any library loads libcuda: before the first import of cuda.bindings, cuda.core, CuPy, PyTorch.

    Raises:
        RuntimeError: NVIDIA's driver, or another library of that name, is already loaded in this process; or the C
            library does not find libraries by their SONAME (glibc does); or CUDA_GRAPHS_STAND_IN is neither 0 nor 1.
        OSError: The library is missing; reinstall cuda_graphs.
    """
    for name in NAMES:
        other = _loaded(name)
        if other is not None and not hasattr(other, "cghStandsIn"):
            raise RuntimeError(
                f"a library of the name {name} is loaded in this process already, so the host driver cannot stand in "
                "for it. Call cuda_graphs.hostdriver.stand_in() before any library loads CUDA."
            )
    choice.settle_on_host("the host driver stands in for libcuda (cuda_graphs.hostdriver)")
    for name, file in NAMES.items():
        ctypes.CDLL(str(FOLDER / file), mode=os.RTLD_GLOBAL | os.RTLD_NOW)
        library = _loaded(name)
        if library is None:
            raise RuntimeError(f"the C library does not find {file} by its SONAME {name}; use glibc")
        library.cghReportRefusals(1)  # few programs read the log of a module that fails to load
    if _loaded(NVML) is None:
        ctypes.CDLL(str(FOLDER / "libcuda_graphs_standin_nvml.so"), mode=os.RTLD_LOCAL | os.RTLD_NOW)
    runtime.install()
    workers.install()
    children.install()


def _loaded(name: str) -> ctypes.CDLL | None:
    """Return the library that `dlopen(name)` finds without loading it, or None."""
    try:
        return ctypes.CDLL(name, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        return None


def main(arguments: list[str]) -> None:
    """Run the command; `arguments` follow ``python -m cuda_graphs.hostdriver`` on the command line."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(f"{USAGE}\n\n{__doc__}" if arguments else USAGE, file=sys.stdout if arguments else sys.stderr)
        raise SystemExit(0 if arguments else 2)
    what, *rest = arguments
    if what in ("-m", "-c") and not rest:
        _refuse(f"{what} needs an argument\n{USAGE}")
    if what.startswith("-") and what not in RUN:
        _refuse(f"unknown option {what}\n{USAGE}")
    stand_in()
    sys.excepthook = _show_from_the_program_on
    RUN.get(what, run_script)(arguments)


def _refuse(why: str) -> NoReturn:
    """Print `why` and exit with the code of Python's own command-line errors."""
    print(why, file=sys.stderr)
    raise SystemExit(2)


def run_script(arguments: list[str]) -> None:
    """Run a script like ``python script.py``. A folder or zip file with a __main__.py is a script too."""
    script = arguments[0]
    if not os.path.exists(script):
        _refuse(f"{sys.executable}: can't open file {os.path.abspath(script)!r}: no such file")
    sys.argv = arguments
    is_file = os.path.isfile(script) and not script.endswith((".zip", ".pyz"))
    _replace_first_path(os.path.dirname(os.path.realpath(script)) if is_file else None)
    runpy.run_path(script, run_name="__main__")


def run_module(arguments: list[str]) -> None:
    """Run a module like ``python -m module``."""
    sys.argv = arguments[1:]
    runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)


def run_code(arguments: list[str]) -> None:
    """Run code like ``python -c code``."""
    sys.argv = ["-c", *arguments[2:]]
    _replace_first_path("")
    _run_text(arguments[1], "<string>")


def run_input(arguments: list[str]) -> None:
    """Run the code on standard input like ``python -``."""
    sys.argv = arguments
    _replace_first_path("")
    _run_text(sys.stdin.read(), "<stdin>")


RUN = {"-m": run_module, "-c": run_code, "-": run_input}


def _replace_first_path(folder: str | None) -> None:
    """Replace the first entry of sys.path, which Python added for this command, by the program's `folder`, if any."""
    if not sys.flags.safe_path:  # with -P and -I Python added no entry
        sys.path[:1] = [] if folder is None else [folder]


def _run_text(text: str, name: str) -> None:
    module = ModuleType("__main__")
    sys.modules["__main__"] = module
    exec(compile(text, name, "exec"), vars(module))


def _show_from_the_program_on(
    kind: type[BaseException], error: BaseException, where: TracebackType | None
) -> None:
    """Print the traceback of an error from the program's first frame on, as without this command.

    An error of another thread has no frame of this file, and is printed as it is.
    """
    files = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(where)]
    ours = {__file__, runpy.__file__, "<frozen runpy>"}
    first = files.index(__file__) if __file__ in files else 0
    for file in files:
        if where is None or (first <= 0 and file not in ours):
            break
        where, first = where.tb_next, first - 1
    traceback.print_exception(kind, error, where)
