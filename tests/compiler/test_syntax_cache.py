# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: what the text of many functions says is kept on disk by the content of their file, and only there."""

import dataclasses
import importlib.util
import linecache
import os

import numpy as np
import pytest

from cuda_graphs.compiler import specialise
from cuda_graphs.compiler.cache import artifact_cache, syntax
from cuda_graphs.compiler.cache.fingerprint import Fingerprint
from cuda_graphs.compiler.codegen.x86.x86_target import X86
from cuda_graphs.compiler.ir.types import f32, f64
from cuda_graphs.compiler.language.annotations import ArraySpec

MANY = syntax.MANY
HEAD = "import cuda_graphs as cg\nSCALE = 2\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder of the cache, and a process that knows no functions."""
    monkeypatch.setenv("CUDA_GRAPHS_CACHE_DIR", str(tmp_path / "cache"))
    forget(monkeypatch)
    return tmp_path


def forget(monkeypatch):
    """Let this process be as a new one."""
    for name, value in {"known": {}, "files": {}, "parsed": 0}.items():
        monkeypatch.setattr(syntax, name, value)


def program(count, scale="SCALE"):
    """Return the text of a kernel with `count` functions."""
    functions = [f"@cg.func\ndef f{i}(v):\n    return v * {scale} + {i}\n" for i in range(count)]
    calls = "".join(f"        x[i] = f{i}(x[i])\n" for i in range(count))
    return f"{HEAD}{''.join(functions)}def k(x: cg.Array1[cg.f32]):\n    for i in x:\n{calls}"


def kernel(folder, text):
    """Return the kernel of a program in a file."""
    file = folder / "program.py"
    file.write_text(text)
    os.utime(file, ns=(0, file.stat().st_mtime_ns + len(text)))
    linecache.checkcache(str(file))
    spec = importlib.util.spec_from_file_location("program", file)
    module = importlib.util.module_from_spec(spec)
    exec(compile(text, file, "exec"), vars(module))
    return module.k


def key(function):
    signature = specialise(function, {"x": np.zeros(4, "f4")})
    return artifact_cache.fingerprint(function, signature, X86(), False)[0]


def entries(folder):
    return sorted((folder / "cache").glob("*.syntax"))


def refuse_to_parse(monkeypatch):
    def parse(source):
        raise AssertionError(f"{source.function.__qualname__} is parsed")

    monkeypatch.setattr(syntax, "parse", parse)


def test_second_process_parses_no_function(folder, monkeypatch):
    before = key(kernel(folder, program(MANY)))
    forget(monkeypatch)
    refuse_to_parse(monkeypatch)
    assert key(kernel(folder, program(MANY))) == before


def test_few_functions_write_no_entry(folder):
    key(kernel(folder, program(MANY // 2)))
    assert entries(folder) == []


def test_many_functions_of_one_file_write_one_entry(folder):
    key(kernel(folder, program(MANY)))
    assert len(entries(folder)) == 1


def test_functions_of_an_edited_file_are_parsed_again(folder, monkeypatch):
    before = key(kernel(folder, program(MANY)))
    forget(monkeypatch)
    after = key(kernel(folder, program(MANY, scale="(SCALE + 1)")))
    assert after != before
    assert len(entries(folder)) == 2


def test_process_that_meets_an_edited_file_parses_it_again(folder):
    text = program(MANY)
    first = kernel(folder, text)
    before = key(first)
    kernel(folder, text.replace("* SCALE + 0", "* SCALE + 9"))
    assert key(first) != before


def test_other_code_that_reads_functions_has_entries_of_its_own(folder, monkeypatch):
    function = kernel(folder, program(MANY))
    key(function)
    forget(monkeypatch)
    monkeypatch.setattr("cuda_graphs.compiler.cache.fingerprint.SOURCE", "another")
    key(function)
    assert len(entries(folder)) == 2


@pytest.mark.parametrize("content", ["[1]", '{"1": 2}', '{"1": ["a", 3]}', "{"])
def test_malformed_entry_is_reported_and_not_used(folder, monkeypatch, content):
    before = key(kernel(folder, program(MANY)))
    entry = entries(folder)[0]
    artifact_cache.disk_cache.write("syntax", entry.stem, content.encode())
    forget(monkeypatch)
    with pytest.warns(RuntimeWarning, match=f"{entry.name} is damaged"):
        assert key(kernel(folder, program(MANY))) == before


def test_cache_that_is_off_is_not_read_or_written(folder, monkeypatch):
    monkeypatch.setenv("CUDA_GRAPHS_CACHE", "0")
    key(kernel(folder, program(MANY)))
    assert not (folder / "cache").exists()


OTHER = {"dtype": f64, "ndim": 2, "inner": (3,), "needs_grad": True, "needs_dual": True}


@pytest.mark.parametrize("name", [each.name for each in dataclasses.fields(ArraySpec)])
def test_each_part_of_the_type_of_an_array_counts(name):
    def digest(spec):
        found = Fingerprint()
        found.value(spec)
        return found.digest()

    one = ArraySpec(f32, 1)
    assert digest(dataclasses.replace(one, **{name: OTHER[name]})) != digest(one) == digest(ArraySpec(f32, 1))
