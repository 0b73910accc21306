# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Tokens: memory that nodes declare to write because they must run one after another, not for what it holds.

Task flows order such nodes like other writers of one memory. `GraphDef.check` reports unordered ones by a kind of their
own. Each communicator of collectives has a token.
"""

from __future__ import annotations

import weakref

__all__ = ["is_token", "register_token"]

_addresses: set[int] = set()


def register_token(address: int, owner: object) -> None:
    """Let an address be that of a token as long as `owner` lives."""
    _addresses.add(address)
    weakref.finalize(owner, _addresses.discard, address)


def is_token(start: int | str) -> bool:
    """Return True if a span begins at a token. The span of a parameter begins at its name."""
    return start in _addresses
