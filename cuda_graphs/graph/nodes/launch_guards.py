# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Guards: objects that see each launch of the executables of a definition, and may refuse it.

A guard is registered for the number of a definition (`_definition_number`), and lives elsewhere: the registry holds
weak references. An executable reads the guards when it is made or updated, and keeps them alive.
"""

from __future__ import annotations

import weakref
from typing import Any, Protocol

__all__ = ["Guard", "add_guard", "copy_guards", "guards_of"]


class Guard(Protocol):
    def before_launch(self, graph: Any, stream: Any) -> None:
        """Raise an exception to refuse the launch of an executable on a Stream."""

    def after_launch(self, graph: Any, stream: Any) -> None:
        """See a launch that has been given to the driver."""


_guards: dict[int, list[weakref.ref[Any]]] = {}


def add_guard(definition: int, guard: Guard) -> None:
    """Let `guard` see the launches of executables that are made of a definition from now on."""
    known = _guards.setdefault(definition, [])
    if guard not in guards_of(definition):
        known.append(weakref.ref(guard, lambda ended: drop(definition, ended)))


def copy_guards(source: int, target: int) -> None:
    """Give a definition the guards of another one, whose nodes it gets."""
    for guard in guards_of(source):
        add_guard(target, guard)


def guards_of(definition: int) -> tuple[Guard, ...]:
    if definition not in _guards:  # as nearly always
        return ()
    found = (each() for each in list(_guards.get(definition, ())))
    return tuple(each for each in found if each is not None)


def drop(definition: int, ended: weakref.ref[Any]) -> None:
    left = [each for each in _guards.get(definition, ()) if each is not ended]
    if left:
        _guards[definition] = left
    else:
        _guards.pop(definition, None)
