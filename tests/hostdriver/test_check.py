# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: with CUDA_GRAPHS_HOST_CHECK every planted bug is an exception at the next synchronisation that names it exactly,
and a program without it runs as ever (planted_bugs.py). The order in which work happens to run makes no difference."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostdriver import planted_bugs

HERE = Path(__file__).parent
ROOT = HERE.parent.parent

MEMORY = {
    "kernel_writes_behind": (
        "kernel `put` (stream *), block (2, 0, 0), thread (0, 0, 0) writes 4 bytes at 0x*, which is right "
        "behind the memory of 32 bytes at 0x* (cuMemAllocAsync), at bugs.cu:10 (st.global.u32, line 25 of "
        "the PTX)"
    ),
    "kernel_writes_where_the_next_memory_might_be": (
        "kernel `put` (stream *), block (0, 0, 0), thread (128, 0, 0) writes 4 bytes at 0x*, which is right behind the "
        "memory of 512 bytes at 0x* (cuMemAllocAsync), at bugs.cu:10 (st.global.u32, line 25 of the PTX)"
    ),
    "kernel_writes_without_lines": (
        "kernel `plain` (stream *), block (2, 0, 0), thread (0, 0, 0) writes 4 bytes at 0x*, which is right "
        "behind the memory of 32 bytes at 0x* (cuMemAllocAsync), at st.global.u32, line 182 of the PTX"
    ),
    "kernel_reads_across_the_end": (
        "kernel `take` (stream *), block (0, 0, 0), thread (0, 0, 0) reads 4 bytes at 0x*, which ends 2 "
        "bytes behind the memory of 32 bytes at 0x* (cuMemAllocAsync), at bugs.cu:20 (ld.global.u32, line "
        "49 of the PTX)"
    ),
    "kernel_uses_freed": (
        "kernel `put` (stream *), block (0, 0, 0), thread (0, 0, 0) writes 4 bytes at 0x*, byte 0 of freed "
        "memory of 32 bytes at 0x* (cuMemAllocAsync), freed by a free (stream *), at bugs.cu:10 "
        "(st.global.u32, line 25 of the PTX)"
    ),
    "kernel_uses_memory_that_the_host_freed": (
        "kernel `put` (stream *), block (0, 0, 0), thread (0, 0, 0) writes 4 bytes at 0x*, byte 0 of freed "
        "memory of 32 bytes at 0x* (cuMemAlloc), freed by the host, at bugs.cu:10 (st.global.u32, line 25 "
        "of the PTX)"
    ),
    "kernel_uses_host_memory": (
        "kernel `put` (stream *), block (0, 0, 0), thread (0, 0, 0) writes 4 bytes at 0x*, which is "
        "outside device memory, at bugs.cu:10 (st.global.u32, line 25 of the PTX)"
    ),
    "kernel_writes_behind_shared_memory": (
        "kernel `put_shared` (stream *), block (0, 0, 0), thread (4, 0, 0) writes 4 bytes at 16 of shared "
        "memory; the block has 16 bytes, at bugs.cu:50 (st.shared.u32, line 125 of the PTX)"
    ),
    "node_uses_memory_after_its_free": (
        "kernel `put` (node 2 of its graph), block (0, 0, 0), thread (0, 0, 0) writes 4 bytes at 0x*, byte "
        "0 of freed memory of 32 bytes at 0x* (a graph's allocation node), freed by a free (node 1 of its "
        "graph), at bugs.cu:10 (st.global.u32, line 25 of the PTX)"
    ),
    "node_copies_freed_memory": (
        "a copy (node 0 of its graph) reads 32 bytes at 0x*, byte 0 of freed memory of 32 bytes at 0x* "
        "(cuMemAllocAsync), freed by a free (stream *)"
    ),
}

ALIGNMENT = {
    "kernel_writes_between_two_elements": (
        "kernel `put` (stream *), block (0, 0, 0), thread (0, 0, 0) writes 4 bytes at 0x*, which is no multiple of 4, "
        "at bugs.cu:10 (st.global.u32, line 25 of the PTX)"
    ),
    "kernel_writes_a_pair_from_an_odd_element_on": (
        "kernel `put_pair` (stream *), block (0, 0, 0), thread (1, 0, 0) writes 8 bytes at 0x*, which is no multiple "
        "of 8, at bugs.cu:70 (st.global.v2.u32, line 206 of the PTX)"
    ),
    "kernel_writes_a_pair_in_shared_memory_from_an_odd_element_on": (
        "kernel `put_shared_pair` (stream *), block (0, 0, 0), thread (1, 0, 0) writes 8 bytes at 4 of shared memory, "
        "which is no multiple of 8, at bugs.cu:80 (st.shared.v2.u32, line 232 of the PTX)"
    ),
}

