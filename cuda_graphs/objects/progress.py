# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Progress of long work, on stderr: bars by the package rich or tqdm, else lines. Notebooks show the bars too.

Calls that are usually short, such as an instantiation, show themselves only if they take over a second, and only on
a terminal or in a notebook. One thread watches these calls.
"""

from __future__ import annotations

import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol, TextIO

__all__ = ["Display", "display", "is_seen", "watch"]

DELAY = 1.0  # seconds before a call shows itself
STEP = 0.25  # seconds between two looks at it
LINE_STEP = 1.0  # seconds between two lines without rich and tqdm


class Display(Protocol):
    """Shows tasks. A task has a name, the amount done, and the amount of all of it, or None if that is not known."""

    def show(self, name: str, done: int, total: int | None = None, text: str = "") -> None: ...
    def close(self) -> None: ...


class RichDisplay:
    """Bars of the package rich."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self.bars = Progress(*columns, console=Console(stderr=True))
        self.tasks: dict[str, Any] = {}
        self.bars.start()

    def show(self, name: str, done: int, total: int | None = None, text: str = "") -> None:
        if name not in self.tasks:
            self.tasks[name] = self.bars.add_task(name, total=total)
        self.bars.update(self.tasks[name], completed=done, total=total, description=text or name)

    def close(self) -> None:
        self.bars.stop()


class TqdmDisplay:
    """Bars of the package tqdm; in notebooks those that it has for notebooks."""

    def __init__(self) -> None:
        from tqdm.auto import tqdm

        self.make = tqdm
        self.bars: dict[str, Any] = {}

    def show(self, name: str, done: int, total: int | None = None, text: str = "") -> None:
        if name not in self.bars:
            self.bars[name] = self.make(total=total, desc=name, position=len(self.bars))
        bar = self.bars[name]
        bar.set_description(text or name, refresh=False)
        bar.n = done
        bar.refresh()

    def close(self) -> None:
        for bar in self.bars.values():
            bar.close()


class LineDisplay:
    """Lines of text, at most one each second, and one for the end of each task."""

    def __init__(self) -> None:
        self.last: dict[str, tuple[float, int]] = {}

    def show(self, name: str, done: int, total: int | None = None, text: str = "") -> None:
        now = time.monotonic()
        when, before = self.last.get(name, (-LINE_STEP, -1))
        if done == before or (now - when < LINE_STEP and done != total):
            return
        self.last[name] = now, done
        amount = str(done) if total is None else f"{done} of {total}"
        print(f"{text or name}: {amount}", file=sys.stderr)

    def close(self) -> None:
        pass


def in_notebook() -> bool:
    """Return True in a kernel of Jupyter. IPython is not imported for that: a notebook has imported it."""
    ipython = sys.modules.get("IPython")
    if ipython is None:
        return False
    shell = getattr(ipython, "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


def is_seen() -> bool:
    """Return True if progress on stderr has a reader: a terminal or a notebook."""
    global last_answer
    stream = sys.stderr
    known, is_one = last_answer  # once: another thread may ask for another stream
    if stream is None or known() is not stream:
        is_one = is_terminal(stream)
        if type(stream).__weakrefoffset__:
            last_answer = weakref.ref(stream), is_one
    return is_one or in_notebook()


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a stream is a terminal. Return False if it is closed or has no `isatty`."""
    try:
        return stream is not None and stream.isatty()
    except (AttributeError, ValueError):
        return False


def make_display() -> Display:
    kinds: list[Callable[[], Display]] = [RichDisplay, TqdmDisplay]
    for kind in reversed(kinds) if in_notebook() else kinds:
        try:
            return kind()
        except ImportError:
            continue
    return LineDisplay()


@contextmanager
def display() -> Iterator[Display]:
    """Yield a Display, and close it at the end."""
    shown = make_display()
    try:
        yield shown
    finally:
        shown.close()


# ---- calls that may take long ----------------------------------------------------------------------------------------

Look = Callable[[], int | None]  # returns the amount done, or None once the call has ended

waiting: list[
    tuple[float, str, Look]
] = []  # calls that have begun, with the times at which they show themselves
lock = threading.Lock()  # guards `waiting` and `watcher`
watcher: threading.Thread | None = None
# The last stream that was asked whether it is a terminal, and its answer: every instantiation wants to know.
last_answer: tuple[Callable[[], TextIO | None], bool] = (lambda: None, False)


def watch(name: str, look: Callable[..., int | None], *arguments: object) -> None:
    """Show a call from one second after now on until `look(*arguments)` returns None, if progress has a reader.

    `look` runs on another thread.
    """
    global watcher
    if not is_seen():
        return
    with lock:
        waiting.append((time.monotonic() + DELAY, name, partial(look, *arguments)))
        if watcher is None:
            watcher = threading.Thread(target=watch_calls, name="cuda_graphs progress", daemon=True)
            watcher.start()


def watch_calls() -> None:
    """Show each call that still runs at its time, one call after the other. Ends with the last call."""
    global watcher
    while True:
        with lock:
            if not waiting:
                watcher = None
                return
            begin, name, look = waiting.pop(0)
        time.sleep(max(0.0, begin - time.monotonic()))
        if look() is not None:
            show_call(name, look)


def show_call(name: str, look: Look) -> None:
    with display() as shown:
        while (done := look()) is not None:
            shown.show(name, done)
            time.sleep(STEP)
