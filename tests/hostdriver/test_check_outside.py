# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: programs of cuda.core and cuda.bindings with a bug (planted_outside.py) get an error from their next wait, and
what was found is on standard error: kernel or node, block, thread, address and line. Programs like them without it are
silent."""

import json
import re
from pathlib import Path

import pytest

from tests.hostdriver.test_check import python

pytest.importorskip("cuda.core")

SCRIPT = Path(__file__).with_name("planted_outside.py")
SOURCE = re.search(r'SOURCE = r"""(.*?)"""', SCRIPT.read_text(), re.DOTALL)[1].splitlines()
LINES = {
    text.split("// ")[1]: number for number, text in enumerate(SOURCE, 1) if re.search(r"  // \w+$", text)
}

# The check, the words of its finding, and the kernel whose marked line it names ("" for an access outside of kernels).
BUGS = {
    "pool_memory": ("memory", "which is right behind the memory of 32 bytes", "put"),
    "managed_memory": ("memory", "which is right behind the memory of 32 bytes", "put"),
    "memory_of_another_stream": ("memory", "block (1, 0, 0), thread (0, 0, 0) writes 4 bytes", "put"),
    "reads_before": ("memory", "thread (0, 0, 0) reads 4 bytes", "take"),
    "halves_of_a_vector": ("memory", "which ends 8 bytes behind the memory of 32 bytes", "vector"),
    "shared_memory": ("memory", "thread (7, 0, 0) writes 4 bytes at 32 of shared memory", "put_shared"),
    "memory_of_the_cluster": ("memory", "reads 4 bytes", "other"),
    "a_bulk_copy": ("memory", "(cp.async.bulk.global.shared::cta.bulk_group, line ", ""),
    "a_bulk_copy_into_shared_memory": ("memory", "thread (0, 0, 0) writes 64 bytes at ", ""),
    "a_variable": ("memory", "reads 4 bytes at 0x", "read_table"),
    "freed_in_stream_order": ("memory", "byte 0 of freed memory of 32 bytes", "put"),
    "freed_by_the_host": ("memory", "freed by the host", "put"),
    "memory_of_a_kernels_malloc": ("memory", "(malloc of a kernel), at ", "follow"),
    "freed_by_a_kernel": ("memory", "(malloc of a kernel), freed by kernel `drop` (stream ", "follow"),
    "memory_of_a_graph": ("memory", "freed by a free (node 1 of its graph)", "put"),
    "memory_of_the_process": ("memory", "which is outside device memory", "put"),
    "a_node_in_a_body": ("memory", "kernel `put` (node 0 of its graph)", "put"),
    "a_node_of_a_child": ("memory", "kernel `put` (node 0 of its graph)", "put"),
    "a_captured_kernel": ("memory", "kernel `put` (node 0 of its graph)", "put"),
    "freed_before_a_copy": ("memory", "a copy (node 0 of its graph) reads 32 bytes", ""),
    "reads_of_the_pool": ("init", "byte 0 of the memory of 32 bytes", "take"),
    "reads_of_a_kernels_malloc": ("init", "(malloc of a kernel)", "fetch"),
    "reads_of_managed_memory": ("init", "byte 0 of the memory of 32 bytes", "take"),
    "the_last_is_not_written": ("init", "thread (7, 0, 0) reads 4 bytes", "take"),
    "an_atomic": ("init", "reads and writes 4 bytes", "add"),
    "a_bulk_copy_of_nothing": ("init", "reads 32 bytes", ""),
    "a_copy_of_nothing": ("init", "a copy (stream", ""),
    "memory_that_came_again": ("init", "thread (0, 0, 0) reads 4 bytes", "take"),
    "memory_of_a_node": ("init", "(a graph's allocation node)", "take"),
    "rows_that_were_not_filled": ("init", "thread (2, 0, 0) reads 4 bytes", "take"),
    "nodes": ("race", "add an edge between the nodes", "take"),
    "nodes_far_apart": ("race", "(node 6 of its graph)", "put"),
    "fills": ("race", "a fill (node 0 of its graph)", "put"),
    "copies": ("race", "a copy (node 1 of its graph)", "put"),
    "a_body_and_a_node": ("race", "kernel `put_first` (node 1 of its graph)", "put_first"),
    "a_child_and_a_node": ("race", "kernel `put_first` (node 1 of its graph)", "put_first"),
    "streams": ("race", "an event between the streams", "put_first"),
    "an_event_that_was_recorded_too_early": ("race", "an event between the streams", "put_first"),
    "launches_of_a_graph": ("race", "kernel `put` (node 0 of its graph)", "put"),
    "a_free_and_a_kernel": ("race", "a free (stream", "put"),
    "blocks": ("race", "Blocks of a kernel run in any order", "put_first"),
    "blocks_and_a_barrier_of_the_grid": ("race", "Blocks of a kernel run in any order", "next"),
    "blocks_and_a_flag": ("race", "Blocks of a kernel run in any order", "flag"),
    "rows_of_a_copy": ("race", "a copy (stream", "put"),
    "a_box_of_a_copy": ("race", "a copy (stream", "put_first"),
}

ERRORS = {
    "memory": "CUDA_ERROR_ILLEGAL_ADDRESS",
    "race": "CUDA_ERROR_ILLEGAL_STATE",
    "init": "CUDA_ERROR_ILLEGAL_STATE",
}


@pytest.fixture(scope="module")
def outcomes() -> dict[str, list[list[str]]]:
    environment = {
        "CUDA_GRAPHS_HOST_CHECK": "memory,race,init",
        "CUDA_GRAPHS_HOST_DEVICES": str(len(BUGS)),  # none works after a bad address
    }
    # cuda.core warns of an NVRTC that is newer than the driver.
    result = python("-W", "ignore", "-m", "cuda_graphs.hostdriver", str(SCRIPT), *BUGS, **environment)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("name", BUGS)
def test_a_bug_is_found_at_the_next_wait_and_nothing_where_there_is_none(outcomes, name):
    silent, (error, text) = outcomes[name]
    check, what, kernel = BUGS[name]
    assert error.startswith(ERRORS[check])
    found = [line for line in text.splitlines() if line.startswith("cuda_graphs host driver: ")]
    assert found  # beside what cuda.core says of a lost context
    for report in found:
        assert report.startswith(f"cuda_graphs host driver: CUDA_GRAPHS_HOST_CHECK={check}: ")
        assert what in report
        assert re.search(r" at 0x[0-9a-f]{5,}| of shared memory", report)
        assert not kernel or f"bugs.cu:{LINES[kernel]} (" in report
    assert silent == ["", ""]