INIT = {
    "kernel_reads_what_nobody_wrote": (
        "kernel `take` (stream *), block (0, 0, 0), thread (0, 0, 0) reads 4 bytes at 0x* before any "
        "write to byte 0 of the memory of 32 bytes at 0x* (cuMemAllocAsync) at bugs.cu:20 (ld.global.u32, "
        "line 49 of the PTX)"
    ),
    "kernel_reads_more_than_was_written": (
        "kernel `take` (stream *), block (0, 0, 0), thread (7, 0, 0) reads 4 bytes at 0x* before any "
        "write to byte 28 of the memory of 32 bytes at 0x* (cuMemAllocAsync) at bugs.cu:20 (ld.global.u32, "
        "line 49 of the PTX)"
    ),
    "copy_reads_what_nobody_wrote": (
        "a copy (stream *) reads 32 bytes at 0x* before any write to byte 0 of the memory of 32 bytes at 0x* "
        "(cuMemAllocAsync)"
    ),
    "kernel_reads_what_a_copy_took_along": (
        "kernel `take` (stream *), block (0, 0, 0), thread (7, 0, 0) reads 4 bytes at 0x* before any write to byte "
        "28 of the memory of 32 bytes at 0x* (cuMemAllocAsync) at bugs.cu:20 (ld.global.u32, line 49 of the PTX)"
    ),
    "kernel_reads_what_was_written": "",
    "copy_takes_along_what_nobody_wrote": "",
    "kernel_reads_what_was_filled_and_copied": "",
    "copy_reads_what_native_code_wrote": "",
}

PUT, PUT_FIRST = (
    "at bugs.cu:10 (st.global.u32, line 25 of the PTX)",
    "at bugs.cu:30 (st.global.u32, line 75 of the PTX)",
)
TAKE = "at bugs.cu:20 (ld.global.u32, line 49 of the PTX)"
NODES = "add an edge between the nodes, or an event between the streams."
BLOCKS = "Blocks of a kernel run in any order: use atomics, or another kernel."
B0, B1 = "block (0, 0, 0)", "block (1, 0, 0)"

# The two accesses, in any order.
RACE = {
    "two_nodes_write": {
        f"kernel `put` (node 0 of its graph), {B0}, writes it {PUT}",
        f"kernel `put_first` (node 1 of its graph), {B0}, writes it {PUT_FIRST}",
    },
    "node_reads_what_another_writes": {
        f"kernel `put` (node 0 of its graph), {B0}, writes it {PUT}",
        f"kernel `take` (node 1 of its graph), {B0}, reads it {TAKE}",
    },
    "fill_and_kernel": {
        "a fill (node 0 of its graph), writes it",
        f"kernel `put` (node 1 of its graph), {B0}, writes it {PUT}",
    },
    "copy_and_kernel": {
        "a copy (node 0 of its graph), reads it",
        f"kernel `put` (node 1 of its graph), {B0}, writes it {PUT}",
    },
    "host_node_and_kernel": {
        "a host function (node 0 of its graph), reads it",
        f"kernel `put` (node 1 of its graph), {B0}, writes it {PUT}",
    },
    "node_inside_a_child_and_one_beside": {
        f"kernel `put` (node 0 of its graph), {B0}, writes it {PUT}",
        f"kernel `put_first` (node 1 of its graph), {B0}, writes it {PUT_FIRST}",
    },
    "node_inside_a_body_and_one_beside": {
        f"kernel `put` (node 0 of its graph), {B0}, writes it {PUT}",
        f"kernel `put_first` (node 1 of its graph), {B0}, writes it {PUT_FIRST}",
    },
    "node_frees_what_another_uses": {
        f"kernel `put` (node 1 of its graph), {B0}, writes it {PUT}",
        "a free (node 2 of its graph), writes it",
    },
    "blocks_write_one_place": {
        f"kernel `put_first` (stream *), {B0}, writes it {PUT_FIRST}",
        f"kernel `put_first` (stream *), {B1}, writes it {PUT_FIRST}",
    },
    "two_streams": {
        f"kernel `put` (stream *), {B0}, writes it {PUT}",
        f"kernel `put_first` (stream *), {B0}, writes it {PUT_FIRST}",
    },
    "stream_frees_what_another_uses": {
        f"kernel `put` (stream *), {B0}, writes it {PUT}",
        "a free (stream *), writes it",
    },
    "default_stream_and_one_that_does_not_wait_for_it": {
        f"kernel `put` (stream *), {B0}, writes it {PUT}",
        f"kernel `put_first` (stream *), {B0}, writes it {PUT_FIRST}",
    },
    "two_nodes_write_one_after_the_other": set(),
    "nodes_with_a_path_over_others": set(),
    "two_nodes_read": set(),
    "passes_of_a_loop": set(),
    "blocks_count_with_atomics": set(),
    "last_block_with_a_fence": set(),
    "default_stream_and_one_that_waits_for_it": set(),
    "two_streams_and_an_event": set(),
    "two_streams_and_the_host": set(),
    "launches_of_one_graph": set(),
}

