# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: loops that read elements at remainders of their index have the bits of the interpreter, as PTX on a CPU too.

LLVM 22.1 makes vectors of these loops with masks. With AVX-512 DQ some of the masks were not defined.
"""

import numpy as np
import pytest

from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.pipeline import lower
from tests.compiler.rig import function_of, on_ptx, on_x86, run_all

SIZE = 37
VALUES = (
    "e[(i + 38) % n] + (a[i] - a[(i + 36) % n])",
    "e[(i + 38) % n] + ((a[i] - a[(i + 36) % n]) - (a[min(i + 1, 36)] + i))",
    "e[(i + 38) % n] + ((a[i] - a[(i + 36) % n]) - (a[max(min(i + 1, 36), 0)] + i))",
    "e[(i + 37) % n] * a[(i + 1) % n]",
)


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("machine", [on_ptx, on_x86], ids=lambda machine: machine.__name__)
def test_remainders_of_an_index_select_the_elements_that_they_name(value, machine):
    kernel = function_of(
        "def k(a: ndarray(f32, 1), e: ndarray(f64, 1), b: ndarray(f32, 1), size: i32):\n"
        f"    n = a.shape[0]\n    for i in range(size):\n        b[i] = cg.cast({value}, cg.f32)\n"
    )
    numbers = np.random.default_rng(11).standard_normal((2, SIZE))
    given = {"a": numbers[0].astype("f4"), "e": numbers[1], "b": np.zeros(SIZE, "f4"), "size": SIZE}
    wanted = run_all(kernel, **given)["b"]
    program, _ = lower(kernel, specialise(kernel, given))
    arrays = {name: each.copy() for name, each in given.items() if isinstance(each, np.ndarray)}
    machine(program, arrays, given)
    np.testing.assert_array_equal(arrays["b"], wanted)
