# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Debug mode compares what the ranks are about to do, before the first launch of each executable.

Collectives of all ranks must be the same, in the same order. Sends and receives differ between ranks: each send needs a
receive of the same size on the other rank, between the same two collectives. `first_difference` gets the calls of all
ranks, so each rank computes the same text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from .steps import Step

__all__ = ["PAIRED", "Call", "Plan", "first_difference"]

PAIRED = ("send", "recv")  # the steps that two ranks do together


@dataclass(frozen=True)
class Call:
    """One step without its arrays.

    Attributes:
        name, type, op, root: Those of the Step.
        count: The number of elements.
        shape: The shape of the array.
        place: The place in the program that added it, for messages.
    """

    name: str
    count: int
    shape: tuple[int, ...]
    type: str
    op: str | None
    root: int | None
    place: str

    @classmethod
    def of(cls, step: Step, place: str) -> Call:
        shape = step.operand.view.shape
        return cls(step.name, step.count, shape, step.operand.type, step.op, step.root, place)

    @property
    def key(self) -> tuple[object, ...]:
        """The values that must be equal on all ranks."""
        return self.name, self.count, self.shape, self.type, self.op, self.root

    def __str__(self) -> str:
        words = [f"shape {self.shape}", f"type {self.type}"]
        words += [] if self.op is None else [f"op {self.op!r}"]
        words += [] if self.root is None else [f"{ROOTS.get(self.name, 'root')} {self.root}"]
        return f"{self.name} ({', '.join(words)}) at {self.place}"


ROOTS = {"send": "to rank", "recv": "from rank"}


@dataclass(frozen=True)
class Plan:
    """What one rank is about to launch.

    Attributes:
        number: The number of the definition's communicator.
        calls: Its collectives, in their order.
    """

    number: int
    calls: tuple[Call, ...]


def first_difference(ranks: Sequence[Plan]) -> str | None:
    """Return the first difference between what the ranks are about to do, or None."""
    for rank, each in enumerate(ranks):
        if each.number != ranks[0].number:
            return (
                f"ranks launch different graphs: rank 0 launches the definition with communicator {ranks[0].number} "
                f"({summary(ranks[0])}), and rank {rank} that with communicator {each.number} ({summary(each)})"
            )
    return difference_of_collectives(ranks) or difference_of_pairs(ranks)


def summary(plan: Plan) -> str:
    return f"first collective: {plan.calls[0]}" if plan.calls else "no collectives"


def difference_of_collectives(ranks: Sequence[Plan]) -> str | None:
    together = [[call for call in each.calls if call.name not in PAIRED] for each in ranks]
    for rank, calls in enumerate(together):
        for number, (first, other) in enumerate(zip_longest(together[0], calls), 1):
            if first is None or other is None or first.key != other.key:
                return (
                    f"collective {number} differs between ranks: rank 0 has {first or 'none'}, rank {rank} has "
                    f"{other or 'none'}"
                )
    return None


def difference_of_pairs(ranks: Sequence[Plan]) -> str | None:
    for rank, other in ((a, b) for a in range(len(ranks)) for b in range(len(ranks)) if a != b):
        sends = list(paired("send", other, ranks[rank].calls))
        receives = list(paired("recv", rank, ranks[other].calls))
        for number, (send, receive) in enumerate(zip_longest(sends, receives), 1):
            if send is None or receive is None or key_of_pair(send) != key_of_pair(receive):
                return (
                    f"exchange {number} from rank {rank} to rank {other} differs: rank {rank} has {text_of(send)}, rank "
                    f"{other} has {text_of(receive)}"
                )
    return None


def paired(name: str, root: int, calls: Iterable[Call]) -> Iterable[tuple[int, Call]]:
    """Yield the sends or receives for one other rank, each with the number of collectives before it."""
    before = 0
    for call in calls:
        if call.name == name and call.root == root:
            yield before, call
        before += call.name not in PAIRED


def key_of_pair(pair: tuple[int, Call]) -> tuple[object, ...]:
    return pair[0], pair[1].count, pair[1].type


def text_of(pair: tuple[int, Call] | None) -> str:
    return "none" if pair is None else f"{pair[1]}, after {pair[0]} collectives"