# Which of the two is the last, the order decides.
LAST_BLOCK = [
    {
        f"kernel `last_block` (stream *), {first}, writes it at st.global.u32, line 148 of the PTX",
        f"kernel `last_block` (stream *), {last}, reads it at bugs.cu:60 (ld.global.u32, line 159 of the PTX)",
    }
    for first, last in ((B0, B1), (B1, B0))
]


def python(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    environment = {"CUDA_GRAPHS_DRIVER": "host", "PYTHONPATH": str(ROOT), **environment}
    command = [sys.executable, "-W", "error", *arguments]
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=120, check=False
    )


def found(names, script: str = "planted_bugs.py", **environment: str) -> dict[str, str]:
    """Returns the finding of the driver in each program, without addresses and numbers of streams."""
    result = python(str(HERE / script), *names, **environment)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    texts = json.loads(result.stdout).items()
    return {
        name: re.sub(r"stream \d+", "stream *", re.sub("0x[0-9a-f]+", "0x*", text)) for name, text in texts
    }


def accesses(text: str) -> set[str]:
    """Returns the accesses that reports of a race name, without the thread, which is known for one of them only. Two
    simultaneous accesses may each find the other, which gives two reports of the same pair."""
    if not text:
        return set()
    status, reports = text.split(": ", 1)
    assert status == "CUDA_ERROR_ILLEGAL_STATE"
    each = [accesses_of(line) for line in reports.splitlines()]
    assert all(one == each[0] for one in each), text
    return each[0]


def accesses_of(text: str) -> set[str]:
    """Those of one report, which is a line."""
    head, both = text.split(" race: ", 1)
    assert re.fullmatch(
        r"CUDA_GRAPHS_HOST_CHECK=race: two accesses to byte \d+ of the memory of 32 bytes at 0x\* \([^)]*\)",
        head,
    ), head
    remedy = BLOCKS if BLOCKS in both else f"No dependency orders them: {NODES}"
    assert both.endswith(f". {remedy}")
    both = re.sub(r", thread \(\d+, \d+, \d+\)", "", both.removesuffix(f". {remedy}"))
    return set(both.split("; "))


@pytest.mark.parametrize(
    ("wanted", "status"),
    [(MEMORY, "CUDA_ERROR_ILLEGAL_ADDRESS"), (ALIGNMENT, "CUDA_ERROR_MISALIGNED_ADDRESS")],
    ids=["outside", "misaligned"],
)
def test_a_bad_address_is_an_error_that_says_whose_it_is(wanted, status):
    devices = {"CUDA_GRAPHS_HOST_DEVICES": str(len(wanted))}  # none works after such an error
    texts = found(wanted, CUDA_GRAPHS_HOST_CHECK="memory", CUDA_GRAPHS_HOST_THREADS="0", **devices)
    for name, text in texts.items():
        assert text == f"{status}: CUDA_GRAPHS_HOST_CHECK=memory: {wanted[name]}", name


def test_a_read_of_what_nobody_wrote_is_an_error_that_names_the_byte():
    for name, text in found(INIT, CUDA_GRAPHS_HOST_CHECK="init", CUDA_GRAPHS_HOST_THREADS="0").items():
        wanted = f"CUDA_ERROR_ILLEGAL_STATE: CUDA_GRAPHS_HOST_CHECK=init: {INIT[name]}" if INIT[name] else ""
        assert text == wanted, name


@pytest.mark.parametrize(
    "environment",
    [
        {"CUDA_GRAPHS_HOST_THREADS": "0"},
        {"CUDA_GRAPHS_HOST_THREADS": "2"},
        {"CUDA_GRAPHS_HOST_SCHEDULE": "random:1"},
        {"CUDA_GRAPHS_HOST_SCHEDULE": "random:2"},
    ],
    ids=["one thread", "workers", "drawn order", "another drawn order"],
)
def test_a_race_is_an_error_that_names_both_accesses_in_whatever_order_they_come(environment):
    texts = found([*RACE, "last_block_without_a_fence"], CUDA_GRAPHS_HOST_CHECK="race", **environment)
    for name, wanted in RACE.items():
        assert accesses(texts[name]) == wanted, name
    assert accesses(texts["last_block_without_a_fence"]) in LAST_BLOCK


