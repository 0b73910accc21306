# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The host driver: the C interface of the CUDA driver on a CPU.

C++ without Python: `api/` has the entry points, `objects/` the objects behind handles, `execution/` the scheduler,
`loader/` loads images, and `sanitizer/` finds memory errors and races (DESIGN.md). Python: `ptx/` translates PTX, once
for each image, and `standin/` replaces libcuda in a process: ``python -m cuda_graphs.hostdriver script.py`` and
`stand_in()`.

Other rooms may import:
    __init__       `main`, `stand_in` and `stands_in`
    image_loader   the C interface between the driver and its image loader
    limited_waits  the C interface of waits that end in time
    ptx            the image loader
"""

from typing import Any

__all__ = ["main", "stand_in", "stands_in"]


def __getattr__(name: str) -> Any:
    # The command is imported at its first use, because every process that loads an image imports this package.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from cuda_graphs.hostdriver.standin import command

    return getattr(command, name)
