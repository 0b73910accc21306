# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Random programs for task flows. A step has three meanings: the node that a flow gets, its effect on bytes in program
order, and the set of bytes that it accesses. The last two are independent of the library.

Run as a program, this file runs random programs on the driver and compares their memory with that of program order:

    CUDA_GRAPHS_HOST_SCHEDULE=random:1 python -m tests.graph.flow_programs FIRST_SEED COUNT
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

import cuda_graphs as cg

MEMORY = 96  # bytes; the words after them are the counters of loops
COUNTERS = 8
EVERYTHING = None  # the accesses of a step that counts as accessing everything
ONE = cg.LaunchConfig(grid=1, block=1)

SOURCE = r"""
#include <cuda_graphs.h>
extern "C" __global__ void affine(unsigned* x, unsigned a, unsigned b) { *x = *x * a + b; }
extern "C" __global__ void mix(unsigned* y, const unsigned* x, unsigned a) { *y = *y * a + *x; }
extern "C" __global__ void count_down(cudaGraphConditionalHandle handle, unsigned* left) {
    cudaGraphSetConditional(handle, --*left > 0);
}
"""

U32S = cg.types.ndarray(cg.u32, 1)


@cg.kernel
def scale(y: U32S, x: U32S):
    for i in range(y.shape[0]):
        y[i] = y[i] * 3 + x[i]


@cg.kernel
def two_tasks(y: U32S, z: U32S):
    for i in range(y.shape[0]):
        y[i] = y[i] * 5 + 1
    for i in range(z.shape[0]):
        z[i] = z[i] * 7 + y[0]


@dataclass
class Step:
    """One step. `reads` and `writes` are sets of bytes, or EVERYTHING."""

    add: Callable[["Machine", Any], Any]  # (machine, task flow) -> the node
    apply: Callable[[np.ndarray], None]
    reads: frozenset[int] | None
    writes: frozenset[int] | None
    inner: list["Step"] = field(default_factory=list)

    def conflicts(self, later: "Step") -> bool:
        if EVERYTHING in (self.reads, later.reads):
            return True
        return bool(self.writes & (later.reads | later.writes) or self.reads & later.writes)


class Machine:
    """The memory and the kernels of a process, on the driver."""

    def __init__(self, device: cg.Device) -> None:
        self.stream = device.create_stream()
        self.buffer = cg.PinnedMemoryResource().allocate(MEMORY + 4 * COUNTERS, stream=self.stream)
        self.stream.sync()
        self.bytes = np.from_dlpack(self.buffer).view(np.uint8)
        self.base = int(self.buffer.handle)
        module = cg.Program(SOURCE, code_type="c++").compile("cubin")
        self.affine, self.mix, self.count_down = map(module.get_kernel, ("affine", "mix", "count_down"))

    def at(self, offset: int) -> int:
        return self.base + offset

    def words(self, word: int, count: int) -> np.ndarray:
        return self.bytes[4 * word : 4 * (word + count)].view(np.uint32)

    def close(self) -> None:
        del self.bytes
        self.buffer.close()
        self.stream.close()
        scale.forget()
        two_tasks.forget()


def span(start: int, size: int) -> frozenset[int]:
    return frozenset(range(start, start + size))


def tile(start: int, width: int, rows: int, pitch: int) -> frozenset[int]:
    return frozenset(start + row * pitch + i for row in range(rows) for i in range(width))


def as_words(memory: np.ndarray) -> np.ndarray:
    return memory.view(np.uint32)


NOTHING: frozenset[int] = frozenset()

# ---- leaves: one function per kind


def fill(r: Random) -> Step:
    start, size, value = r.randrange(MEMORY - 16), r.randint(1, 16), r.randrange(256)

    def apply(memory):
        memory[start : start + size] = value

    return Step(lambda m, tf: tf.memset(m.at(start), value, size), apply, NOTHING, span(start, size))


