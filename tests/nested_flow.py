# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""One graph kernel with all control flow between tasks that there is, and what Python makes of it."""

import cuda_graphs as cg

i32_1d = cg.types.ndarray(cg.i32, ndim=1)
i32_0d = cg.types.ndarray(cg.i32, ndim=0)


def nested_flow(x: i32_1d, c: i32_0d, d: i32_0d):
    """A kernel: each kind of control flow between tasks, and a local that lives across all of it."""
    total = 0
    while cg.graph_do_while(c):
        d[()] = c[()]
        while cg.graph_while(d[()] > 0):
            if cg.graph_if(d[()] % 2 == 0):
                for i in x:
                    x[i] += 1
            else:
                match cg.graph_switch(d[()]):
                    case 1:
                        x[0] += 10
                    case 3:
                        total += 1
                        x[1] += total
            d[()] -= 1
        c[()] -= 1
    x[2] = total


def nested_flow_in_python(rounds):
    """Returns x after `rounds` rounds, starting from [0, 0, 0]."""
    x, total = [0, 0, 0], 0
    for c in range(rounds, 0, -1):
        for d in range(c, 0, -1):
            if d % 2 == 0:
                x = [v + 1 for v in x]
            elif d == 1:
                x[0] += 10
            elif d == 3:
                total += 1
                x[1] += total
    x[2] = total
    return x
