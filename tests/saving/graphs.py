# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A definition with every kind of node, and what it computes. `python -m tests.saving.graphs FILE` saves it."""

import sys

import numpy as np

import cuda_graphs as cg

Ints = cg.types.ndarray(cg.i32, ndim=1)
Floats = cg.types.ndarray(cg.f32, ndim=1)

PTX = """
.version 7.8
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 x, .param .f32 factor, .param .u32 count)
{
    .reg .pred %p;
    .reg .b32 %r<3>;
    .reg .f32 %f<3>;
    .reg .b64 %d<3>;
    mov.u32 %r0, %tid.x;
    ld.param.u32 %r1, [count];
    setp.ge.u32 %p, %r0, %r1;
    @%p ret;
    ld.param.u64 %d0, [x];
    mul.wide.u32 %d1, %r0, 4;
    add.u64 %d0, %d0, %d1;
    ld.global.f32 %f0, [%d0];
    ld.param.f32 %f1, [factor];
    mul.f32 %f0, %f0, %f1;
    st.global.f32 [%d0], %f0;
    ret;
}
"""


@cg.kernel
def add_one(x: Ints):
    x[0] += 1


@cg.kernel
def affine(a: cg.f32, b: cg.f32, x: Floats):
    for i in x:
        x[i] = a * x[i] + b


class Zoo:
    """A definition with nodes of every kind, and a launch of it.

    x, y     input and output: y = factor * (2 * x + 1) + 1 / 8
    counts   [iterations of the loop]
    marks    [mark of the case, mark of the branch], in memory of its own
    """

    def __init__(self) -> None:
        device = cg.Device()
        device.set_current()
        self.x, self.y = cg.ndarray(cg.f32, 8), cg.ndarray(cg.f32, 8)
        self.counts, self.marks = cg.array([0], cg.i32), cg.array([0, 0], cg.i32)
        self.out = cg.array([0, 0], cg.i32)
        self.table = cg.array(np.arange(16, dtype=np.float32))
        self.event = device.create_event()
        self.reports: list[str] = []
        self.scale = cg.ObjectCode.from_ptx(PTX.encode()).get_kernel("scale")
        self.g = self.build()

    def build(self) -> cg.GraphDef:
        g = cg.GraphDef()
        g.param("unused", cg.f64, default=0.5)
        factor = g.param("factor", cg.f32, default=3.0)
        counts, x, y = self.counts, self.x, self.y
        memory = g.alloc(shape=8, dtype=cg.f32, name="work")
        copied = memory.memcpy(memory, x, name="copy")
        scaled = copied.call(affine, 2.0, 1.0, memory).launch(
            cg.LaunchConfig(grid=1, block=32), self.scale, memory, factor, np.uint32(8), name="scaled"
        )
        filled = g.memset(counts, 0).record_event(self.event).wait_event(self.event)
        loop = filled.while_loop(lambda c: c[0] < 5, args=(counts,), max_iterations=9, name="loop")
        loop.body.call(add_one, counts)
        chosen = loop.switch(g.create_condition(2), 3, name="cases")
        for number, branch in enumerate(chosen.branches):
            branch.memset(self.marks[:1], number + 10)
        branch = chosen.if_else(lambda c: c[0] == 5, args=(counts,))
        branch.then.memset(self.marks[1:], 7)
        branch.else_.memset(self.marks[1:], 8)
        child = cg.GraphDef()
        child.memset(self.table, 0.5, name="in the child").call(affine, 1.0, 0.25, self.table)
        embedded = branch.memcpy(self.out, self.marks).embed(child, name="child")
        joined = scaled.join(embedded)
        last = joined.memcpy(y, memory).call(affine, 1.0, 0.125, y)
        freed = last.free(memory)
        reports = self.reports  # a callback that refers to the graph would keep it forever
        freed.callback(lambda: reports.append("done"), name="report")
        return g

    def save(self, path) -> None:
        self.g.save(
            path,
            inputs={"x": self.x},
            outputs={"y": self.y, "counts": self.counts, "marks": self.out},
            include=[self.table, self.marks],
        )


def expected(x, factor=3.0):
    return (2 * np.asarray(x, np.float32) + 1) * np.float32(factor) + np.float32(0.125)


COUNTS = [5, 12, 7]


def launch(g: cg.GraphDef, x, **values):
    """(y, counts) after one launch of the zoo, or of a loaded one, with an array of x."""
    y, counts, marks = cg.ndarray(cg.f32, 8), cg.ndarray(cg.i32, 1), cg.ndarray(cg.i32, 2)
    graph = g.instantiate()
    stream = cg.Device().create_stream()
    graph.launch(stream, x=cg.array(np.asarray(x, np.float32)), y=y, counts=counts, marks=marks, **values)
    stream.sync()
    return y.to_numpy(), [*counts.to_numpy(), *marks.to_numpy()], graph


if __name__ == "__main__":
    Zoo().save(sys.argv[1])