def fill_rows(r: Random) -> Step:
    width, rows, pitch, value = r.randint(1, 4), r.randint(2, 4), r.randint(4, 12), r.randrange(256)
    start = r.randrange(MEMORY - (rows - 1) * pitch - width)
    written = tile(start, width, rows, pitch)

    def apply(memory):
        memory[list(written)] = value

    return Step(lambda m, tf: tf.memset(m.at(start), value, width, rows, pitch), apply, NOTHING, written)


def copy(r: Random) -> Step:
    size = r.randint(1, 16)
    src, dst = r.randrange(MEMORY // 2 - size), r.randrange(MEMORY // 2, MEMORY - size)
    if r.random() < 0.5:
        src, dst = dst, src

    def apply(memory):
        memory[dst : dst + size] = memory[src : src + size]

    return Step(lambda m, tf: tf.memcpy(m.at(dst), m.at(src), size), apply, span(src, size), span(dst, size))


def copy_rows(r: Random) -> Step:
    width, rows = r.randint(1, 3), r.randint(2, 4)
    pitches = r.randint(3, 8), r.randint(3, 8)
    half = MEMORY // 2
    starts = [half * i + r.randrange(half - (rows - 1) * p - width) for i, p in enumerate(pitches)]
    (src, src_pitch), (dst, dst_pitch) = r.sample(list(zip(starts, pitches)), 2)

    def apply(memory):
        for row in range(rows):
            to, start = dst + row * dst_pitch, src + row * src_pitch
            memory[to : to + width] = memory[start : start + width]

    def add(m, tf):
        return tf.memcpy(
            m.at(dst), m.at(src), width=width, height=rows, dst_pitch=dst_pitch, src_pitch=src_pitch
        )

    return Step(add, apply, tile(src, width, rows, src_pitch), tile(dst, width, rows, dst_pitch))


def declared_kernel(r: Random) -> Step:
    y, x, a = r.randrange(MEMORY // 4), r.randrange(MEMORY // 4), r.randrange(1, 9)

    def apply(memory):
        words = as_words(memory)
        words[y : y + 1] = words[y : y + 1] * np.uint32(a) + words[x : x + 1]

    def add(m, tf):
        (at_y, at_x) = m.at(4 * y), m.at(4 * x)
        reads, writes = [(at_y, 4), (at_x, 4)], [(at_y, 4)]
        return tf.launch(ONE, m.mix, at_y, at_x, a, reads=reads, writes=writes)

    return Step(add, apply, span(4 * y, 4) | span(4 * x, 4), span(4 * y, 4))


def compiled_kernel(r: Random) -> Step:
    count = r.randint(1, 4)
    y, x = r.randrange(MEMORY // 8 - count), r.randrange(MEMORY // 8, MEMORY // 4 - count)

    def apply(memory):
        words = as_words(memory)
        words[y : y + count] = words[y : y + count] * np.uint32(3) + words[x : x + count]

    with_call = r.random() < 0.5

    def add(m, tf):
        arrays = m.words(y, count), m.words(x, count)
        return tf.call(scale, *arrays) if with_call else tf.launch(None, scale, *arrays)

    return Step(add, apply, span(4 * y, 4 * count) | span(4 * x, 4 * count), span(4 * y, 4 * count))


def compiled_tasks(r: Random) -> list[Step]:
    """A call of two tasks: one step for each."""
    y, z = r.randrange(MEMORY // 8), r.randrange(MEMORY // 8, MEMORY // 4 - 2)
    at_y, at_z = span(4 * y, 4), span(4 * z, 8)
    second: list[Any] = []

    def scale_y(memory):
        words = as_words(memory)
        words[y : y + 1] = words[y : y + 1] * np.uint32(5) + np.uint32(1)

    def scale_z(memory):
        words = as_words(memory)
        words[z : z + 2] = words[z : z + 2] * np.uint32(7) + words[y]

    def add(m, tf):
        before = tf.graph.nodes()
        second.append(tf.call(two_tasks, m.words(y, 1), m.words(z, 2)))
        (first,) = tf.graph.nodes() - before - {second[-1]}
        return first

    return [
        Step(add, scale_y, at_y, at_y),
        Step(lambda m, tf: second.pop(), scale_z, at_y | at_z, at_z),
    ]


def unknown_kernel(r: Random) -> Step:
    word, a, b = r.randrange(MEMORY // 4), r.randrange(1, 9), r.randrange(9)
    everywhere = span(0, MEMORY + 4 * COUNTERS)

    def apply(memory):
        words = as_words(memory)
        words[word : word + 1] = words[word : word + 1] * np.uint32(a) + np.uint32(b)

    return Step(lambda m, tf: tf.launch(ONE, m.affine, m.at(4 * word), a, b), apply, everywhere, everywhere)


def callback(r: Random) -> Step:
    start, size, amount = r.randrange(MEMORY - 8), r.randint(1, 8), r.randrange(256)
    is_declared = r.random() < 0.7

    def apply(memory):
        part = memory[start : start + size]
        part[:] = part * np.uint8(3) + np.uint8(amount)

    def add(m, tf):
        declared = {"writes": [(m.at(start), size)]} if is_declared else {}
        memory = m.bytes
        return tf.callback(lambda: apply(memory), **declared)

    touched = span(start, size) if is_declared else EVERYTHING
    return Step(add, apply, touched, touched)


def temporary(r: Random) -> list[Step]:
    """An allocation, a copy to it, and a copy from it. Bytes from 1000 on stand for the allocation."""
    size = r.randint(1, 8)
    src, dst = r.randrange(MEMORY - size), r.randrange(MEMORY - size)
    number = r.randrange(1 << 40)
    memory_of: dict[int, Any] = {}
    own = frozenset([-1 - number])
    saved = np.zeros(size, np.uint8)

    def allocate(m, tf):
        memory_of[id(tf)] = tf.alloc(size)
        return memory_of[id(tf)]

    def save(memory):
        saved[:] = memory[src : src + size]

    def restore(memory):
        memory[dst : dst + size] = saved

    return [
        Step(allocate, lambda memory: None, NOTHING, own),
        Step(lambda m, tf: tf.memcpy(memory_of[id(tf)].dptr, m.at(src), size), save, span(src, size), own),
        Step(lambda m, tf: tf.memcpy(m.at(dst), memory_of[id(tf)].dptr, size), restore, own, span(dst, size)),
    ]


IN_CHILDREN = (
    fill,
    fill,
    fill_rows,
    copy,
    copy,
    copy_rows,
    declared_kernel,
    declared_kernel,
    compiled_kernel,
    compiled_tasks,
)
IN_BODIES = (*IN_CHILDREN, unknown_kernel)


def leaf(r: Random, kinds) -> list[Step]:
    made = r.choice(kinds)(r)
    return made if isinstance(made, list) else [made]


# ---- steps with other steps in them


def union(steps: list[Step]) -> tuple[frozenset[int], frozenset[int]]:
    """Return the bytes that some steps read and write."""
    return NOTHING.union(*(s.reads for s in steps)), NOTHING.union(*(s.writes for s in steps))


def inner_steps(r: Random, kinds=IN_BODIES) -> list[Step]:
    return [step for _ in range(r.randint(1, 3)) for step in leaf(r, kinds)]


def apply_all(steps: list[Step], memory: np.ndarray) -> None:
    for step in steps:
        step.apply(memory)


def add_to(m: Machine, graph: cg.GraphDef, steps: list[Step]) -> None:
    with graph.task_flow() as tf:
        for step in steps:
            step.add(m, tf)


def choice(r: Random) -> Step:
    steps = inner_steps(r)
    other = inner_steps(r)
    value = r.randrange(2)
    kind = r.choice(("if_then", "if_else", "switch"))
    taken = {"if_then": (other, steps)[value] if value else [], "if_else": (other, steps)[value]}

    def add(m, tf):
        condition = tf.graph.create_condition(default_value=value)
        node = tf.switch(condition, 2) if kind == "switch" else getattr(tf, kind)(condition)
        bodies = {"if_then": (steps,), "if_else": (steps, other), "switch": (other, steps)}[kind]
        for body, inner in zip(node.branches, bodies, strict=True):
            add_to(m, body, inner)
        return node

    def apply(memory):
        apply_all(taken.get(kind, (other, steps)[value]), memory)

    inside = steps if kind == "if_then" else steps + other
    return Step(add, apply, *union(inside), inner=inside)


def loop(r: Random, counter: int) -> list[Step]:
    """A fill of the counter, and a loop that counts it down."""
    steps, times = inner_steps(r, IN_CHILDREN), r.randint(1, 3)
    at = MEMORY + 4 * counter
    word = span(at, 4)

    def add(m, tf):
        condition = tf.graph.create_condition(default_value=1)
        node = tf.while_loop(condition)
        with node.body.task_flow() as body:
            for step in steps:
                step.add(m, body)
            left = [(m.at(at), 4)]
            body.launch(ONE, m.count_down, condition, m.at(at), reads=left, writes=left)
        return node

    def apply(memory):
        for _ in range(times):
            apply_all(steps, memory)
        as_words(memory)[at // 4] = 0

    def start(memory):
        as_words(memory)[at // 4] = times

    reads, writes = union(steps)
    value = times.to_bytes(4, "little")
    return [
        Step(lambda m, tf: tf.memset(m.at(at), value, 1), start, NOTHING, word),
        Step(add, apply, reads | word, writes | word, inner=steps),
    ]


def child(r: Random) -> Step:
    steps = inner_steps(r, IN_CHILDREN)

    def add(m, tf):
        graph = cg.GraphDef()
        add_to(m, graph, steps)
        return tf.embed(graph)

    return Step(add, lambda memory: apply_all(steps, memory), *union(steps), inner=steps)


def program(seed: int, length: int = 14) -> list[Step]:
    """Return a random program of about `length` steps."""
    r = Random(seed)
    steps: list[Step] = []
    counters = 0
    while len(steps) < length:
        kind = r.randrange(20)
        if kind == 0 and counters < COUNTERS:
            steps += loop(r, counters)
            counters += 1
        elif kind == 1:
            steps += temporary(r)
        elif kind in (2, 3):
            steps.append(choice(r))
        elif kind == 4:
            steps.append(child(r))
        elif kind == 5:
            steps.append(callback(r))
        else:
            steps += leaf(r, IN_BODIES)
    return steps


def add_program(machine: Machine, steps: list[Step]) -> tuple[cg.GraphDef, list[Any]]:
    """Return a graph of the program, and the nodes of the steps."""
    graph = cg.GraphDef()
    with graph.task_flow() as tf:
        nodes = [step.add(machine, tf) for step in steps]
    return graph, nodes


def memory_before(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, MEMORY + 4 * COUNTERS, np.uint8)


def run_program(machine: Machine, seed: int, length: int = 14) -> None:
    """Run a program on the driver, and compare the memory with that of program order."""
    steps = program(seed, length)
    expected = memory_before(seed)
    graph, _ = add_program(machine, steps)
    machine.bytes[:] = expected
    executable = graph.instantiate()
    executable.launch(machine.stream)
    machine.stream.sync()
    apply_all(steps, expected)
    assert np.array_equal(machine.bytes, expected), f"program {seed} has other results than program order"
    executable.close()


def main() -> None:
    first, count = map(int, sys.argv[1:])
    device = cg.Device()
    device.set_current()
    machine = Machine(device)
    for seed in range(first, first + count):
        run_program(machine, seed)
    machine.close()


if __name__ == "__main__":
    main()
