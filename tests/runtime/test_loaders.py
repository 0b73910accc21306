# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the library for C accepts the files that `cg.load` accepts, refuses those that it refuses, and computes the same
results."""

import ctypes
import random

import numpy as np
import pytest

import cuda_graphs as cg
from tests.fuzz import saved
from tests.runtime.conftest import Answers
from tests.runtime.library import Library
from tests.saving import graphs
from tests.saving.files import from_other_driver, without_code

GIVEN = np.linspace(-2, 3, 8, dtype=np.float32)


@pytest.fixture
def library(driver):
    return Library(driver.kind)


@pytest.fixture
def zoo_file(device, tmp_path):
    graphs.Zoo().save(tmp_path / "zoo.cgg")
    return tmp_path / "zoo.cgg"


def run_zoo(library, path, **values):
    """(y, counts and marks, calls of the callback) of a launch by the library."""
    reports = []
    with library.load(path, report=lambda: reports.append("done")) as graph, graph.instantiate() as exec_:
        graph.default("x").write(GIVEN)
        for name, value in values.items():
            exec_.set(name, value)
        exec_.launch()
        exec_.wait()
        found = [graph.default(name).read(kind) for name, kind in (("y", "f4"), ("counts", "i4"), ("marks", "i4"))]
    return found[0], [*found[1], *found[2]], reports


def test_every_kind_of_node_gives_the_results_of_python(library, zoo_file):
    y, counts, reports = run_zoo(library, zoo_file)
    assert np.allclose(y, graphs.expected(GIVEN)) and counts == graphs.COUNTS and reports == ["done"]


def test_numbers_are_set_by_name(library, zoo_file):
    y, counts, _ = run_zoo(library, zoo_file, factor=-2.0)
    assert np.allclose(y, graphs.expected(GIVEN, -2.0)) and counts == graphs.COUNTS


def test_sizes_are_computed_for_a_file_of_the_other_driver(library, zoo_file):
    from_other_driver(zoo_file)
    y, counts, _ = run_zoo(library, zoo_file)
    assert np.allclose(y, graphs.expected(GIVEN)) and counts == graphs.COUNTS


def test_parameters_are_those_that_python_lists(library, zoo_file):
    loaded = cg.load(zoo_file, callbacks={"report": print})
    graph = library.load(zoo_file, report=lambda: None)
    names = [each.name.decode() for each in graph.parameters()]
    assert sorted(names) == sorted(loaded.instantiate().params)
    assert [n for n, p in zip(names, graph.parameters()) if p.roles & 1] == list(loaded.inputs)
    assert [n for n, p in zip(names, graph.parameters()) if p.roles & 2] == list(loaded.outputs)
    (x,) = (each for each in graph.parameters() if each.name == b"x")
    assert (x.ndim, x.shape[0], x.bytes, x.has_default) == (1, 8, 32, 1)
    graph.release()


def test_a_parameter_takes_arrays_of_any_shape(library, device, tmp_path):
    g = cg.GraphDef()
    g.call(graphs.affine, 3.0, 1.0, g.param("x", graphs.Floats))
    g.save(tmp_path / "any.cgg")
    with library.load(tmp_path / "any.cgg") as graph, graph.instantiate() as exec_:
        for size in (1, 1000, 300000):
            with library.array("f32", size) as x:
                x.write(np.arange(size, dtype=np.float32))
                exec_.set("x", x)
                exec_.launch()
                exec_.wait()
                assert (x.read("f4") == 3 * np.arange(size, dtype=np.float32) + 1).all()


def test_a_missing_callback_is_named(library, zoo_file):
    with pytest.raises(RuntimeError, match=r"^1: .*report"):
        library.load(zoo_file)


def test_a_file_without_code_for_the_driver_is_refused(library, zoo_file, driver):
    without_code(zoo_file, "native", "ptx")
    with pytest.raises(RuntimeError, match="has no code for"):
        library.load(zoo_file, report=lambda: None)


def test_values_of_every_type_are_those_of_python(library, device, tmp_path):
    """A copy of a word that a fill has written shows the bits of a number."""
    chance = random.Random(2)
    for name, bits in (("f16", "u2"), ("bf16", "u2"), ("f32", "u4"), ("i8", "u1"), ("u16", "u2"), ("i32", "u4")):
        g, out = cg.GraphDef(), cg.ndarray(getattr(cg, f"u{8 * int(bits[1])}"), 1)
        g.memset(out, g.param("value", getattr(cg, name), default=0), 1)
        g.save(tmp_path / "fill.cgg", outputs={"out": out})
        wanted, stream = cg.load(tmp_path / "fill.cgg"), cg.Device().create_stream()
        mine = wanted.instantiate()
        with library.load(tmp_path / "fill.cgg") as graph, graph.instantiate() as exec_:
            for _ in range(20):
                value = chance.uniform(-300, 300) if "f" in name else chance.randrange(0, 128)
                if name == "f16":
                    value = chance.choice((value, value * 1e-7, 65519.0, 2.0**-24, -0.0))
                mine.launch(stream, out=out, value=value)
                stream.sync()
                exec_.set("value", value)
                exec_.launch()
                exec_.wait()
                assert graph.default("out").read(bits).tolist() == out.to_numpy().tolist(), (name, value)


@pytest.fixture
def verdicts(programs, environment, zoo_file, tmp_path):
    """verdicts(bytes): (whether Python loads them, what the library says)."""
    with Answers(programs / "fuzz", "report", env=environment) as answers:

        def judge(file):
            path = tmp_path / "case.cgg"
            path.write_bytes(file)
            try:
                cg.load(path, callbacks={"report": print})
                by_python = True
            except cg.SavedGraphError:
                by_python = False
            return by_python, answers.ask(path)

        yield judge


def test_both_loaders_accept_the_same_damaged_files(verdicts, zoo_file):
    seed = zoo_file.read_bytes()
    differences, loaded = [], 0
    for number in range(150):
        by_python, answer = verdicts(saved.case(number, seed))
        loaded += by_python
        if by_python != (answer == "loaded"):
            differences.append((number, by_python, answer))
    assert differences == [] and loaded > 10


def test_the_structures_have_the_layout_of_the_header():
    assert ctypes.sizeof(Library.Parameter) == 8 + 4 * 3 + 8 + 4 * 2 + 4 + 8 * 8 + 8
