# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the driver checks kernels of @cg.kernel like any others (planted_in_kernels.py). Reports name the line of the
Python source and the iteration of the loop, which counts as a thread; kernels without a bug give no report and the same
results as without the check."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.hostdriver.test_check import found

SCRIPT = Path(__file__).with_name("planted_in_kernels.py")
SOURCE = SCRIPT.read_text().splitlines()
ALL = {"CUDA_GRAPHS_HOST_CHECK": "memory,race,init"}


def at(kernel: str, what: str) -> str:
    """The place of the access in a kernel that has a bug."""
    (line,) = (number for number, text in enumerate(SOURCE, 1) if text.endswith(f"  # {kernel}"))
    return f"at {SCRIPT}:{line} ({what})"


BEHIND = "which is right behind the memory of {} bytes at 0x* ({})"
NOBODY = "before any write to byte 0 of the memory of 32 bytes at 0x* ({}) {}"

MEMORY = {
    "an_iteration_writes_behind": (
        "kernel `put_0_loop` (stream *), thread of iteration 8 writes 4 bytes at 0x*, "
        f"{BEHIND.format(32, 'cuMemAllocManaged')}, {at('put', 'a store of `x`')}"
    ),
    "an_iteration_writes_behind_an_array_of_the_host": (
        "kernel `put_0_loop` (stream *), thread of iteration 8 writes 4 bytes at 0x*, "
        f"{BEHIND.format(32, 'cuMemAllocAsync')}, {at('put', 'a store of `x`')}"
    ),
    "an_iteration_of_two_axes_writes_behind": (
        "kernel `put_square_0_loop` (stream *), thread of iteration (3, -1) writes 4 bytes at 0x*, "
        f"{BEHIND.format(36, 'cuMemAllocManaged')}, {at('put_square', 'a store of `x`')}"
    ),
    "a_thread_writes_behind_shared_memory": (
        "kernel `put_shared_0_loop` (stream *), block (0, 0, 0), thread (32, 0, 0) writes 4 bytes at 128 of shared "
        f"memory; the block has 128 bytes, {at('put_shared', 'a store of shared memory')}"
    ),
    "a_called_function_writes_behind": (
        "kernel `call_at_0_loop` (stream *), thread of iteration 8 writes 4 bytes at 0x*, "
        f"{BEHIND.format(32, 'cuMemAllocManaged')}, {at('put_at', 'a store of `x`')}"
    ),
    "a_recursive_function_writes_behind": (
        "kernel `call_down_0_loop` (stream *), thread of iteration 0 writes 4 bytes at 0x*, "
        f"{BEHIND.format(32, 'cuMemAllocManaged')}, {at('put_down', 'a store of `x`')}"
    ),
    "an_iteration_uses_freed_memory": (
        "kernel `put_0_loop` (stream *), thread of iteration 0 writes 4 bytes at 0x*, byte 0 of freed memory of "
        f"32 bytes at 0x* (cuMemAllocAsync), freed by a free (stream *), {at('put', 'a store of `x`')}"
    ),
}

INIT = {
    f"an_iteration_reads_{kind}_memory_that_nobody_wrote": (
        "kernel `take_0_loop` (stream *), thread of iteration 0 reads 4 bytes at 0x* "
        f"{NOBODY.format(call, at('take', 'a load of `x`'))}"
    )
    for kind, call in (("managed", "cuMemAllocManaged"), ("pinned", "cuMemHostAlloc"))
}

BOTH = (("reads it", "a load of `x`"), ("writes it", "a store of `x`"))
PUT, TAKE = at("put", "a store of `x`"), at("take", "a load of `x`")
RACE = {
    "iterations_write_one_place": (
        "put_first_0_loop` (stream *)", {f"writes it {at('put_first', 'a store of `x`')}"}
    ),
    "iterations_that_call_a_function_write_one_place": (
        "call_first_0_loop` (stream *)", {f"writes it {at('put_at', 'a store of `x`')}"}
    ),
    "iterations_read_what_their_neighbours_write": (
        "neighbours_0_loop` (stream *)",
        {f"reads it {at('neighbours', 'a load of `x`')}", f"writes it {at('neighbours', 'a store of `x`')}"},
    ),
    "iterations_of_a_loop_on_the_device": (
        "smooth_in_place_0_resident` (node 0 of its graph)",
        {f"{verb} {at('smooth_in_place', what)}" for verb, what in BOTH},
    ),
}  # fmt: skip
OTHER_RACES = ["iterations_of_two_axes_write_one_place", "nodes_of_kernels_without_an_edge"]
SILENT = [
    "an_iteration_reads_what_the_host_wrote",
    "an_iteration_reads_what_another_kernel_wrote",
    "called_functions_without_a_bug",
    "kernels_without_a_bug",
    "loops_that_are_cancelled",
    "tasks_of_a_graph_kernel_that_follow_each_other",
    "nodes_of_kernels_with_an_edge",
]


def test_a_bad_address_names_the_iteration_and_the_line():
    devices = {"CUDA_GRAPHS_HOST_DEVICES": str(len(MEMORY))}
    start = "CUDA_ERROR_ILLEGAL_ADDRESS: CUDA_GRAPHS_HOST_CHECK=memory: "
    wanted = {name: start + text for name, text in MEMORY.items()}
    assert found(MEMORY, SCRIPT.name, CUDA_GRAPHS_HOST_CHECK="memory", **devices) == wanted


@pytest.mark.parametrize(
    "environment", [{"CUDA_GRAPHS_HOST_THREADS": "2"}, {"CUDA_GRAPHS_HOST_SCHEDULE": "random:1"}], ids=str
)
def test_other_bugs_name_the_iterations_and_the_lines(environment):
    texts = found([*INIT, *RACE, *OTHER_RACES, *SILENT], SCRIPT.name, **ALL, **environment)
    for name, wanted in INIT.items():
        assert texts[name] == f"CUDA_ERROR_ILLEGAL_STATE: CUDA_GRAPHS_HOST_CHECK=init: {wanted}", name
    for name, (kernel, accesses) in RACE.items():
        for report in texts[name].splitlines():
            two = re.findall(r"kernel `([^,]*), thread of iteration (\d+), ([^;]*)(?:; |\. It)", report)
            (one, here, does), (other, there, did) = two
            assert one == other == kernel and here != there, report
            assert {does, did} == accesses, report
    rows = texts["iterations_of_two_axes_write_one_place"]
    assert (
        "thread of iteration (2, -1), writes it" in rows and "thread of iteration (2, 0), writes it" in rows
    )
    two = texts["nodes_of_kernels_without_an_edge"]
    for access in (
        f"kernel `put_0_loop` (node 0 of its graph), thread of iteration 0, writes it {PUT}",
        f"kernel `take_0_loop` (node 1 of its graph), thread of iteration 0, reads it {TAKE}",
        "add an edge between the nodes",
    ):
        assert access in two
    assert {name: texts[name] for name in SILENT} == dict.fromkeys(SILENT, "")