def test_nothing_is_looked_for_that_was_not_asked_for():
    names = ["two_nodes_write", "kernel_reads_what_nobody_wrote"]
    assert found(names, CUDA_GRAPHS_HOST_CHECK="memory") == dict.fromkeys(names, "")


FREED = """
import ctypes
import cuda_graphs as cg
device = cg.Device(); device.set_current(); stream = device.create_stream()
buffer = device.memory_resource.allocate(16, stream=stream)
buffer.fill(1, stream=stream); stream.sync()
address = int(buffer.handle); buffer.close(stream); stream.sync()
print(ctypes.string_at(address, 16) == b"\\xff" * 16)
print(int(device.memory_resource.allocate(16, stream=stream).handle) != address)
"""


def test_freed_memory_is_poisoned_and_its_address_not_used_again_at_once():
    result = python("-c", FREED, CUDA_GRAPHS_HOST_CHECK="memory")
    assert (result.stdout, result.stderr) == ("True\nTrue\n", "")


NOT_WAITED_FOR = """
import threading
import planted_bugs as p
p.S = p.Setting()
a, graph, done = p.S.zeros(), p.cg.GraphDef(), threading.Event()
p.on(graph, "put", a).join(p.on(graph, "put", a)).callback(done.set)
p.run(graph)
print(done.wait(60))
"""


def test_program_that_does_not_wait_gets_the_finding_at_its_end():
    result = python(
        "-c",
        NOT_WAITED_FOR,
        CUDA_GRAPHS_HOST_CHECK="race",
        PYTHONPATH=os.pathsep.join([str(ROOT), str(HERE)]),
    )
    assert result.stdout == "True\n", result.stderr
    assert result.stderr.startswith(
        "cuda_graphs host driver: CUDA_GRAPHS_HOST_CHECK=race: two accesses to byte 0 "
    )


WITH_CORE = """
import ctypes
from cuda.core import Device, LaunchConfig, ObjectCode, launch
device = Device(); device.set_current(); stream = device.create_stream()
code = ObjectCode.from_ptx(open(r"{ptx}", "rb").read())
memory = device.memory_resource.allocate(32, stream=stream)
launch(stream, LaunchConfig(grid=1, block=9), code.get_kernel("put"), memory, 0, ctypes.c_uint32(9))
try:
    stream.sync()
except Exception as error:
    print(error)
"""


def test_in_the_place_of_libcuda_the_finding_is_on_standard_error(tmp_path):
    ptx = tmp_path / "bugs.ptx"
    ptx.write_text(planted_bugs.PTX)
    command = ["-m", "cuda_graphs.hostdriver", "-c", WITH_CORE.format(ptx=ptx)]
    result = python(*command, CUDA_GRAPHS_HOST_CHECK="memory")
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in result.stdout, result.stderr
    assert "cuda_graphs host driver: CUDA_GRAPHS_HOST_CHECK=memory: kernel `put`" in result.stderr
    assert result.stderr.count("CUDA_GRAPHS_HOST_CHECK=memory") == 1


@pytest.mark.parametrize("name", ["named_parameters", "stream_capture", "switch_dispatch"])
def test_nothing_is_found_in_the_examples(name):
    result = python(str(ROOT / "examples" / f"{name}.py"), CUDA_GRAPHS_HOST_CHECK="memory,race,init")
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("CUDA_GRAPHS_HOST_CHECK", "mem", "some of memory, race, init, separated by commas"),
        ("CUDA_GRAPHS_HOST_CHECK", "memory,", "some of memory, race, init, separated by commas"),
        ("CUDA_GRAPHS_HOST_SCHEDULE", "random", "random:<seed>, a seed of up to 18 digits"),
        ("CUDA_GRAPHS_HOST_SCHEDULE", "random:-1", "random:<seed>, a seed of up to 18 digits"),
        ("CUDA_GRAPHS_HOST_MATH", "quick", "exact or fast"),
    ],
)
def test_a_value_that_is_not_understood_is_refused(variable, value, expected):
    result = python("-c", "import cuda_graphs as cg; cg.Device()", **{variable: value})
    last = result.stderr.splitlines()[-1]
    assert last.endswith(
        f"DriverNotFoundError: The host driver does not start: {variable} is '{value}'; expected {expected}."
    )
