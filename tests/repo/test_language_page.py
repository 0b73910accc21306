# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the language reference lists what the frontend has, and the frontend does what it says."""

import pytest

import cuda_graphs as cg
from cuda_graphs.compiler import errors
from cuda_graphs.compiler.frontend import syntax
from cuda_graphs.compiler.frontend.calls import calls
from cuda_graphs.compiler.frontend.expressions import linear
from cuda_graphs.compiler.frontend.frame import remedies
from cuda_graphs.compiler.ir.collectives import COLLECTIVES
from cuda_graphs.compiler.ir.ops import OPS
from cuda_graphs.compiler.ir.types import NUMPY
from cuda_graphs.compiler.language import decompositions, intrinsics, library, quaternions
from cuda_graphs.compiler.pipeline import lower
from docs import language_page as page
from docs import language_rows as rows

EXAMPLES = [
    *(
        example
        for example, _ in (
            *rows.STATEMENTS.values(),
            *rows.EXPRESSIONS.values(),
            *rows.LOOPS,
            *rows.STRUCTURES,
            *rows.CALLED,
        )
    ),
    *rows.CALLS.values(),
    *rows.GRAPH_FLOW.values(),
    *rows.VECTORS.values(),
    *rows.DECOMPOSITIONS.values(),
    *rows.QUATERNIONS.values(),
    *(f"t = {expression}" for expression in rows.VALUES),
    *map(page.library_example, library.__all__),
    *map(page.atomic_example, intrinsics.ATOMICS.values()),
    *map(page.method_example, linear.METHODS),
    *map(page.in_blocks, rows.BLOCKS.values()),
]
# Syntax that Python refuses in a top-level def that is not async; and async def.
NEVER_SEEN = {"Nonlocal", "AsyncFor", "AsyncWith", "AsyncFunctionDef", "Await"}


def test_the_page_is_what_the_tables_say(tree):
    written = (tree.root / "docs/language.md").read_text()
    assert written == page.language_page(), "run: python -m docs.language_page"


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_of_the_page_is_compiled(example):
    lower(
        page.function(example, page.PARAMETERS, {}),
        dict(page.PARAMETERS),
        verify_ir=True,
        graph="conditional",
        checkpoints="cg.checkpoint" in example,
    )


@pytest.mark.parametrize("construct", rows.REFUSED)
def test_construct_that_is_not_in_kernels_is_refused_by_name(construct):
    with pytest.raises(errors.UnsupportedSyntaxError) as refused:
        page.translated(rows.REFUSED[construct])
    assert remedies.NAMES[construct] in str(refused.value)


def test_each_refused_construct_has_a_remedy():
    assert set(remedies.SYNTAX) == set(remedies.NAMES)


def test_every_construct_and_function_of_the_frontend_is_on_the_page():
    assert set(rows.STATEMENTS) == set(syntax.STATEMENTS)
    assert set(rows.EXPRESSIONS) == set(syntax.EXPRESSIONS)
    assert set(rows.REFUSED) == set(remedies.NAMES) - NEVER_SEEN
    assert set(rows.DECOMPOSITIONS) == set(decompositions.__all__)
    assert set(rows.QUATERNIONS) == set(quaternions.__all__)
    assert set(rows.VECTORS) == {function.__name__ for function in intrinsics.VECTORS}
    met = {getattr(getattr(cg, row.scope), name.partition(".")[2]) for name, row in COLLECTIVES.items()}
    listed = {
        *rows.CALLS,
        *rows.BLOCKS,
        *rows.GRAPH_FLOW,
        *met,
        *intrinsics.OPERATIONS,
        *intrinsics.ATOMICS,
        *intrinsics.VECTORS,
        *(getattr(decompositions, name) for name in rows.DECOMPOSITIONS),
        library.frexp,
    }
    callable_ = {*calls.BUILTINS, *calls.SPECIAL}
    of_python = {each for each in callable_ - listed if each.__module__ in ("math", "builtins", "types")}
    own = {intrinsics.keep_condition}  # of kernels of the library
    assert callable_ - listed == of_python | set(NUMPY) | own
    assert listed <= callable_
    names = {name for name in intrinsics.__all__ if name.islower()} - {"func"}
    assert names <= {each.__name__ for each in listed}


def test_every_operation_is_taken_by_the_frontend_for_some_types():
    for row in OPS.values():
        assert any(page.result_of(row, each) for each in page.SCALARS.values()), row.name


def test_every_collective_is_taken_by_the_frontend_for_the_kinds_of_its_row():
    for row in COLLECTIVES.values():
        for kind in ("int", "uint", "float", "bool"):
            truth = row.kinds == ("bool",) and kind != "float"  # an integer is a condition too
            assert (page.collective_gives(row, (kind,)) != "-") == (kind in row.kinds or truth), (
                row.name,
                kind,
            )


def test_refusals_of_the_tables_are_not_accepted_by_chance():
    assert page.result_of(OPS["sin"], cg.i32) is None
    assert page.result_of(OPS["sin"], cg.f64) == cg.f64
    assert page.result_of(OPS["bit_and"], cg.f32) is None
    assert page.result_of(OPS["less"], cg.i8) == cg.bool
    with pytest.raises(errors.CompileError):
        page.translated("t = undefined_name")
