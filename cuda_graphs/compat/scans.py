# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`algorithms` of the peers inside of a kernel: reductions, exclusive scans, selection, and sums by key.

Their loops are tasks of the kernel, where the call is at its top level or at that of a `graph_do_while`. Each of RUNS
threads combines a run of neighbouring elements, one thread combines the results, and each run starts from those before
it. `scratch` holds a number for each run: of type u32, or u64 for types of 8 bytes. All sizes follow from the number of
elements on the device.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cuda_graphs as cg

from .radix_sort import unsigned_of
from .subgroups import NEUTRAL, Combine
from .words import Inlined, for_kernels

__all__ = ["NAMES"]

RUNS = 1024


@cg.func
def combine_runs(
    arr: cg.template, scratch: cg.template, n: Any, dtype: cg.template, op: cg.template, identity: cg.template
) -> None:  # fmt: skip
    """Write the combined elements of each run."""
    unsigned, length = cg.static(unsigned_of(dtype)), (n + RUNS - 1) // RUNS
    for run in range(RUNS):
        total = cg.cast(cg.static(identity(dtype)), dtype)
        for i in range(run * length, min(run * length + length, n)):
            total = op(total, arr[i])
        scratch[run] = cg.bit_cast(total, unsigned)


def scan_of(op: Combine, identity: Callable[[Any], Any]) -> Inlined:
    """Return the exclusive scan: out[i] has the combined elements before element i."""

    def scan(
        arr: cg.template, out: cg.template, scratch: cg.template, n: Any, dtype: cg.template,
        log256_max_n: cg.template = None,
    ) -> None:  # fmt: skip
        unsigned = cg.static(unsigned_of(dtype))
        combine_runs(arr, scratch, n, dtype, op, identity)
        for _ in range(1):
            before = cg.cast(cg.static(identity(dtype)), dtype)
            for run in range(RUNS):
                own = cg.bit_cast(scratch[run], dtype)
                scratch[run] = cg.bit_cast(before, unsigned)
                before = op(before, own)
        length = (n + RUNS - 1) // RUNS
        for run in range(RUNS):
            before = cg.bit_cast(scratch[run], dtype)
            for i in range(run * length, min(run * length + length, n)):
                own = arr[i]
                out[i] = before
                before = op(before, own)

    return for_kernels(scan)


def reduction_of(op: Combine, identity: Callable[[Any], Any]) -> Inlined:
    """Return the reduction: out[0] has the combined elements."""

    def reduce(
        arr: cg.template, out: cg.template, scratch: cg.template, n: Any, dtype: cg.template,
        log256_max_n: cg.template = None,
    ) -> None:  # fmt: skip
        combine_runs(arr, scratch, n, dtype, op, identity)
        for _ in range(1):
            total = cg.cast(cg.static(identity(dtype)), dtype)
            for run in range(RUNS):
                total = op(total, cg.bit_cast(scratch[run], dtype))
            out[0] = total

    return for_kernels(reduce)


@cg.func
def add_counts(scratch: cg.template, total: cg.template) -> None:
    """Replace the count of each run by the sum of those before it, and write the sum of all."""
    for _ in range(1):
        before = cg.u32(0)
        for run in range(RUNS):
            own = scratch[run]
            scratch[run] = before
            before += own
        total[0] = cg.cast(before, cg.i32)


def select(
    arr: cg.template, flags: cg.template, out: cg.template, num_out: cg.template, scratch: cg.template, n: Any,
    log256_max_n: cg.template = None,
) -> None:  # fmt: skip
    """Write the elements whose flag is not 0 one behind the other, and their number to num_out[0]."""
    length = (n + RUNS - 1) // RUNS
    for run in range(RUNS):
        count = cg.u32(0)
        for i in range(run * length, min(run * length + length, n)):
            count += cg.select(flags[i] != 0, cg.u32(1), cg.u32(0))
        scratch[run] = count
    add_counts(scratch, num_out)
    for run in range(RUNS):
        place = cg.cast(scratch[run], cg.i32)
        for i in range(run * length, min(run * length + length, n)):
            if flags[i] != 0:
                out[place] = arr[i]
                place += 1


@cg.func
def begins(keys: cg.template, i: Any) -> Any:
    """Return whether the key of an element differs from the key before it."""
    return i == 0 or keys[i] != keys[max(i - 1, 0)]


def reduce_by_key_add(
    keys_in: cg.template, values_in: cg.template, keys_out: cg.template, values_out: cg.template,
    num_runs: cg.template, scratch: cg.template, n: Any, value_dtype: cg.template, log256_max_n: cg.template = None,
) -> None:  # fmt: skip
    """Write each key of neighbours with equal keys, the sum of their values, and the number of keys to num_runs[0]."""
    length = (n + RUNS - 1) // RUNS
    for run in range(RUNS):
        count = cg.u32(0)
        for i in range(run * length, min(run * length + length, n)):
            count += cg.select(begins(keys_in, i), cg.u32(1), cg.u32(0))
        scratch[run] = count
    add_counts(scratch, num_runs)
    for i in range(n):
        values_out[i] = cg.cast(0, value_dtype)
    for run in range(RUNS):
        place = cg.cast(scratch[run], cg.i32) - 1
        total = cg.cast(0, value_dtype)
        for i in range(run * length, min(run * length + length, n)):
            if begins(keys_in, i):
                if i > run * length:
                    cg.atomic_add(values_out[place], total)
                total = cg.cast(0, value_dtype)
                place += 1
                keys_out[place] = keys_in[i]
            total += values_in[i]
        if run * length < n:
            cg.atomic_add(values_out[place], total)


def slots(n: Any, log256_max_n: cg.template = None) -> int:
    """Return how many numbers of `scratch` an algorithm takes."""
    return RUNS


NAMES: dict[str, Any] = {
    **{f"reduce_{name}": reduction_of(*row) for name, row in NEUTRAL.items()},
    **{f"exclusive_scan_{name}": scan_of(*row) for name, row in NEUTRAL.items()},
    "select": for_kernels(select),
    "reduce_by_key_add": for_kernels(reduce_by_key_add),
    **{
        f"{name}_scratch_slots": Inlined(slots, slots)
        for name in ("reduce", "exclusive_scan", "select", "reduce_by_key")
    },
}
