# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a program with the host driver in the place of ``libcuda.so.1``, so that other people's CUDA programs run on a
CPU::

    python -m cuda_graphs.hostdriver script.py [arguments]
    python -m cuda_graphs.hostdriver -m module [arguments]
    python -m cuda_graphs.hostdriver -c code [arguments]

Whatever asks for ``libcuda.so.1`` by ``dlopen`` in this process then gets the host driver: cuda.bindings, cuda.core,
ctypes. So it is in this process, and in those that multiprocessing starts for the program ("spawn", "forkserver"). With
CUDA_GRAPHS_STAND_IN=1 it is so in every Python process that the program starts. Any other process that it starts is an
ordinary one, unless it is started by this command as well; a forked one cannot use the driver, as with CUDA.

Nothing else ever loads the host driver under that name. In a process that runs already (a notebook, a conftest.py),
`stand_in()` does it, before anything has asked for libcuda.
"""

import ctypes
import os
import runpy
import sys
import traceback
from pathlib import Path
from types import ModuleType, TracebackType
from typing import NoReturn

from cuda_graphs._driver import choice
from cuda_graphs._standin import children, runtime, workers

__all__ = ["main", "stand_in", "stands_in"]

USAGE = "usage: python -m cuda_graphs.hostdriver (script.py | -m module | -c code | -) [arguments]"
NAME = "libcuda.so.1"
# Who asks for the name without the version gets the same.
NAMES = {NAME: "libcuda_graphs_standin.so", "libcuda.so": "libcuda_graphs_standin_unversioned.so"}
NVML = "libnvidia-ml.so.1"
FOLDER = Path(__file__).parent / "_standin"


def stands_in() -> bool:
    """Whether the host driver is in the place of libcuda in this process."""
    loaded = _loaded(NAME)
    return loaded is not None and hasattr(loaded, "cghStandsIn")


def stand_in() -> None:
    """Put the host driver in the place of ``libcuda.so.1`` for the rest of this process, and for the processes that
    multiprocessing starts from now on with "spawn" or "forkserver"; once is enough.

    To be called before anything looks for libcuda: before the first import of cuda.bindings, cuda.core, CuPy, PyTorch.

    Raises:
        RuntimeError: NVIDIA's driver, or another library of that name, is in this process already; or the C library
            does not find libraries by their SONAME (glibc does); or CUDA_GRAPHS_STAND_IN is neither 0 nor 1.
        OSError: The library is not there; reinstall cuda_graphs.
    """
    for name in NAMES:
        other = _loaded(name)
        if other is not None and not hasattr(other, "cghStandsIn"):
            raise RuntimeError(
                f"a library of the name {name} is loaded in this process already, so the host driver cannot stand in "
                "for it. Call cuda_graphs.hostdriver.stand_in() before anything looks for CUDA."
            )
    choice.settle_on_host("the host driver stands in for libcuda (cuda_graphs.hostdriver)")
    for name, file in NAMES.items():
        ctypes.CDLL(str(FOLDER / file), mode=os.RTLD_GLOBAL | os.RTLD_NOW)
        library = _loaded(name)
        if library is None:
            raise RuntimeError(f"the C library does not find {file} by its SONAME {name}; that takes glibc")
        library.cghTellRefusals(1)  # few programs ask for the log of a module that does not load
    if _loaded(NVML) is None:
        ctypes.CDLL(str(FOLDER / "libcuda_graphs_standin_nvml.so"), mode=os.RTLD_LOCAL | os.RTLD_NOW)
    runtime.install()
    workers.install()
    children.install()


def _loaded(name: str) -> ctypes.CDLL | None:
    """The library that `dlopen(name)` gives without loading one."""
    try:
        return ctypes.CDLL(name, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        return None


def main(arguments: list[str]) -> None:
    """What the command does: `arguments` are those behind ``python -m cuda_graphs.hostdriver``."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(f"{USAGE}\n\n{__doc__}" if arguments else USAGE, file=sys.stdout if arguments else sys.stderr)
        raise SystemExit(0 if arguments else 2)
    what, *rest = arguments
    if what in ("-m", "-c") and not rest:
        _refuse(f"{what} is followed by nothing\n{USAGE}")
    if what.startswith("-") and what not in RUN:
        _refuse(f"unknown option {what}\n{USAGE}")
    stand_in()
    sys.excepthook = _show_from_the_program_on
    RUN.get(what, run_script)(arguments)


def _refuse(why: str) -> NoReturn:
    """With the exit code that Python has for its own command line."""
    print(why, file=sys.stderr)
    raise SystemExit(2)


def run_script(arguments: list[str]) -> None:
    """As ``python script.py`` does; a folder or zip file with a __main__.py is a script too."""
    script = arguments[0]
    if not os.path.exists(script):
        _refuse(f"{sys.executable}: can't open file {os.path.abspath(script)!r}: no such file")
    sys.argv = arguments
    is_file = os.path.isfile(script) and not script.endswith((".zip", ".pyz"))
    _replace_first_path(os.path.dirname(os.path.realpath(script)) if is_file else None)
    runpy.run_path(script, run_name="__main__")


def run_module(arguments: list[str]) -> None:
    """As ``python -m module`` does."""
    sys.argv = arguments[1:]
    runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)


def run_code(arguments: list[str]) -> None:
    """As ``python -c code`` does."""
    sys.argv = ["-c", *arguments[2:]]
    _replace_first_path("")
    _run_text(arguments[1], "<string>")


def run_input(arguments: list[str]) -> None:
    """As ``python -`` does."""
    sys.argv = arguments
    _replace_first_path("")
    _run_text(sys.stdin.read(), "<stdin>")


RUN = {"-m": run_module, "-c": run_code, "-": run_input}


def _replace_first_path(folder: str | None) -> None:
    """The folder where this command was started is not on the program's path, but where Python puts it there."""
    if not sys.flags.safe_path:  # with -P and -I nothing was put there
        sys.path[:1] = [] if folder is None else [folder]


def _run_text(text: str, name: str) -> None:
    module = ModuleType("__main__")
    sys.modules["__main__"] = module
    exec(compile(text, name, "exec"), vars(module))


def _show_from_the_program_on(
    kind: type[BaseException], error: BaseException, where: TracebackType | None
) -> None:
    """The traceback of an error begins in the program, as without this command."""
    ours = {__file__, runpy.__file__, "<frozen runpy>"}
    while where is not None and where.tb_frame.f_code.co_filename in ours:
        where = where.tb_next
    traceback.print_exception(kind, error, where)


if __name__ == "__main__":
    main(sys.argv[1:])
