# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The log of the peers: messages of their levels go to the logger "cuda_graphs.compat" of Python."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

__all__ = [
    "CRITICAL",
    "DEBUG",
    "ERROR",
    "INFO",
    "TRACE",
    "WARN",
    "is_logging_effective",
    "set_logging_level",
    "writer",
]

TRACE, DEBUG, INFO, WARN, ERROR, CRITICAL = "trace", "debug", "info", "warn", "error", "critical"
NUMBERS = {
    TRACE: 5,
    DEBUG: logging.DEBUG,
    INFO: logging.INFO,
    WARN: logging.WARNING,
    ERROR: logging.ERROR,
    CRITICAL: logging.CRITICAL,
}
log = logging.getLogger("cuda_graphs.compat")


def writer(level: str) -> Callable[..., None]:
    """Return the function that logs a message of this level. Its further arguments are those of `str.format`."""
    number = NUMBERS[level]

    def write(message: str, *args: Any, **keywords: Any) -> None:
        if log.isEnabledFor(number):
            log.log(number, "%s", message.format(*args, **keywords))

    return write


def set_logging_level(level: str) -> None:
    """Log no messages below this level."""
    log.setLevel(NUMBERS[level])


def is_logging_effective(level: str) -> bool:
    """Return True if messages of this level are logged."""
    return log.isEnabledFor(NUMBERS[level])
