# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a random expression of CUDA C++ gives what NumPy gives for the same tree, on every driver.

A tree has leaves of every number type, conversions, and the operations on which C and NumPy agree to the bit. It has no
fused multiply-add, signed overflow, division by zero or sign of a NaN. NVRTC folds, strengthens and reorders it freely.
"""

import numpy as np
import pytest

import cuda_graphs as cg
from tests.conformance.ptx_differential import Bench

N = 256
TREES = 40
DEPTH = 5
TYPES = {
    "unsigned": np.uint32,
    "unsigned long long": np.uint64,
    "int": np.int32,
    "long long": np.int64,
    "unsigned char": np.uint8,
    "short": np.int16,
    "float": np.float32,
    "double": np.float64,
}
WIDE = ("unsigned", "unsigned long long", "float", "double")  # what arithmetic is done in
LEAVES = ["unsigned", "int", "unsigned long long", "short", "unsigned char", "float", "double"]


def count_zeros(a):
    return np.array([32 - int(x).bit_length() for x in a], np.uint32)


INTEGER = {
    "({a} + {b})": np.add,
    "({a} - {b})": np.subtract,
    "({a} * {b})": np.multiply,
    "({a} & {b})": np.bitwise_and,
    "({a} ^ {b})": np.bitwise_xor,
    "({a} | ~{b})": lambda a, b: a | ~b,
    "({a} / ({b} | 1))": lambda a, b: a // (b | a.dtype.type(1)),
    "({a} % ({b} | 3))": lambda a, b: a % (b | a.dtype.type(3)),
    "({a} << ({b} & 31))": lambda a, b: a << (b & a.dtype.type(31)),
    "({a} >> ({b} & 31))": lambda a, b: a >> (b & a.dtype.type(31)),
    "min({a}, {b})": np.minimum,
    "max({a}, {b})": np.maximum,
    "({a} < {b} ? {a} : {b} + 1)": lambda a, b: np.where(a < b, a, b + a.dtype.type(1)),
    "({a} == {b} || ({a} & 1) ? {b} : ~{a})": lambda a, b: np.where(
        (a == b) | (a & a.dtype.type(1) == 1), b, ~a
    ),
}
FLOATING = {
    "({a} + {b})": np.add,
    "({a} - {b})": np.subtract,
    "({a} * {b})": np.multiply,
    "({a} / {b})": np.divide,
    "(sqrt(fabs({a})) - {b})": lambda a, b: np.sqrt(np.abs(a)) - b,
    "floor({a} * {b})": lambda a, b: np.floor(a * b),
    "(rint({a}) + {b})": lambda a, b: np.rint(a) + b,
    "copysign({a}, isnan({b}) ? 1 : {b})": lambda a, b: np.copysign(a, np.where(np.isnan(b), 1, b)),
    "({a} < {b} ? {a} : {b})": lambda a, b: np.where(a < b, a, b),
    "(!({a} > {b}) ? -{a} : {b})": lambda a, b: np.where(~(a > b), -a, b),
    "(isnan({a}) || {a} != {b} ? {b} : {a})": lambda a, b: np.where(np.isnan(a) | (a != b), b, a),
}


def to_integer(values, kind):
    """C's conversion is undefined past the range, so both sides clamp first."""
    return np.trunc(np.clip(np.nan_to_num(values, nan=0, posinf=1000, neginf=0), 0, 1000)).astype(kind)


class Trees:
    """Random trees: each is (its text, its values) over the inputs."""

    def __init__(self, seed, inputs):
        self.random = np.random.default_rng(seed)
        self.inputs = inputs

    def choose(self, items):
        return list(items)[int(self.random.integers(0, len(items)))]

    def tree(self, kind, depth):
        if depth == 0 or self.random.random() < 0.1:
            return self.leaf(kind)
        if self.random.random() < 0.25:
            return self.converted(kind, self.tree(self.choose(WIDE), depth - 1))
        table = FLOATING if kind in ("float", "double") else INTEGER
        text = self.choose(table)
        (a, x), (b, y) = self.tree(kind, depth - 1), self.tree(kind, depth - 1)
        return text.format(a=a, b=b), table[text](x, y).astype(TYPES[kind])

    def leaf(self, kind):
        name = self.choose(LEAVES)
        return self.converted(kind, (f"v{LEAVES.index(name)}", self.inputs[LEAVES.index(name)]))

    def converted(self, kind, tree):
        text, values = tree
        if values.dtype.kind == "f" and TYPES[kind]().dtype.kind != "f":
            suffix = "f" if values.dtype == np.float32 else ""
            clamped = f"fmin{suffix}(fmax{suffix}({text}, 0), 1000)"
            return f"({kind})(isnan({text}) ? 0 : {clamped})", to_integer(values, TYPES[kind])
        narrow = self.choose(["", "", "unsigned char", "short", "unsigned"])
        if narrow and values.dtype.kind != "f":
            text, values = f"({narrow})({text})", values.astype(TYPES[narrow])
        return f"({kind})({text})", values.astype(TYPES[kind])


def inputs():
    random = np.random.default_rng(11)
    found = []
    for name in LEAVES:
        kind = np.dtype(TYPES[name])
        if kind.kind == "f":
            values = random.normal(size=N) * 10.0 ** random.integers(-3, 4, N)
            values[:8] = [0, -0.0, 1, -1, 0.5, -2.5, 1e6, 3]
        else:
            values = random.integers(np.iinfo(kind).min, np.iinfo(kind).max, N, kind, endpoint=True)
            values >>= random.integers(0, 8 * kind.itemsize, N).astype(kind)
            values[:4] = [0, 1, np.iinfo(kind).max, np.iinfo(kind).min]
        found.append(values.astype(kind))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_random_expressions_give_what_numpy_gives(device, seed):
    arrays = inputs()
    trees = Trees(seed, arrays)
    kinds = [WIDE[k % len(WIDE)] for k in range(TREES)]
    with np.errstate(all="ignore"):
        made = [trees.tree(kind, DEPTH) for kind in kinds]
    parameters = ", ".join(f"const {name}* p{k}" for k, name in enumerate(LEAVES))
    loads = "".join(f"    {name} v{k} = p{k}[i];\n" for k, name in enumerate(LEAVES))
    stores = "".join(
        f"    {{ {kind} r = {text}; memcpy(&out[{k} * {N} + i], &r, sizeof r); }}\n"
        for k, (kind, (text, _)) in enumerate(zip(kinds, made, strict=True))
    )
    source = (
        f'extern "C" __global__ void k({parameters}, unsigned long long* out) {{\n'
        f"    int i = blockIdx.x * blockDim.x + threadIdx.x;\n{loads}{stores}}}\n"
    )
    options = cg.ProgramOptions(fma=False, disable_warnings=True)
    kernel = cg.Program(source, code_type="c++", options=options).compile("cubin").get_kernel("k")
    config = cg.LaunchConfig(grid=4, block=N // 4)
    *_, out = Bench(device).run(config, kernel, [*arrays, np.zeros((TREES, N), np.uint64)])
    for (text, expected), found in zip(made, out, strict=True):
        values = found.view(expected.dtype)[:: 8 // expected.itemsize]
        np.testing.assert_array_equal(values, expected, err_msg=text)
        number = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(values[number]), np.signbit(expected[number]), err_msg=text)
