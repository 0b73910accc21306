# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: CUDA_GRAPHS_HOST_MATH=fast keeps approximate quotients and roots within stated bounds of the exact value.
Without it they have the bits of a GPU (tests/conformance/test_interpolator.py), whatever was translated before."""

import os
import subprocess
import sys

import numpy as np
import pytest

from cuda_graphs.hostdriver.ptx.lowering.instrumentation import FAST
from tests.ptx import rig

HEAD = ".version 8.0 .target sm_90 .address_size 64\n"
COUNT = 1 << 16
BLOCK = 128
# Instruction -> the exact function, and the bound in units in the last place.
BOUNDS = {
    "rcp.approx.f32": (lambda x: 1 / x, 0.5),
    "sqrt.approx.f32": (np.sqrt, 0.5),
    "rsqrt.approx.f32": (lambda x: 1 / np.sqrt(x), 2),
}
ALL = {name.replace(".f32", f"{ftz}.f32"): of for name, of in BOUNDS.items() for ftz in ("", ".ftz")}


def kernel(opcode):
    """x[i] = this of x[i]"""
    return f"""{HEAD}.visible .entry run(.param .u64 x) {{
  .reg .u64 %p, %at; .reg .u32 %i, %n, %block; .reg .f32 %v;
  mov.u32 %i, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %block, %ctaid.x; mad.lo.u32 %i, %block, %n, %i;
  mul.wide.u32 %at, %i, 4; ld.param.u64 %p, [x]; add.u64 %p, %p, %at;
  ld.global.f32 %v, [%p]; {opcode} %v, %v; st.global.f32 [%p], %v; ret;
}}"""


def run(opcode, values, wants):
    out = np.concatenate([values, np.ones(-len(values) % BLOCK, "f4")])
    rig.load(kernel(opcode), rig.Services(wants)).launch("run", len(out) // BLOCK, BLOCK, out)
    return out[: len(values)]


def normal_numbers():
    """Normal numbers whose quotients and roots are normal."""
    words = np.random.default_rng(3).integers(0x00800000, 0x7E800000, COUNT, dtype="u4")
    return words.view("f4")


@pytest.mark.parametrize("opcode", ALL)
def test_error_is_within_the_bound(opcode):
    exact, bound = ALL[opcode]
    values = normal_numbers()
    found, wanted = run(opcode, values, FAST).astype("f8"), exact(values.astype("f8"))
    unit = np.spacing(np.abs(wanted).astype("f4")).astype("f8")
    assert (np.abs(found - wanted) / unit).max() <= bound * (1 + 1e-6)


@pytest.mark.parametrize("opcode", ALL)
def test_special_values_are_those_of_a_gpu(opcode):
    values = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, 1.0, 4.0], "f4")
    np.testing.assert_array_equal(run(opcode, values, FAST), run(opcode, values, 0))


@pytest.mark.parametrize("opcode", ALL)
def test_other_code_of_the_same_text_keeps_the_bits_of_a_gpu(opcode):
    values = normal_numbers()
    before, fast, after = (run(opcode, values, wants) for wants in (0, FAST, 0))
    np.testing.assert_array_equal(before, after)
    assert (before != fast).any()


@pytest.mark.parametrize("opcode", ["ex2.approx.f32", "lg2.approx.f32", "sin.approx.f32", "tanh.approx.f32"])
def test_functions_that_the_cpu_has_not_keep_the_bits_of_a_gpu(opcode):
    values = normal_numbers()
    np.testing.assert_array_equal(run(opcode, values, FAST), run(opcode, values, 0))


SCRIPT = """
import sys
import numpy as np
import cuda_graphs as cg
device = cg.Device()
device.set_current()
kernel = cg.ObjectCode.from_ptx(sys.stdin.buffer.read()).get_kernel("run")
x = cg.array(np.arange(1, 129, dtype="f4"))
stream = device.create_stream()
cg.launch(stream, cg.LaunchConfig(grid=1, block=128), kernel, x)
stream.sync()
print(x.to_numpy().tobytes().hex())
"""


@pytest.mark.parametrize(("value", "wants"), [("", 0), ("exact", 0), ("fast", FAST)])
def test_variable_chooses(value, wants):
    environment = {**os.environ, "CUDA_GRAPHS_DRIVER": "host", "CUDA_GRAPHS_HOST_MATH": value}
    command, ptx = [sys.executable, "-c", SCRIPT], kernel("rsqrt.approx.f32").encode()
    done = subprocess.run(command, env=environment, input=ptx, capture_output=True, timeout=120, check=False)
    wanted = run("rsqrt.approx.f32", np.arange(1, 129, dtype="f4"), wants).tobytes().hex()
    assert (done.stdout.decode().strip(), done.stderr.decode()) == (wanted, "")
