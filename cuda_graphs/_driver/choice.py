# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Which driver answers in this process, and why: CUDA where a device answers, else the host driver.

The choice is made once, at the first device call, and cannot change after.
"""

import os
import threading
from dataclasses import dataclass
from pathlib import Path

from cuda_graphs.errors import DriverNotFoundError, limit_of_addresses

KINDS = ("auto", "cuda", "host")
VARIABLE = "CUDA_GRAPHS_DRIVER"
HOST_LIBRARY = Path(__file__).parent.parent / "_hostdriver" / "libcuda_graphs_hostdriver.so"


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
    """Why this one was chosen."""

    def __str__(self) -> str:
        major, minor = self.version
        return f"{self.kind} driver, CUDA {major}.{minor}, {self.path} ({self.reason})"


_lock = threading.RLock()
# A fork waits for a thread that is loading a driver: in the child that thread would be gone, and the lock taken.
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
_wanted: tuple[str, str] | None = None
_settled: tuple[str, str] | None = None  # goes before all, and stays
_chosen: DriverInfo | None = None


def use_driver(kind: str) -> None:
    """Choose the driver of this process, before the first device call.

    Args:
        kind: ``"cuda"`` (NVIDIA's driver), ``"host"`` (the software driver of this package), or ``"auto"``
            (CUDA when a device answers, else host). Wins over the variable ``CUDA_GRAPHS_DRIVER``.

    Raises:
        ValueError: Another word.
        RuntimeError: A driver of another kind runs already, or the host driver stands in for libcuda.
    """
    global _wanted
    _check_kind(kind, "use_driver()")
    with _lock:
        if _settled is not None and kind not in ("auto", _settled[0]):
            raise RuntimeError(
                f"use_driver({kind!r}) came in a process where {_settled[1]}: there is no other driver in it."
            )
        if _chosen is not None and kind not in ("auto", _chosen.kind):
            raise RuntimeError(
                f"use_driver({kind!r}) came after the first device call: the {_chosen.kind} driver runs in this "
                f"process ({_chosen.reason}). Call it first thing, or set {VARIABLE}={kind}."
            )
        _wanted = (kind, f"use_driver({kind!r})")


def settle_on_host(reason: str) -> None:
    """The host driver, whatever else was or will be asked for; its image loader is plugged, but it is not initialised:
    cuInit is the program's own.

    Raises:
        RuntimeError: The CUDA driver runs already.
    """
    global _settled
    from cuda_graphs._driver import seam

    with _lock:
        if _chosen is not None and _chosen.kind != "host":
            raise RuntimeError(f"the {_chosen.kind} driver runs in this process already ({_chosen.reason})")
        seam.plug_image_loader(str(HOST_LIBRARY))
        _settled = ("host", reason)


def driver_info() -> DriverInfo:
    """The driver of this process; chooses and loads it if that has not happened yet.

    Raises:
        DriverNotFoundError: The driver that was asked for cannot be loaded.
    """
    return ensure_loaded()


def is_told_of_accesses() -> bool:
    """Whether the driver of this process looks for bugs, and wants code to tell it of each access."""
    from cuda_graphs._driver import seam

    return ensure_loaded().kind == "host" and seam.is_told_of_accesses()


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
        reason = asked_by if kind == "cuda" else f"{asked_by}: a CUDA device answers"
        return _info("cuda", path, reason)
    if kind == "cuda":
        remedy = limit_of_addresses() or "Install NVIDIA's driver."
        raise DriverNotFoundError(
            f"The CUDA driver was asked for ({asked_by}) but {problem}. {remedy} Or run without a GPU: {VARIABLE}=host."
        )
    return _load_host(f"{asked_by}: no CUDA device, since {problem}")


def _try_cuda() -> tuple[str | None, str]:
    """The path of the CUDA driver, now loaded, or None and what stands in the way."""
    from cuda_graphs._driver import seam

    path = _find_libcuda()
    problem = seam.load(path)
    return (None, f"{path}: {problem}") if problem else (path, "")


def _find_libcuda() -> str:
    from cuda import pathfinder

    try:
        found = pathfinder.load_nvidia_dynamic_lib("cuda").abs_path
    except (pathfinder.DynamicLibNotFoundError, RuntimeError, ValueError):
        # Not found; or a cuda.pathfinder that does not know the driver's library yet. dlopen has the last word.
        found = None
    return found or "libcuda.so.1"


def _load_host(reason: str) -> DriverInfo:
    from cuda_graphs._driver import seam

    problem = seam.load(str(HOST_LIBRARY))
    wrong = seam.wrong_settings(str(HOST_LIBRARY)) if problem else ""
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
    seam.plug_image_loader(str(HOST_LIBRARY))
    return _info("host", str(HOST_LIBRARY), reason)


def _info(kind: str, path: str, reason: str) -> DriverInfo:
    from cuda_graphs._driver import seam

    return DriverInfo(kind, seam.version(), path, reason)
