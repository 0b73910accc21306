# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""For tests of programs that use cuda_graphs: driver calls that fail on purpose, how many calls are made, and which
objects of the driver are left.

All of it works on the host driver only, where every call of the process is seen, whoever makes it::

    from cuda_graphs import testing

    with testing.fail("cuGraphInstantiateWithParams"), pytest.raises(cg.CUDAOutOfMemoryError):
        definition.instantiate()

    with testing.calls() as calls:
        graph.launch(stream)
    assert calls == {"cuGraphLaunch": 1}

    before = testing.objects()
    run_the_program()
    assert testing.objects() == before

Functions are named as in the documentation of the CUDA driver, without a version at the end: ``"cuMemAlloc"``.
"""

import ctypes
import difflib
from collections.abc import Callable, Iterator, Mapping

from cuda_graphs._driver.choice import ensure_loaded

__all__ = ["Calls", "Failure", "calls", "fail", "objects"]

_NOT_FOUND = 500  # CUDA_ERROR_NOT_FOUND


def _watch(what: str) -> ctypes.CDLL:
    """The host driver's functions of call_watch.h."""
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
    """What one of the library's tables of names and numbers says now; versions of a function have one name."""
    name, count = ctypes.c_char_p(), ctypes.c_uint64()
    found: dict[str, int] = {}
    row = 0
    while table(row, ctypes.byref(name), ctypes.byref(count)) == 0:
        text = (name.value or b"").decode()
        found[text] = found.get(text, 0) + count.value
        row += 1
    return found


def _counts(library: ctypes.CDLL) -> dict[str, int]:
    """Every function with its calls so far."""
    return _rows(library.cghCallCount)


class Failure:
    """A driver call that is going to fail, or has failed. `with` takes it back at the end."""

    def __init__(self, function: str, nth: int, code: str | int) -> None:
        if isinstance(nth, bool) or not isinstance(nth, int):
            raise TypeError(f"fail(): nth must be an int, got {type(nth).__name__}")
        if nth < 1:
            raise ValueError(f"fail(): nth counts calls from 1, got {nth}")
        self.function = function
        self.nth = nth
        self.code = code
        self._library = _watch("fail()")
        self._set(nth)
        self._before = self._library.cghFailedCalls(function.encode())

    def _set(self, nth: int) -> None:
        status = self._library.cghFailCall(self.function.encode(), nth, str(self.code).encode())
        if status == _NOT_FOUND:
            near = difflib.get_close_matches(self.function, _counts(self._library), 3)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            raise ValueError(f"fail(): the host driver has no function {self.function!r}{hint}")
        if status != 0:
            raise ValueError(f"fail(): {self.code!r} is no CUresult; expected a name or a number")

    @property
    def happened(self) -> bool:
        """Whether the call was made, and failed."""
        return bool(self._library.cghFailedCalls(self.function.encode()) > self._before)

    def __enter__(self) -> "Failure":
        return self

    def __exit__(self, *exception: object) -> None:
        self._set(0)

    def __repr__(self) -> str:
        return f"<Failure of call {self.nth} of {self.function} with {self.code}>"


def fail(function: str, nth: int = 1, code: str | int = "CUDA_ERROR_OUT_OF_MEMORY") -> Failure:
    """Make the `nth` call of a driver function, counted from now on, do nothing but answer with `code`.

    Args:
        function: Its name, for example ``"cuMemAlloc"``. What was asked for this function before is replaced.
        nth: Which call, from 1; the others do their work.
        code: The name or the number of a CUresult. With 0 the call pretends to succeed: what it should have written
            is not written.

    Returns:
        A `Failure`, which says whether it `happened`; as a context manager it ends with the `with` block.

    Raises:
        ValueError: No such function, call or code.
        RuntimeError: This process uses another driver than the host driver.
    """
    return Failure(function, nth, code)


class Calls(Mapping[str, int]):
    """How often each driver function was called in the `with` block so far, by any thread; functions that were not are
    left out. After the block the counts stay as they are."""

    def __init__(self) -> None:
        self._library = _watch("calls()")
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
        """0 for a function that was not called; KeyError for one that the driver does not have."""
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
        RuntimeError: This process uses another driver than the host driver.
    """
    return Calls()


def objects() -> dict[str, int]:
    """How many objects of each kind live in the driver now, whoever made them: streams (two a device are its own),
    events, libraries and their modules and kernels, pools, allocations of memory (those of allocation nodes and of
    modules' variables too), graphs (bodies and child graphs too) and their nodes, executables, user objects, captures
    that have not ended.

    What is released later is counted until then: the objects of launches in flight, and those whose Python objects
    wait for the garbage collector.

    Raises:
        RuntimeError: This process uses another driver than the host driver.
    """
    return _rows(_watch("objects()").cghLiveObjects)
