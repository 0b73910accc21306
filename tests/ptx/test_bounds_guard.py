# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a kernel with a guard at its beginning runs each thread inside the guard once, and no others, for every form of
the guard and also if i wraps. Instrumented code keeps the guard, because it asks every thread."""

import numpy as np
import pytest

from cuda_graphs.hostdriver.ptx.analysis import bounds_guard
from cuda_graphs.hostdriver.ptx.lowering.instrumentation import Wants
from cuda_graphs.hostdriver.ptx.module_lowering import ModuleLowering
from cuda_graphs.hostdriver.ptx.units import parse
from tests.ptx.rig import HEADER, compile_cuda, load

# The guard as C++, and as a function of i, j and n, which are ints that wrap.
GUARDS = {
    "i >= n": lambda i, j, n: i >= n,
    "!(i < n)": lambda i, j, n: i >= n,
    "n <= i": lambda i, j, n: i >= n,
    "i > n": lambda i, j, n: i > n,
    "i < n": lambda i, j, n: i < n,
    "i < 3 || i >= n": lambda i, j, n: (i < 3) | (i >= n),
    "j >= 2 || i >= n": lambda i, j, n: (j >= 2) | (i >= n),
    "(unsigned)i >= (unsigned)n": lambda i, j, n: i.view(np.uint32) >= np.uint32(n & 0xFFFFFFFF),
    "(unsigned)(i - 3) >= (unsigned)n": lambda i, j, n: (i - 3).view(np.uint32) >= np.uint32(n & 0xFFFFFFFF),
}
SOURCE = """
extern "C" __global__ void k(int base, int n, int* out) {{
    int i = (int)((unsigned)base + blockIdx.x * blockDim.x + threadIdx.x), j = threadIdx.y;
    if ({guard}) return;
    out[(blockIdx.x * blockDim.y + j) * blockDim.x + threadIdx.x] += 1;
}}
"""
LARGEST = (1 << 31) - 1
PLACES = [  # base, n
    *((0, n) for n in (-1, 0, 1, 2, 5, 63, 64, 65, 127, 128, 1000)),
    *((-20, n) for n in (-15, 0, 40)),
    *((LARGEST - 20, n) for n in (LARGEST, LARGEST - 30, 5, -LARGEST)),
    *((-10, n) for n in (3, -3)),
]
BLOCKS, WIDE, HIGH = 2, 64, 3


def is_found(text: str) -> bool:
    (kernel,) = (function for function in parse(text).functions.values() if function.is_entry)
    return bounds_guard.find(kernel) is not None


@pytest.mark.parametrize("guard", GUARDS)
def test_the_threads_that_are_inside_run_once_and_no_others(guard):
    text = compile_cuda(SOURCE.format(guard=guard))
    program = load(text)
    assert is_found(text)
    number = np.arange(BLOCKS * HIGH * WIDE, dtype=np.int64)
    block, y, x = number // (HIGH * WIDE), number // WIDE % HIGH, number % WIDE
    for base, n in PLACES:
        out = np.zeros(len(number), np.int32)
        program.launch("k", BLOCKS, (WIDE, HIGH), np.int32(base), np.int32(n), out)
        i = (base + block * WIDE + x).astype(np.uint32).view(np.int32)
        outside = GUARDS[guard](i, y, n)
        np.testing.assert_array_equal(out, ~outside, err_msg=f"{guard} with base {base}, n {n}")


KERNEL = """
.visible .entry k(.param .u32 n, .param .u64 out)
{{
  .reg .pred %p, %q; .reg .u32 %n, %i, %j; .reg .u64 %out, %at;
  ld.param.u32 %n, [n];
  {guard}
  ld.param.u64 %out, [out];
  mov.u32 %j, %tid.x;
  mul.wide.u32 %at, %j, 4;
  add.u64 %out, %out, %at;
  st.global.u32 [%out], 1;
END:
  {end}
}}
"""
FOUND = "mov.u32 %i, %tid.x; setp.ge.u32 %p, %i, %n; @%p bra END;"
OTHERS = {
    "another register": "mov.u32 %i, %laneid; setp.ge.u32 %p, %i, %n; @%p bra END;",
    "multiplied": "mov.u32 %j, %tid.x; mul.lo.u32 %i, %j, 3; setp.ge.u32 %p, %i, %n; @%p bra END;",
    "not an interval": "mov.u32 %i, %tid.x; setp.eq.u32 %p, %i, %n; @%p bra END;",
    "the same for all": "mov.u32 %i, %ctaid.x; setp.ge.u32 %p, %i, %n; @%p bra END;",
    "two of which both are needed": "mov.u32 %i, %tid.x; setp.ge.u32 %p, %i, %n; setp.ge.u32 %q, %i, 2;"
    " and.pred %p, %p, %q; @%p bra END;",
    "in another sign": "mov.u32 %i, %tid.x; setp.ge.u32 %p, %i, %n; setp.lt.s32 %q, %i, 2;"
    " or.pred %p, %p, %q; @%p bra END;",
    "after memory": "mov.u32 %i, %tid.x; ld.global.u32 %j, [0]; setp.ge.u32 %p, %i, %n; @%p bra END;",
    "under a condition": "mov.u32 %i, %tid.x; setp.ge.u32 %p, %i, %n; @%p mov.u32 %i, 0; @%p bra END;",
    "of a register that changes": "mov.u32 %i, %tid.x; mov.u32 %i, %laneid; setp.ge.u32 %p, %i, %n; @%p bra END;",
}


def test_a_guard_is_found():
    assert is_found(HEADER + KERNEL.format(guard=FOUND, end="ret;"))


@pytest.mark.parametrize("other", OTHERS)
def test_condition_that_is_no_interval_of_threads_is_no_guard(other):
    assert not is_found(HEADER + KERNEL.format(guard=OTHERS[other], end="ret;"))


def test_a_branch_to_what_still_does_something_is_no_guard():
    text = HEADER + KERNEL.format(guard=FOUND, end="st.global.u32 [%out], 2;\n  ret;")
    assert not is_found(text)
    assert not is_found(text.replace("END:\n", "{ END: ret; }\nEND:\n"))  # of an inner scope


def test_guard_stays_in_code_with_ordered_threads_or_reported_accesses():
    text = HEADER + KERNEL.format(guard=FOUND, end="ret;")
    assert "@bounds.next" in ModuleLowering(parse(text)).lower().ir
    for wants in (Wants(order=True), Wants(accesses=True)):
        assert "@bounds.next" not in ModuleLowering(parse(text), wants).lower().ir
