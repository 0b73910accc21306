# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A small machine on the device: a loop fetches instructions, and a switch node executes them.

Its program is an array of numbers, and its one register an array of integers. Instructions 0 to 4 are the branches of a
switch node: negate, double, square, do nothing (an empty branch), add the index. An instruction without a branch does
nothing either. The host supplies a program and launches the graph; it takes no part in the execution.

    copy in -> while (not at the end)          -> copy out -> free
                 fetch the next instruction
                 switch (instruction)
                   0: x = -x | 1: x = 2 x | 2: x = x x | 3: | 4: x = x + i

    python examples/switch_dispatch.py [--driver cuda|host] [instruction ...]
"""

from __future__ import annotations

import argparse

import numpy as np

import cuda_graphs as cg

Numbers = cg.Array1[cg.u32]
LENGTH, NEXT = 0, 1  # elements of the state: length of the program, number of the next instruction


@cg.kernel
def negate(x: Numbers) -> None:
    for i in x:
        x[i] = 0 - x[i]


@cg.kernel
def twice(x: Numbers) -> None:
    for i in x:
        x[i] *= 2


@cg.kernel
def square(x: Numbers) -> None:
    for i in x:
        x[i] *= x[i]


@cg.kernel
def add_index(x: Numbers) -> None:
    for i in x:
        x[i] += i


@cg.kernel
def advance(state: Numbers) -> None:
    state[NEXT] += 1


INDEX = np.arange(8, dtype=np.uint32)
# Branch -> (kernel of the graph, the same operation in NumPy).
INSTRUCTIONS = {
    0: (negate, lambda x: -x),
    1: (twice, lambda x: 2 * x),
    2: (square, lambda x: x * x),
    4: (add_index, lambda x: x + INDEX),
}
BRANCHES = 5
LONGEST = 1024


class Machine:
    """The graph, and the pinned memory of its programs."""

    def __init__(self) -> None:
        device = cg.Device()
        device.set_current()
        self.stream = device.create_stream()
        self.register, self.program, self.state = (
            np.from_dlpack(cg.PinnedMemoryResource().allocate(4 * n, stream=self.stream)).view(np.uint32)
            for n in (INDEX.size, LONGEST, 2)
        )

        g = cg.GraphDef()
        x = g.alloc(shape=INDEX.size, dtype=cg.u32)
        ready = x.memcpy(x, self.register)
        loop = ready.while_loop(lambda state: state[NEXT] < state[LENGTH], args=(self.state,))
        dispatch = loop.body.switch(
            lambda program, state: program[state[NEXT]], BRANCHES, args=(self.program, self.state)
        )
        for number, (kernel, _) in INSTRUCTIONS.items():
            dispatch.branches[number].call(kernel, x)
        dispatch.call(advance, self.state)
        loop.memcpy(self.register, x).free(x)
        self.graph = g.instantiate()

    def run(self, program: list[int], x: np.ndarray) -> np.ndarray:
        """Return the register after a program."""
        self.register[:] = x
        self.program[: len(program)] = program
        self.state[LENGTH], self.state[NEXT] = len(program), 0
        self.graph.launch(self.stream)
        self.stream.sync()
        return self.register.copy()


def run_in_numpy(program: list[int], x: np.ndarray) -> np.ndarray:
    for instruction in program:
        if instruction in INSTRUCTIONS:
            x = INSTRUCTIONS[instruction][1](x)
    return x


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument(
        "--driver", choices=("auto", "cuda", "host"), help="default: CUDA_GRAPHS_DRIVER, else auto"
    )
    parser.add_argument("program", type=int, nargs="*", default=[4, 1, 3, 0, 2, 99, 4], help="instructions")
    options = parser.parse_args()
    if not 0 < len(options.program) <= LONGEST or min(options.program) < 0:
        raise SystemExit(f"a program is 1 to {LONGEST} numbers of 0 or more")

    if options.driver:
        cg.use_driver(options.driver)
    machine = Machine()
    print(cg.driver_info())
    random = np.random.default_rng(4)
    programs = [options.program, *(random.integers(0, 7, n).tolist() for n in (1, 10, 200, LONGEST))]
    for program in programs:
        start = INDEX + 3
        found, expected = machine.run(program, start), run_in_numpy(program, start)
        shown = " ".join(map(str, program[:10])) + (" ..." if len(program) > 10 else "")
        print(f"{shown:26} {found.view(np.int32).tolist()}")
        if (found != expected).any():
            raise SystemExit(f"NumPy has {expected.view(np.int32).tolist()}")
    print("NumPy agrees")


if __name__ == "__main__":
    main()
