# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a lambda that a kernel calls is the function that Python makes of it, wherever it stands in its line."""

import ast
import linecache

import pytest

import cuda_graphs.compiler.errors as errors
from cuda_graphs.compiler.frontend.source import Source

# Text that makes `f`, a function or a tuple of functions of one number.
TEXTS = {
    "alone": "f = lambda x: 3 * x + 1",
    "two in a line": "f = (lambda x: x + 1), (lambda x: x + 2)",
    "the same twice": "f = (lambda x: x + 1), (lambda x: x + 1)",
    "one inside another": "f = (lambda a: (lambda x: x * a))(5)",
    "in a call": "f = tuple(map(lambda f: f, [lambda x: x - 1]))",
    "over several lines": "f = (\n    lambda x:\n        x\n        + 4\n)",
    "after other text": "s = 'lambda x: x'; f = lambda x: x * 2  # lambda x: 0",
    "a choice": "f = lambda x: 1 if x > 2 else 7",
    "and, or": "f = (lambda x: x > 1 and x < 3), (lambda x: x < 1 or x > 3)",
    "a default": "f = lambda x, y=5: x + y",
    "letters of several bytes": "ä = 'äöü'; f = (lambda x: x + 1), (lambda x: x + len(ä))",
    "indented": "if True:\n    f = lambda x: x + 9",
    "a header of a block": "for f in [lambda x: x * 7]:  # f\n    pass",
    "in a block": "if 1:\n    if 0:\n        pass\n    elif (f := lambda x: x - 9):\n        pass",
    "far into a statement": "f = max(\n" + "    -1,\n" * 60 + "    lambda x: x + 60,\n    key=callable,\n)",
    "after what is no Python": "f = lambda x: x + 8",
    "a constant": "f = lambda x: 1",
    "behind else": "if 0: f = lambda x: x\nelse: f = lambda x: x + 11",
    "behind elif": "if 0: f = lambda x: x\nelif 1: f = lambda x: x + 12",
    "behind try": "try: f = lambda x: x + 13\nfinally: pass",
}


def made_by(text):
    """Run a text from a file of its own, and return its functions."""
    file = f"<lambdas {abs(hash(text))}>"
    lines = text.splitlines(keepends=True)
    if text == TEXTS["after what is no Python"]:
        lines = ["A page (of text:\n", "\n", *lines]
        text = f"\n\n{text}"
    linecache.cache[file] = (len(text), None, lines, file)
    namespace = {}
    exec(compile(text, file, "exec"), namespace)
    found = namespace["f"]
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_the_syntax_of_a_lambda_is_that_of_its_code(text):
    for function in made_by(text):
        again = made_from(Source(function).tree, function)
        for x in range(5):
            assert again(x) == function(x)


def made_from(tree, function):
    """Return the function that Python makes of the syntax of another one, with its names."""
    tree.name = "f"
    names = dict(zip(function.__code__.co_freevars, (c.cell_contents for c in function.__closure__ or ())))
    namespace = {**function.__globals__, **names}
    exec(compile(ast.Module([ast.fix_missing_locations(tree)], []), "<again>", "exec"), namespace)
    return namespace["f"]


def test_lambdas_that_cannot_be_told_apart_are_refused():
    text = "f = (lambda x: x), (lambda x: x)"
    first, second = made_by(text)
    assert Source(first).tree.col_offset != Source(second).tree.col_offset
    code = first.__code__.replace(co_linetable=b"")  # without positions, as in `python -X no_debug_ranges`
    with pytest.raises(errors.CompileError, match="one of 2 in its line") as caught:
        assert Source(type(first)(code, {})).tree
    assert "put each lambda into a line of its own" in str(caught.value)


def test_a_lambda_without_a_source_is_refused():
    (function,) = made_by("f = lambda x: x + 321")
    linecache.cache.pop(function.__code__.co_filename)
    with pytest.raises(errors.CompileError, match="the source of <lambda> cannot be found"):
        assert Source(function).tree


def test_a_lambda_whose_file_has_changed_is_refused():
    (function,) = made_by("f = lambda x: x + 123")
    file = function.__code__.co_filename
    linecache.cache[file] = (1, None, ["f = 1\n"], file)
    with pytest.raises(errors.CompileError, match="is not in its file"):
        assert Source(function).tree
