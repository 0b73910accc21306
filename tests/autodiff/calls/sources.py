# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of a text, for tests that have many of one form."""

import itertools
import linecache

import cuda_graphs as cg

_numbers = itertools.count()


def kernel_of(source, *, debug=False, **names):
    """The kernel of the function that a text defines; `names` are what it sees besides `cg`, `ndarray` and types."""
    file = f"<kernel of a test {next(_numbers)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space = {"cg": cg, "ndarray": cg.types.ndarray, "f32": cg.f32, "f64": cg.f64, "i32": cg.i32, **names}
    exec(compile(source, file, "exec"), space)
    (found,) = [v for v in space.values() if getattr(v, "__code__", None) and v.__code__.co_filename == file]
    return cg.kernel(found, debug=debug)
