# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Known mistakes of implementations of reverse mode, with a test of each, here or where the table says. The table also
lists the files that test each category and group of programs."""

import ast
import functools
from pathlib import Path

import numpy as np
import pytest

from tests.autodiff.compiler.gradient_rig import check, floats, gradients, ints, zeros
from tests.compiler.rig import Grad, cg

f32, f64, i32 = cg.f32, cg.f64, cg.i32
ndarray = cg.types.ndarray
ONE = {"y": 1.0}
HERE = Path(__file__)
KNOWN = "calls/test_known_gradients.py"  # K1 to K18
GRADIENTS, CATEGORIES = "test_reverse_mode.py", "test_categories.py"
REFUSALS, OPERATIONS = "test_refusals.py", "test_operations.py"
CALLS, CAPACITIES = "calls/test_reverse_mode.py", "test_stack_capacities.py"

# Mistake -> the file and a part of the name of a test that tells it from what is right.
DEFECTS = {
    "tan, tanh, exp read the result of the last iteration": (HERE.name, "operations_of_a_carried_value"),
    "rsqrt is not among what needs its operand": (HERE.name, "operations_of_a_carried_value"),
    "an adjoint has its place inside of a branch": (HERE.name, "a_value_of_before_is_used_in_a_branch"),
    "what comes after a loop is differentiated in it": (HERE.name, "statement_after_a_loop_counts_once"),
    "a condition is asked again after its body": (GRADIENTS, "a_condition_is_not_asked_again"),
    "sibling loops keep their order": (CATEGORIES, "test_22"),
    "an inner bound that is an outer index is not kept": (CATEGORIES, "test_23"),
    "a zero of the user is taken for the first value": (GRADIENTS, "a_zero_that_the_user_writes"),
    "a load of what the kernel writes is repeated": (
        REFUSALS,
        "programs_without_a_right_gradient_are_refused",
    ),
    "the top of a stack is read past later pushes": (CATEGORIES, "test_07"),
    "a vector that a loop carries has one place": (CATEGORIES, "test_43"),
    "components lose the size of their vector's stack": (CATEGORIES, "test_43"),
    "sizes are read in one branch and used in another": (CATEGORIES, "test_45"),
    "memory of two bytes is taken to be aligned to eight": (CATEGORIES, "test_37"),
    "an index of two dimensions has no stride": (KNOWN, "K18"),
    "an extent of 32 bits is read as 64": (HERE.name, "extents_lie_side_by_side"),
    "stacks of two types share their offsets": (CATEGORIES, "test_14"),
    "tasks of one launch share their sizes": (CATEGORIES, "test_36"),
    "more threads run than stacks have rows": (HERE.name, "more_iterations_than_rows"),
}

# Number of a category -> the same.
WHERE = {
    1: (OPERATIONS, "test_01"),
    2: ("calls/test_forward_mode.py", "test_"),
    3: ("test_derivatives.py", "test_every_row_says"),
    4: ("test_derivatives.py", "test_edges"),
    6: (GRADIENTS, "a_zero_that_the_user_writes"),
    8: (REFUSALS, "read_then_written_by_the_next_loop"),
    10: (REFUSALS, "PATTERNS"),
    17: (CALLS, "a_stack_without_room_is_an_error"),
    25: (CAPACITIES, "loops_in_loops_multiply_and_statements_add"),
    28: (CALLS, "validation_names_what_a_later_call_has_overwritten"),
    31: (CALLS, "rooms_of_what_is_in_arrays_are_counted"),
    32: (KNOWN, "K18"),
    40: (HERE.name, "more_iterations_than_rows"),
    44: (KNOWN, "K17"),
} | {
    number: (CATEGORIES, f"test_{number:02}")
    for number in (5, 7, 9, 11, 12, 13, 14, 15, 16, 19, 20, 21, 22, 23, 24, 26, 27, 30, 34, 35, 36, 37, 38, 39, 43, 45)
}  # fmt: skip
WHERE |= {18: (CATEGORIES, "test_13_18"), 29: (CATEGORIES, "_29_"), 33: (CATEGORIES, "_33_")}
OF_CALLS = {41, 42}  # tests of the sizer: ../calls

# Group -> the same.
TAPES, FORWARD = "calls/test_tapes.py", "calls/test_forward_mode.py"
GROUPS = {
    "basics": (OPERATIONS, "test_basics"),
    "basics, f32 and f64 mixed": (OPERATIONS, "floats_of_two_widths"),
    "basics, a store that is forwarded": (OPERATIONS, "a_store_that_is_loaded_again"),
    "basics, random numbers": (REFUSALS, "drawn"),
    "basics, forward": (FORWARD, "a_call_computes_what_it_did"),
    "for": (GRADIENTS, "inner_loops_of_several_axes"),
    "for, an index that is carried": (GRADIENTS, "an_index_that_a_loop_carries"),
    "for, siblings": (CATEGORIES, "test_22"),
    "for, if, atomics, forward": (FORWARD, "all_control_flow_has_derivatives"),
    "if": (OPERATIONS, "branches_in_branches"),
    "while": (GRADIENTS, "while_in_while"),
    "arrays": (CALLS, "a_parameter_may_let_no_gradient_through"),
    "arrays, vectors": (CALLS, "f32_and_vectors"),
    "arrays, several tapes": (CALLS, "a_tape_goes_back_through_calls"),
    "tensors of PyTorch": ("calls/test_torch_gradients.py", "a_tape_goes_through_tensors"),
    "dataclasses": (TAPES, "arrays_in_dataclasses"),
    "misc, a polar decomposition": (OPERATIONS, "a_polar_decomposition"),
    "misc, a chain through one array": (GRADIENTS, "the_gradient_of_what_was_stored_is_taken"),
    "misc, gradients of one's own": (CALLS, "functions_with_a_gradient_of_their_own"),
    "misc, stop_grad": ("calls/test_stopped_gradients.py", "a_stopped_number_is_a_constant"),
    "misc, no_grad": (CALLS, "functions_without_a_gradient"),
    "misc, streams": (CALLS, "streams_have_stacks_of_their_own"),
    "what is overwritten between calls": (CALLS, "validation_names_what_a_later_call"),
    "grad_check": ("calls/test_grad_check.py", "right_gradients_pass_the_check"),
}


@pytest.mark.parametrize("what", [*DEFECTS, *WHERE, *GROUPS], ids=str)
def test_the_table_names_a_test(what):
    file, part = (DEFECTS | WHERE | GROUPS)[what]
    path = HERE.parents[1] / file if "/" in file else HERE.with_name(file)
    assert [name for name in names_of_tests(path) if part in name]


@functools.cache
def names_of_tests(path):
    """The names of the tests of a file, and of the cases in the tables that parametrize them, but not in this table."""
    body = ast.parse(path.read_text()).body
    tests = [
        each
        for each in body
        if isinstance(each, ast.FunctionDef)
        and each.name.startswith("test_")
        and each.name != test_the_table_names_a_test.__name__
    ]
    names = [test.name for test in tests]
    mentioned = {word for test in tests for decorator in test.decorator_list for word in words_of(decorator)}
    for each in body:
        if isinstance(each, (ast.Assign, ast.AnnAssign)) and mentioned & set(words_of(each)):
            names += words_of(each)
    return [*names, *mentioned]


def words_of(tree):
    """The names and strings of a piece of syntax."""
    parts = [
        part.id if isinstance(part, ast.Name) else getattr(part, "value", None) for part in ast.walk(tree)
    ]
    return [part for part in parts if isinstance(part, str)]


def test_each_category_has_one():
    assert set(WHERE) | OF_CALLS == set(range(1, 46))


def carried(x: ndarray(f64, 1), n: i32, y: ndarray(f64, 1)):
    for i in x:
        a = x[i]
        b = x[i]
        c = x[i]
        d = x[i]
        for _ in range(n):
            a = cg.tan(a) * 0.7
            b = cg.tanh(b) * 1.2
            c = cg.exp(c) * 0.3
            d = cg.rsqrt(d + 0.5)
        y[i] = a + 2.0 * b + 3.0 * c + 4.0 * d


def test_operations_of_a_carried_value_have_the_operand_of_their_iteration():
    check(carried, {"y": 1.0}, "x", x=floats(0.3, 0.7, 0.4), n=4, y=zeros(3))


def used_in_branches(x: ndarray(f64, 1), k: ndarray(i32, 1), n: i32, y: ndarray(f64, 0)):
    for i in x:
        w = x[i] * x[i]
        s = f64(0.0)
        for j in range(n):
            z = w * x[j]
            if k[j] > 0:
                s += z * w
            elif k[j] < 0:
                s -= z * x[i]
        y[()] += s


def test_a_value_of_before_is_used_in_a_branch():
    check(used_in_branches, ONE, "x", x=floats(0.3, 0.7, 1.1), k=ints(1, -1, 0), n=3, y=zeros())


def after_the_loop(x: ndarray(f64, 1), n: i32, y: ndarray(f64, 0)):
    for i in x:
        v = x[i]
        for _ in range(n):
            v = v + 1.0
        y[()] += 3.0 * v


def test_statement_after_a_loop_counts_once():
    found = gradients(after_the_loop, ONE, x=floats(0.3, 0.7), n=7, y=zeros())
    np.testing.assert_array_equal(found["x"], 3)


def extents(x: ndarray(f64, 3), y: ndarray(f64, 0)):
    for i in range(x.shape[0]):
        v = x[i, 0, 0]
        for j in range(x.shape[1]):
            for k in range(x.shape[2]):
                v = v * x[i, j, k] + 0.2
        y[()] += v


def test_extents_lie_side_by_side():
    check(extents, ONE, "x", x=Grad(np.linspace(0.3, 1.2, 12).reshape(2, 3, 2)), y=zeros())


def test_more_iterations_than_rows(device):
    """65700 threads in blocks of 192, and at most 65536 rows of stacks; on the device as users call it."""
    import cuda_graphs as of_users

    @of_users.kernel
    def powers(
        x: of_users.types.ndarray(of_users.f64, 1),
        n: of_users.i32,
        y: of_users.types.ndarray(of_users.f64, 0),
    ):
        of_users.loop_config(block_dim=192)
        for i in x:
            v = of_users.f64(1.0)
            for _ in range(n):
                v = v * x[i]
            y[()] += v

    values = np.linspace(0.5, 1.1, 65_700)
    x = of_users.ndarray(of_users.f64, values.shape, needs_grad=True)
    y = of_users.ndarray(of_users.f64, (), needs_grad=True)
    x.from_numpy(values)
    y.grad.fill(1)
    powers.grad(x, 6, y)
    np.testing.assert_allclose(x.grad.to_numpy(), 6 * values**5, rtol=1e-12)
