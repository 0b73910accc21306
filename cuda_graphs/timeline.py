# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The former name of profiles. `trace(path)` is `with cuda_graphs.profile() as p:` and `p.save(path)`."""

import contextlib
import os
import warnings
from collections.abc import Iterator

from cuda_graphs.graph.profiling.profile import profile

__all__ = ["trace"]


@contextlib.contextmanager
def trace(path: str | os.PathLike[str]) -> Iterator[None]:
    """Write the runs of the graph nodes of a block to `path`. Deprecated: use `cuda_graphs.profile` and `Profile.save`.

    The next version does not have this function.

    Raises:
        RuntimeError: Another profile is being recorded.
        ImportError: The process uses a GPU, and the package cupti-python is not installed.
    """
    warnings.warn(
        "timeline.trace(path) is deprecated: use `with cuda_graphs.profile() as p:` and then p.save(path)",
        DeprecationWarning,
        stacklevel=3,
    )
    recorded = profile()
    try:
        with recorded:
            yield
    finally:
        recorded.save(path)
