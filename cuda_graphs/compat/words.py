# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Words that have a meaning in kernels and on the host."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["Inlined", "Word", "for_kernels"]


class Word:
    """A function of the language that the host can call too."""

    def __init__(self, of_language: Callable[..., Any], on_host: Callable[..., Any]) -> None:
        functools.update_wrapper(self, of_language)
        self.__cuda_graphs_word__ = of_language
        self.on_host = on_host

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        found = self.on_host(*args, **keywords)
        return found.item() if isinstance(found, np.generic) else found


class Inlined:
    """A function that kernels inline. The host calls another one, with the same arguments."""

    def __init__(self, in_kernels: Callable[..., Any], on_host: Callable[..., Any]) -> None:
        functools.update_wrapper(self, in_kernels)
        self.__cuda_graphs_func__ = in_kernels
        self.on_host = on_host

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.on_host(*args, **keywords)


def for_kernels(function: Callable[..., Any]) -> Inlined:
    """Return a function for kernels only. The host gets a RuntimeError."""
    return Inlined(function, refuse)


def refuse(*_: Any, **__: Any) -> Any:
    raise RuntimeError("this function has a meaning in kernels only: call it in a kernel or a func")
