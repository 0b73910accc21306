# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The choice of this process's driver, and its reason: CUDA if it finds a device, else the host driver.

The choice is made once, at the first device call, and is final.
"""

import os
import threading
from dataclasses import dataclass

from cuda_graphs.errors import DriverNotFoundError, limit_of_addresses

from . import seam

KINDS = ("auto", "cuda", "host")
VARIABLE = "CUDA_GRAPHS_DRIVER"
PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
HOST_LIBRARY = os.path.join(PACKAGE, "hostdriver", "libcuda_graphs_hostdriver.so")


@dataclass(frozen=True)
class DriverInfo:
    """The driver of this process."""

    kind: str
    """"cuda" or "host"."""
    version: tuple[int, int]
    """The CUDA version that the driver offers, (major, minor)."""
    path: str
    """The library that was loaded."""
    reason: str
    """The reason for the choice of this driver."""

    def __str__(self) -> str:
        major, minor = self.version
        return f"{self.kind} driver, CUDA {major}.{minor}, {self.path} ({self.reason})"


_lock = threading.RLock()
# A fork waits for a thread that is loading a driver: in the child that thread would not exist, and the lock
# would stay locked.
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
_wanted: tuple[str, str] | None = None
_settled: tuple[str, str] | None = None  # overrides all other choices, for good
_chosen: DriverInfo | None = None


def use_driver(kind: str) -> None:
    """Choose the driver of this process, before the first device call.

    Args:
        kind: ``"cuda"`` (NVIDIA's driver), ``"host"`` (the software driver of this package), or ``"auto"``
            (CUDA if it finds a device, else host). Overrides the variable ``CUDA_GRAPHS_DRIVER``.

    Raises:
        ValueError: `kind` is another word.
        RuntimeError: A driver of another kind is loaded already, or the host driver stands in for libcuda.
    """
    global _wanted
    _check_kind(kind, "use_driver()")
    with _lock:
        if _settled is not None and kind not in ("auto", _settled[0]):
            raise RuntimeError(
                f"use_driver({kind!r}) was called in a process where {_settled[1]}: no other driver can be loaded."
            )
        if _chosen is not None and kind not in ("auto", _chosen.kind):
            raise RuntimeError(
                f"use_driver({kind!r}) was called after the first device call: this process runs the {_chosen.kind} "
                f"driver ({_chosen.reason}). Call use_driver() before any device call, or set {VARIABLE}={kind}."
            )
        _wanted = (kind, f"use_driver({kind!r})")


def settle_on_host(reason: str) -> None:
    """Choose the host driver, whatever the program or environment chooses. Plugs in its image loader, but does not
    initialise it: the program itself calls cuInit.

    Raises:
        RuntimeError: The CUDA driver is loaded already.
    """
    global _settled
    with _lock:
        if _chosen is not None and _chosen.kind != "host":
            raise RuntimeError(f"this process runs the {_chosen.kind} driver already ({_chosen.reason})")
        seam.plug_image_loader(HOST_LIBRARY)
        _settled = ("host", reason)


def driver_info() -> DriverInfo:
    """Return the driver of this process; choose and load it if that has not happened yet.

    Raises:
        DriverNotFoundError: The requested driver cannot be loaded.
    """
    return ensure_loaded()


def problem_of_cuda() -> str:
    """Return the reason why the CUDA driver could not be loaded in this process, in which no driver is loaded."""
    return _try_cuda()[1]


def wants_instrumented_code() -> bool:
    """Return True when the driver of this process looks for bugs, so that code must report each memory access
    to it."""
    return ensure_loaded().kind == "host" and seam.wants_instrumented_code()


def runs_in_order() -> bool:
    """Return True when one thread of the host driver runs all blocks of a launch, in order."""
    return ensure_loaded().kind == "host" and seam.concurrency() == 1


def ensure_loaded() -> DriverInfo:
    global _chosen
    if _chosen is None:
        with _lock:
            if _chosen is None:
                _chosen = _load(*(_settled or _wanted or _from_environment()))
    return _chosen


def _check_kind(kind: str, who: str) -> None:
    if kind not in KINDS:
        raise ValueError(f"{who}: unknown driver {kind!r}; expected one of {', '.join(map(repr, KINDS))}")


def _from_environment() -> tuple[str, str]:
    kind = os.environ.get(VARIABLE, "auto")
    _check_kind(kind, VARIABLE)
    return kind, f"{VARIABLE}={kind}" if VARIABLE in os.environ else "default"


def _load(kind: str, asked_by: str) -> DriverInfo:
    if kind == "host":
        return _load_host(asked_by)
    path, problem = _try_cuda()
    if path is not None:
        reason = asked_by if kind == "cuda" else f"{asked_by}: a CUDA device was found"
        return _info("cuda", path, reason)
    if kind == "cuda":
        remedy = limit_of_addresses() or "Install NVIDIA's driver."
        raise DriverNotFoundError(
            f"The CUDA driver was requested ({asked_by}), but {problem}. {remedy} To run without a GPU, set "
            f"{VARIABLE}=host."
        )
    return _load_host(f"{asked_by}: no CUDA device, since {problem}")


def _try_cuda() -> tuple[str | None, str]:
    """Load the CUDA driver and return its path, or return None and the reason for the failure."""
    path = _find_libcuda()
    problem = seam.load(path)
    return (None, f"{path}: {problem}") if problem else (path, "")


def _find_libcuda() -> str:
    from cuda import pathfinder

    try:
        found = pathfinder.load_nvidia_dynamic_lib("cuda").abs_path
    except (pathfinder.DynamicLibNotFoundError, RuntimeError, ValueError):
        # Not found, or this version of cuda.pathfinder does not know the driver's library: let dlopen search.
        found = None
    return found or "libcuda.so.1"


def _load_host(reason: str) -> DriverInfo:
    problem = seam.load(HOST_LIBRARY)
    wrong = seam.wrong_settings(HOST_LIBRARY) if problem else ""
    if wrong:
        raise DriverNotFoundError(f"The host driver does not start: {wrong}.")
    failures = os.environ.get("CUDA_GRAPHS_HOST_FAIL")
    if problem and failures:
        raise DriverNotFoundError(
            f"The host driver does not start: {problem}. CUDA_GRAPHS_HOST_FAIL is {failures!r}; expected <driver "
            "function>:<nth call, from 1>[:<CUresult as name or number>], several separated by commas."
        )
    if problem:
        raise DriverNotFoundError(
            f"The host driver {HOST_LIBRARY} cannot be loaded: {problem}. "
            f"{limit_of_addresses() or 'Reinstall cuda_graphs.'}"
        )
    seam.plug_image_loader(HOST_LIBRARY)
    return _info("host", HOST_LIBRARY, reason)


def _info(kind: str, path: str, reason: str) -> DriverInfo:
    return DriverInfo(kind, seam.version(), path, reason)


seam.load_driver_by(ensure_loaded)
