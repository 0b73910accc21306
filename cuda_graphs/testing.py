# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""For tests of programs that use cuda_graphs: make driver calls fail, count driver calls, and count the live objects
of the driver.

These functions work on the host driver only, which observes every driver call of the process, from any library::

    from cuda_graphs import testing

    with testing.fail("cuGraphInstantiateWithParams"), pytest.raises(cg.CUDAOutOfMemoryError):
        definition.instantiate()

    with testing.calls() as calls:
        graph.launch(stream)
    assert calls == {"cuGraphLaunch": 1}

    before = testing.objects()
    run_the_program()
    assert testing.objects() == before

Function names are those of the CUDA driver's documentation, without a version suffix: ``"cuMemAlloc"``.
"""

import ctypes
import difflib
from collections.abc import Callable, Iterator, Mapping

from cuda_graphs.core.driver.choice import ensure_loaded

__all__ = ["Calls", "Failure", "calls", "fail", "objects"]

_NOT_FOUND = 500  # CUDA_ERROR_NOT_FOUND


def _library(what: str) -> ctypes.CDLL:
    """Return the host driver's library with the functions of test_hooks.h. `what` names the caller in the error."""
    driver = ensure_loaded()
    if driver.kind != "host":
        raise RuntimeError(
            f"{what} works on the host driver only, and this process uses the {driver.kind} driver ({driver.reason}). "
            "Run the test with CUDA_GRAPHS_DRIVER=host."
        )
    library = ctypes.CDLL(driver.path)  # loaded already
    library.cghFailCall.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_char_p]
    library.cghFailedCalls.argtypes = [ctypes.c_char_p]
    library.cghFailedCalls.restype = ctypes.c_uint64
    for table in (library.cghCallCount, library.cghLiveObjects):
        table.argtypes = [ctypes.c_uint32, ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(ctypes.c_uint64)]
    return library


def _rows(table: Callable[..., int]) -> dict[str, int]:
    """Return the current numbers of one of the library's tables, by name. Versions of a function share one name."""
    name, count = ctypes.c_char_p(), ctypes.c_uint64()
    found: dict[str, int] = {}
    row = 0
    while table(row, ctypes.byref(name), ctypes.byref(count)) == 0:
        text = (name.value or b"").decode()
        found[text] = found.get(text, 0) + count.value
        row += 1
    return found


def _counts(library: ctypes.CDLL) -> dict[str, int]:
    """Return the number of calls so far of every function."""
    return _rows(library.cghCallCount)


class Failure:
    """A driver call that will fail, or has failed. The end of a `with` block cancels a pending failure."""

    def __init__(self, function: str, nth: int, code: str | int) -> None:
        if isinstance(nth, bool) or not isinstance(nth, int):
            raise TypeError(f"fail(): nth must be an int, got {type(nth).__name__}")
        if nth < 1:
            raise ValueError(f"fail(): nth counts calls from 1, got {nth}")
        self.function = function
        self.nth = nth
        self.code = code
        self._library = _library("fail()")
        self._set(nth)
        self._before = self._library.cghFailedCalls(function.encode())

    def _set(self, nth: int) -> None:
        status = self._library.cghFailCall(self.function.encode(), nth, str(self.code).encode())
        if status == _NOT_FOUND:
            near = difflib.get_close_matches(self.function, _counts(self._library), 3)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            raise ValueError(f"fail(): the host driver has no function {self.function!r}{hint}")
        if status != 0:
            raise ValueError(
                f"fail(): the host driver does not know the status {self.code!r}: pass a name or number of CUresult"
            )

    @property
    def happened(self) -> bool:
        """True if the call was made and failed."""
        return bool(self._library.cghFailedCalls(self.function.encode()) > self._before)

    def __enter__(self) -> "Failure":
        return self

    def __exit__(self, *exception: object) -> None:
        self._set(0)

    def __repr__(self) -> str:
        return f"<Failure of call {self.nth} of {self.function} with {self.code}>"


def fail(function: str, nth: int = 1, code: str | int = "CUDA_ERROR_OUT_OF_MEMORY") -> Failure:
    """Make the `nth` call of a driver function, counted from now on, do nothing and return `code`.

    Args:
        function: Name of the function, for example ``"cuMemAlloc"``. Replaces an earlier failure of this function.
        nth: Number of the failing call, from 1; the other calls work normally.
        code: Name or number of a CUresult that the host driver knows. With 0 the call returns success, but writes
            none of its outputs.

    Returns:
        A `Failure`. Its property `happened` is true once the call has failed. The end of its `with` block cancels it.

    Raises:
        ValueError: The function, `nth` or the code does not exist.
        RuntimeError: The process does not use the host driver.
    """
    return Failure(function, nth, code)


class Calls(Mapping[str, int]):
    """The number of calls of each driver function in the `with` block so far, by any thread. Functions without calls
    are left out. The counts do not change after the block."""

    def __init__(self) -> None:
        self._library = _library("calls()")
        self._before = _counts(self._library)
        self._after: dict[str, int] | None = None

    def _since(self) -> dict[str, int]:
        now = self._after or _counts(self._library)
        return {name: now[name] - before for name, before in self._before.items() if now[name] != before}

    def __enter__(self) -> "Calls":
        self._library.cghCountCalls(1)
        self._before = _counts(self._library)
        return self

    def __exit__(self, *exception: object) -> None:
        self._after = _counts(self._library)
        self._library.cghCountCalls(0)

    def __getitem__(self, function: str) -> int:
        """Return the number of calls, 0 if there were none. Raises KeyError for a function that the driver lacks."""
        return self._since().get(function, 0) if function in self._before else self._before[function]

    def __contains__(self, function: object) -> bool:
        return function in self._since()

    def __iter__(self) -> Iterator[str]:
        return iter(self._since())

    def __len__(self) -> int:
        return len(self._since())

    def __repr__(self) -> str:
        return f"Calls({self._since()})"


def calls() -> Calls:
    """Count the calls of driver functions: ``with testing.calls() as calls: ...; calls["cuGraphLaunch"]``.

    Raises:
        RuntimeError: The process does not use the host driver.
    """
    return Calls()


def objects() -> dict[str, int]:
    """Return the number of live objects of each kind in the driver, of the whole process.

    The kinds are streams (two per device belong to the driver), events, libraries and their modules and kernels, pools,
    allocations of memory (including allocation nodes and modules' variables), graphs (including bodies and child
    graphs) and their nodes, executables, user objects, and captures that have not ended.

    Objects count until they are released. Launches in flight release their objects when they end, and Python objects
    in cycles release theirs when the garbage collector runs.

    Raises:
        RuntimeError: The process does not use the host driver.
    """
    return _rows(_library("objects()").cghLiveObjects)
