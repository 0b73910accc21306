# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/errors.md from the table of errors: `python docs/errors_page.py`. A test compares the two."""

from pathlib import Path

from cuda_graphs.error_table import LOST, STICKY, TABLE
from cuda_graphs.errors import CLASSES, INSTANTIATE_RESULTS, UPDATE_RESULTS, CUDAError

HEAD = """\
# Errors

*Written by `docs/errors_page.py` from `cuda_graphs/error_table.py`; change the table, not this page.*

Whatever the driver refuses is a `CUDAError`. Its text starts with the status, then says what that means, what was being
attempted with which arguments, the driver's own words, and a remedy. Each part is an attribute too: `code`, `name`,
`explanation`, `attempt`, `text`, `log`, `remedy`, `context_lost`. Misuse that can be seen before the driver is asked is
a `TypeError`, `ValueError`, `OverflowError` or `RuntimeError` that names the argument.

| Class | What it means |
|---|---|
| `CUDAError` | any status other than success |
| `CUDAOutOfMemoryError` | there is not enough memory; also a `MemoryError` |
| `CUDANotSupportedError` | the device, the driver or the host driver does not offer this |
| `LaunchError` | a kernel could not run, or failed while running |
| `ImageError` | code could not be loaded; `log` says why |
| `CaptureError` | a stream capture was misused or spoiled |
| `GraphInstantiateError` | a definition cannot be made into an executable graph; also a `RuntimeError` |
| `GraphUpdateError` | an executable graph could not take a changed definition; it is unchanged |
| `NVRTCError` | CUDA C++ did not compile; `log` is what the compiler wrote |
| `CUDAWarning` | a warning: something could not be given back when its last handle went, and stays |
| `DriverNotFoundError` | no driver could be loaded; a `RuntimeError`, since nothing of CUDA has answered |
"""


def errors_page() -> str:
    """The text of docs/errors.md."""
    lines = [HEAD, "## Statuses of the driver", ""]
    for code, row in TABLE.items():
        name = CLASSES.get(code, CUDAError).__name__
        lines += [f"### {code} {row.name}", "", f"`{name}`. {row.explanation}"]
        lines += [f"{LOST}"] if code in STICKY else []
        lines += ["", f"*Remedy:* {row.remedy}", ""]
    lines += ["## Results of instantiation", "", "| Result | Meaning | Remedy |", "|---|---|---|"]
    lines += [f"| {n} `{r.name}` | {r.explanation} | {r.remedy} |" for n, r in INSTANTIATE_RESULTS.items()]
    lines += ["", "## Results of an update", "", "| Result | What differs |", "|---|---|"]
    lines += [f"| {n} `{name}` | {why} |" for n, (name, why) in UPDATE_RESULTS.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(__file__).with_name("errors.md").write_text(errors_page())
