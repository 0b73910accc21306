# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: what kernels say and ask at run time, text, asserts, bounds, random numbers, is the same on every target."""

import subprocess
import sys

import numpy as np
import pytest

from cuda_graphs.compiler.ir.interpreter import AssertionFailed
from tests.compiler.rig import SEED, TARGETS, cg, execute, flattened, lower, printed, run_all, specialise


def speak(n: cg.i32, x: cg.f32, big: cg.u64, yes: cg.bool_):
    print("n is", n, sep=" = ", end="!\n")
    print(f"{x:8.3f}|{x:e}|{n:+d}|{big:x}|{yes}|100%", big)
    print(cg.vec3(1.0, 2.5, x), cg.cast(n, cg.i8))
    print(cg.vector([[1, n], [3, 4]]))


def test_print_writes_what_python_would():
    run_all(speak, n=-7, x=0.5, big=2**64 - 1, yes=True)
    wanted = "n is = -7!\n   0.500|5.000000e-01|-7|ffffffffffffffff|True|100% 18446744073709551615\n[1, 2.5, 0.5] -7\n"
    wanted += "[[1, -7], [3, 4]]\n"
    assert printed == dict.fromkeys(TARGETS, wanted)


def draws(out: cg.ndarray(cg.f32, 2), more: cg.ndarray(cg.f64, 1), whole: cg.ndarray(cg.u32, 1)):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = cg.random(cg.f32)
    for i in range(more.shape[0]):
        if i % 2 == 0:
            more[i] = cg.random(cg.f64)
        more[i] += cg.random(cg.f64)
    for i in range(whole.shape[0]):
        whole[i] = cg.random(cg.u32)
    whole[0] = cg.random(cg.u32)
    whole[1] = cg.random(cg.u32)


def philox(counter, key):
    """Philox4x32-10, from the paper."""
    for _ in range(10):
        a, b = counter[0] * 0xD2511F53, counter[2] * 0xCD9E8D57
        counter = [
            (b >> 32) ^ counter[1] ^ key[0],
            b & 0xFFFFFFFF,
            (a >> 32) ^ counter[3] ^ key[1],
            a & 0xFFFFFFFF,
        ]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return counter


def test_philox_gives_the_known_answers():
    """The expected words are from the table of known answers of the Random123 library."""
    ones = 0xFFFFFFFF
    assert philox([0] * 4, [0] * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert philox([ones] * 4, [ones] * 2) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


def test_random_numbers_are_those_of_philox():
    found = run_all(draws, out=np.zeros((50, 4), "f"), more=np.zeros(50), whole=np.zeros(9, "u4"))
    key = [SEED & 0xFFFFFFFF, SEED >> 32]
    for (i, j), value in np.ndenumerate(found["out"]):
        assert value == (philox([j, 1, i, 0], key)[0] >> 8) * 2.0**-24
    words = [philox([n, 0, 0, 0], key)[0] for n in range(2)]
    assert found["whole"].tolist() == words + [philox([0, 3, i, 0], key)[0] for i in range(2, 9)]
    first = philox([0, 2, 1, 0], key)
    assert found["more"][1] == ((first[1] << 32 | first[0]) >> 11) * 2.0**-53
    assert len(set(found["out"].ravel().tolist())) == found["out"].size
    assert 0.4 < found["out"].mean() < 0.6


def claims(x: cg.ndarray(cg.i32, 1), n: cg.i32):
    for i in range(n):
        assert x[i] < 5, f"x is {x[i]} at {i}"
        x[i] += 1


def test_asserts_are_for_debug_only():
    found = run_all(claims, x=np.array([1, 9, 3], "i4"), n=3)
    assert found["x"].tolist() == [2, 10, 4]


def failing(function, target, **arguments):
    """Run with debug: the error, of the interpreter; other targets end their process."""
    flat = {path: value for name, given in arguments.items() for path, value in flattened(name, given)}
    program, _ = lower(function, specialise(function, arguments), debug=True, verify_ir=True)
    return execute(target, program, flat)


def test_an_assert_that_fails_says_so_on_the_interpreter():
    with pytest.raises(AssertionFailed, match="x is 9 at 1"):
        failing(claims, "interpreter", x=np.array([1, 9, 3], "i4"), n=3)


def test_an_index_outside_is_named_on_the_interpreter():
    with pytest.raises(AssertionFailed, match="index 3 is outside of axis 0 of 'x', which has 3 elements"):
        failing(claims, "interpreter", x=np.zeros(3, "i4"), n=4)


CHILD = """
import os, sys
import numpy as np
from tests.compiler import rig, test_runtime
class Loud(rig.Services):
    def vprintf(self, form, values):
        count = super().vprintf(form, values)
        os.write(2, self.printed[-1].encode())
        return count
rig.Services = Loud
test_runtime.failing(test_runtime.claims, sys.argv[1], x=np.zeros(3, "i4"), n=4)
"""


def test_an_index_outside_ends_a_kernel_and_is_named_with_its_line():
    runs = {
        target: subprocess.Popen([sys.executable, "-c", CHILD, target], stderr=subprocess.PIPE, text=True)
        for target in TARGETS[1:]
    }
    line = claims.__code__.co_firstlineno + 2
    for target, process in runs.items():
        text = process.communicate(timeout=60)[1]
        assert process.returncode == 43, (target, text)
        assert "index 3 is outside of axis 0 of 'x', which has 3 elements" in text, target
        assert f"test_runtime.py:{line}" in text, target
        assert "in claims" in text, target
