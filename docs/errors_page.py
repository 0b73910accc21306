# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/errors.md from the table of errors: `python -m docs.errors_page`. A test compares the two."""

from pathlib import Path

from cuda_graphs.errors import CLASSES, INSTANTIATE_RESULTS, UPDATE_RESULTS, CUDAError
from cuda_graphs.errors.table import LOST, STICKY, TABLE

HEAD = """\
# Errors

*Written by `docs/errors_page.py` from `cuda_graphs/errors/table.py`; change the table, not this page.*

A call that the driver refuses raises `CUDAError`. The text contains the status, its meaning, the attempted operation
with its arguments, the driver's own text, and a remedy. Each part is an attribute too: `code`, `name`, `explanation`,
`attempt`, `text`, `log`, `remedy`, `context_lost`. Misuse that is detected before the driver is called raises
`TypeError`, `ValueError`, `OverflowError` or `RuntimeError`, which names the argument.
[Errors by class](error-classes.md) has a program that fails and a mended one for each class. `url` is the place of the
status on this page.

| Class | Meaning |
|---|---|
| `CUDAError` | any status other than success |
| `CUDAOutOfMemoryError` | there is not enough memory; also a `MemoryError` |
| `CUDANotSupportedError` | the device, the driver or the host driver does not offer this |
| `LaunchError` | a kernel could not run, or failed while running |
| `ImageError` | code could not be loaded; `log` gives the reason |
| `CaptureError` | a stream capture was misused or invalidated |
| `GraphInstantiateError` | a definition cannot be instantiated; also a `RuntimeError` |
| `GraphUpdateError` | an executable graph could not be updated from a changed definition; it is unchanged |
| `NVRTCError` | CUDA C++ did not compile; `log` is the output of the compiler |
| `CaptureWarning` | a warning: a capture ended without any node |
| `CUDAWarning` | a warning: a resource could not be released when its last handle was dropped, and stays allocated |
| `SavedGraphError` | a definition cannot be saved, or a file is no definition that can be loaded; also a `ValueError` |
| `DriverNotFoundError` | no driver could be loaded; also a `RuntimeError` |
"""


def errors_page() -> str:
    """Return the text of docs/errors.md."""
    lines = [HEAD, "## Statuses of the driver", ""]
    for code, row in TABLE.items():
        name = CLASSES.get(code, CUDAError).__name__
        lines += [f"### {code} {row.name}", "", f"`{name}`. {row.explanation}"]
        lines += [f"{LOST}"] if code in STICKY else []
        lines += ["", f"*Remedy:* {row.remedy}", ""]
    lines += ["## Results of instantiation", "", "| Result | Meaning | Remedy |", "|---|---|---|"]
    lines += [f"| {n} `{r.name}` | {r.explanation} | {r.remedy} |" for n, r in INSTANTIATE_RESULTS.items()]
    lines += ["", "## Results of an update", "", "| Result | Difference |", "|---|---|"]
    lines += [f"| {n} `{name}` | {why} |" for n, (name, why) in UPDATE_RESULTS.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(__file__).with_name("errors.md").write_text(errors_page())
