# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The text and the syntax of definitions in a file (frontend/definitions.py), beside those of the standard library."""

import ast
import inspect
import linecache
import sys

import pytest

from cuda_graphs.compiler.errors import CompileSyntaxError
from cuda_graphs.compiler.frontend.definitions import definition_in
from cuda_graphs.compiler.frontend.source import Source

SAMPLES = {
    "one line": "def f(x): return x\ng = 1\n",
    "the last of its file": "def f(x):\n    return x",
    "blank lines and comments inside": "def f(x):\n\n    y = x\n# here\n    return y\n\n# behind\n\ng = 1\n",
    "a head of many lines": "def f(\n    x,\n    y=(1,\n2),\n) -> None:\n    return x\ng = 1\n",
    "decorators of many lines": "@given(\n    1,\n)\n@given(\n2)\ndef f(x):\n    return x\ng = 1\n",
    "a string at the margin": 'def f(x):\n    """One.\ndef g():\nTwo.\n"""\n    return x\ng = 1\n',
    "a long string at the margin": 'def f(x):\n    """\n' + "word\n" * 30 + '"""\n    return x\ng = 1\n',
    "a continued line": "def f(x):\n    y = x + \\\n1\n    return y\ng = 1\n",
    "in a class": "class A:\n    @given(1)\n    def f(self):\n        return [\n1]\n\n    b = 1\n",
    "in a branch": "if 1:\n    def f(x):\n        if x:\n            return 1\n        return 2\nelse:\n    g = 1\n",
    "tabs": "if 1:\n\tdef f(x):\n\t\treturn x\n\tg = 1\n",
    "a comment at the margin": "class A:\n    def f(self):\n        y = 1\n# margin\n        return y\n",
    "functions inside": "def f(x):\n    def h():\n        return 1\n    return h\ndef g(): pass\n",
}


@pytest.mark.parametrize("text", SAMPLES.values(), ids=SAMPLES)
def test_a_definition_is_that_of_the_whole_file(text):
    whole = next(each for each in ast.walk(ast.parse(text)) if getattr(each, "name", "") == "f")
    first = min([whole.lineno, *(each.lineno for each in whole.decorator_list)])
    found = definition_in(text.splitlines(keepends=True), first)
    assert found is not None
    assert ast.dump(found[1], include_attributes=True) == ast.dump(whole, include_attributes=True)
    assert "".join(text.splitlines(keepends=True)[first - 1 :]).startswith(found[0])


def test_the_definitions_of_the_standard_library_are_those_of_inspect():
    functions = [each for each in vars(inspect).values() if inspect.isfunction(each)]
    functions += [each for each in vars(ast.NodeVisitor).values() if inspect.isfunction(each)]
    for function in functions:
        function = inspect.unwrap(function)
        lines, first = inspect.getsourcelines(function.__code__)
        found = definition_in(linecache.getlines(function.__code__.co_filename), first)
        assert found is not None
        assert found[0].rstrip() == "".join(lines).rstrip()


def test_a_line_without_a_definition_has_none():
    assert definition_in(["x = (\n"], 1) is None
    assert definition_in(["def f(x:\n", "    return 1\n"], 1) is None
    assert definition_in([], 1) is None


def test_a_function_whose_file_has_become_shorter_is_without_source(tmp_path, monkeypatch):
    file = tmp_path / "shorter_file.py"
    file.write_text("a = 1\n\n\ndef f(x):\n    return x\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import shorter_file

    file.write_text("a = 1\n")
    with pytest.raises(CompileSyntaxError, match="the source of f cannot be found"):
        _ = Source(shorter_file.f).tree
    sys.modules.pop("shorter_file")
