# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: what a Cython module offers is in the stub beside it, and every public name exists and explains itself."""

import ast
import inspect
import re

import pytest

CLASS = re.compile(r"^(?:cdef )?class (\w+)", re.MULTILINE)
FUNCTION = re.compile(r"^(?:async )?(?:cp)?def (?:\w+ )?(\w+)\(", re.MULTILINE)
MEMBER = re.compile(r"^    (?:cp)?def (?:\w+ )?(\w+)\(", re.MULTILINE)
# Written by Cython for every class, or understood by type checkers without being declared.
UNDECLARED = {
    "__cinit__",
    "__dealloc__",
    "__reduce__",
    "__reduce_cython__",
    "__setstate_cython__",
    "__weakref__",
}


def bodies(source):
    """(class name, text of its body) of each top-level class of Cython source."""
    for match in CLASS.finditer(source):
        rest = source[match.end() :]
        end = re.search(r"^\S(?<![)#])", rest.partition("\n")[2], re.MULTILINE)
        yield match[1], rest[: len(rest.partition("\n")[0]) + 1 + end.start()] if end else rest


def offered(source):
    """Public names of a Cython module: "Class", "Class.member", "function"."""
    names = {name for name in FUNCTION.findall(source) if not name.startswith("_")}
    for name, body in bodies(source):
        if not name.startswith("_"):
            members = {m for m in MEMBER.findall(body) if not m.startswith("_") or m.endswith("__")}
            names |= {name} | {f"{name}.{member}" for member in members - UNDECLARED}
    return names


def declared(stub):
    names = set()
    for node in ast.parse(stub).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.ClassDef):
            names.add(node.name)
            for member in ast.walk(node):
                if isinstance(member, ast.FunctionDef):
                    names.add(f"{node.name}.{member.name}")
                elif isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name):
                    names.add(f"{node.name}.{member.target.id}")
                elif isinstance(member, ast.Assign):
                    names |= {f"{node.name}.{t.id}" for t in member.targets if isinstance(t, ast.Name)}
    return names


def test_every_cython_module_has_a_stub_that_declares_what_it_offers(tree):
    missing = {}
    for path in tree.files(".pyx", below="cuda_graphs"):
        stub = path.with_suffix(".pyi")
        wanted = offered(path.read_text())
        lacking = wanted - declared(stub.read_text()) if stub.exists() else wanted
        if lacking:
            missing[tree.name(path)] = sorted(lacking)
    assert missing == {}


def test_stubs_declare_nothing_that_is_not_there(tree):
    # Private names are protocols that only type checkers see.
    extra = {}
    for path in tree.files(".pyi", below="cuda_graphs"):
        if path.name == "__init__.pyi":
            continue  # its names are imported from it
        source = path.with_suffix(".pyx")
        assert source.exists(), f"{tree.name(path)} is a stub of nothing"
        words = set(re.findall(r"\w+", source.read_text()))
        names = (name for name in declared(path.read_text()) if not name.startswith("_"))
        unknown = {name for name in names if name.rpartition(".")[2] not in words}
        if unknown:
            extra[tree.name(path)] = sorted(unknown)
    assert extra == {}


def test_every_public_name_exists_and_explains_itself():
    import cuda_graphs as cg

    assert sorted(set(cg.__all__)) == sorted(cg.__all__)
    missing = [name for name in cg.__all__ if not hasattr(cg, name)]
    assert missing == []
    silent = [
        name
        for name in cg.__all__
        if (inspect.isclass(getattr(cg, name)) or callable(getattr(cg, name)))
        and not inspect.getdoc(getattr(cg, name))
    ]
    assert silent == []


def test_dir_shows_every_public_name():
    import cuda_graphs as cg

    assert set(cg.__all__) <= set(dir(cg))


def test_a_name_of_the_package_that_does_not_exist_is_an_attribute_error():
    import cuda_graphs as cg

    with pytest.raises(AttributeError, match="no_such_name"):
        cg.no_such_name  # noqa: B018


SOURCE = '''
cdef class Stream:
    """doc"""
    cdef int x

    def __cinit__(self): pass
    @property
    def handle(self): return 0
    cdef inner(self): pass
    cpdef int sync(
        self
    ) except -1: pass
    def __eq__(self, other): pass
    def _private(self): pass

class Options:
    def flags(self): pass

cdef class _Hidden:
    def nothing(self): pass

def launch(a): pass
cdef int secret() except -1: return 0
cpdef int shown(int a) except -1: return 0
'''


def test_offered_names_are_read_from_cython_source():
    assert offered(SOURCE) == {
        *(
            "Stream",
            "Stream.handle",
            "Stream.sync",
            "Stream.__eq__",
            "Options",
            "Options.flags",
            "launch",
            "shown",
        ),
    }


def test_declared_names_are_read_from_a_stub():
    stub = """
class A:
    x: int
    def f(self) -> None: ...
    @property
    def p(self) -> int: ...
def g() -> None: ...
"""
    assert declared(stub) == {"A", "A.x", "A.f", "A.p", "g"}
