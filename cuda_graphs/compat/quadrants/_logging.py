# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`quadrants._logging`: functions by level, which programs replace by their own."""

from ..levels import CRITICAL, DEBUG, ERROR, INFO, TRACE, WARN, is_logging_effective, set_logging_level
from ..levels import writer as _get_logging

trace, debug, info = _get_logging(TRACE), _get_logging(DEBUG), _get_logging(INFO)
warn, error, critical = _get_logging(WARN), _get_logging(ERROR), _get_logging(CRITICAL)

__all__ = [
    "CRITICAL", "DEBUG", "ERROR", "INFO", "TRACE", "WARN", "_get_logging", "critical", "debug", "error", "info",
    "is_logging_effective", "set_logging_level", "trace", "warn",
]  # fmt: skip
