# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The host driver: the C interface of the CUDA driver on a CPU.

`api/` has the entry points, `objects/` what handles name, `execution/` the scheduler, `loader/` images, `sanitizer/`
the search for bugs in programs: C++ that knows nothing of Python. `ptx/` translates PTX and is called once an image.
`standin/` puts the host driver in the place of libcuda: ``python -m cuda_graphs.hostdriver script.py`` and
`stand_in()`.
"""

__all__ = ["main", "stand_in", "stands_in"]


def __getattr__(name: str) -> object:
    # The image loader imports this package too, and needs nothing of the command.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from cuda_graphs.hostdriver.standin import command

    return getattr(command, name)
