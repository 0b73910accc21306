# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws: random programs (programs/) give the same on the interpreter, as x86 code, as PTX, and on a GPU if the machine
has one; and no pass changes their results.

The suite runs a few, always the same ones; `make nightly` many, and others each time.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from cuda_graphs.compiler.frontend.translate import translate
from cuda_graphs.compiler.ir.interpreter import interpret
from cuda_graphs.compiler.ir.verifier import verify
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.pipeline import DEBUG, PASSES
from tests.compiler.programs import ARRAYS, COLUMNS, FIELD, ROWS, SIZE, Inner, Settings, arguments, programs
from tests.compiler.rig import SEED, Field, compare, flattened, function_of, lower, same

# To shrink a failing program takes longer than the time limit of a test, so the suite shows it as it was drawn.
FEW = settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
MANY = settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))


def the_program(source, scalars):
    """(function, fields, arguments)."""
    table = Field(np.arange(ROWS * COLUMNS, dtype="i4").reshape(ROWS, COLUMNS) - 5, FIELD)
    function = function_of(source, N=3, Settings=Settings, Inner=Inner, **{FIELD: table})
    given = dict(scalars)
    for name, (type, dims) in ARRAYS.items():
        shape = (SIZE,) if dims == 1 else (ROWS, COLUMNS)
        start = np.arange(np.prod(shape)).reshape(shape) - (0 if type.kind == "uint" else 3)
        given[name] = (start * 0.75 if type.kind == "float" else start * 37).astype(type.dtype)
    given["st"] = Settings(0.1, Inner(-7, (0.5, -2.0, 1e-3)), np.arange(SIZE, dtype="i8") ** 7)
    return function, [table], given


def flat_of(fields, given):
    flat = {"random.seed": SEED} | {p: v for name, value in given.items() for p, v in flattened(name, value)}
    return flat | {each.name: each.data for each in fields}


def targets_agree(source, scalars, debug):
    function, fields, given = the_program(source, scalars)
    program, _ = lower(
        function, specialise(function, given), debug=debug, verify_ir=True, finds_overflow=False
    )
    compare(program, flat_of(fields, given))


def passes_keep_the_meaning(source, scalars, debug):
    function, fields, given = the_program(source, scalars)
    flat = flat_of(fields, given)
    found, _ = translate(function, specialise(function, given))
    wanted = None
    for step, _ in ((lambda kernel: kernel, ""), DEBUG[debug], *PASSES):
        found = step(found)
        verify(found)
        arrays = {path: value.copy() for path, value in flat.items() if isinstance(value, np.ndarray)}
        outcome = interpret(found, arrays, flat), arrays
        wanted = wanted or outcome
        name = getattr(step, "__name__", "frontend")
        same(np.array(outcome[0]), np.array(wanted[0]), True, f"what is returned, after {name}")
        for path, array in wanted[1].items():
            same(outcome[1][path], array, True, f"{path} after {name}")


@pytest.mark.filterwarnings("ignore:.*the conversion can lose:cuda_graphs.CompileWarning")
@FEW
@given(programs(), arguments, st.booleans())
def test_random_programs_mean_the_same_everywhere(source, scalars, debug):
    targets_agree(source, scalars, debug)


@pytest.mark.filterwarnings("ignore:.*the conversion can lose:cuda_graphs.CompileWarning")
@FEW
@given(programs(), arguments, st.booleans())
def test_no_pass_changes_what_a_random_program_means(source, scalars, debug):
    passes_keep_the_meaning(source, scalars, debug)


@pytest.mark.nightly
@pytest.mark.timeout(7200)
@MANY
@given(programs(), arguments, st.booleans())
def test_many_random_programs_mean_the_same_everywhere(source, scalars, debug):
    passes_keep_the_meaning(source, scalars, debug)
    targets_agree(source, scalars, debug)
