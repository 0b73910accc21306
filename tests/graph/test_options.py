# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the options: dataclasses whose fields are the keywords of the calls that take them."""

import dataclasses
import inspect
import os
import re
from pathlib import Path

import pytest
from cuda import pathfinder

import cuda_graphs as cg


@pytest.mark.parametrize(
    ("cls", "call"),
    [(cg.GraphAllocOptions, cg.GraphDef.alloc), (cg.GraphCompleteOptions, cg.GraphDef.instantiate)],
)
def test_the_keywords_of_a_call_are_the_fields_of_its_options(cls, call):
    keywords = {
        p.name: p.default
        for p in inspect.signature(call).parameters.values()
        if p.kind is inspect.Parameter.KEYWORD_ONLY
        and p.name not in ("name", "shape", "dtype")  # of the node
    }
    assert keywords == {f.name: f.default for f in dataclasses.fields(cls)}


def test_options_are_equal_by_their_fields_and_cannot_be_hashed():
    assert cg.GraphAllocOptions(device=1) == cg.GraphAllocOptions(device=1) != cg.GraphAllocOptions()
    with pytest.raises(TypeError):
        hash(cg.GraphAllocOptions())


def test_dot_flags_are_the_bits_of_the_driver_in_order():
    names = list(cg.GraphDebugPrintOptions.__dataclass_fields__)
    assert len(names) == 16
    assert [cg.GraphDebugPrintOptions(**{n: True})._to_flags() for n in names] == [1 << i for i in range(16)]
    assert cg.GraphDebugPrintOptions(**dict.fromkeys(names, True))._to_flags() == 0xFFFF
    assert cg.GraphDebugPrintOptions()._to_flags() == 0


@pytest.mark.parametrize("kind", [str, bytes, lambda p: p], ids=["str", "bytes", "path"])
def test_a_dot_file_is_written(kind, tmp_path, device):
    g = cg.GraphDef()
    g.join().join()
    path = tmp_path / "graph.dot"
    g.debug_dot_print(kind(path) if kind is not bytes else os.fsencode(path))
    assert "digraph" in path.read_text()


def test_a_dot_file_with_everything_shows_the_bodies(tmp_path, device):
    g = cg.GraphDef()
    g.while_loop(g.create_condition(0)).body.join()
    path = tmp_path / "graph.dot"
    everything = cg.GraphDebugPrintOptions(
        **dict.fromkeys(cg.GraphDebugPrintOptions.__dataclass_fields__, True)
    )
    g.debug_dot_print(path, everything)
    text = path.read_text()
    assert "digraph" in text
    assert "cluster" in text or "subgraph" in text


def test_a_file_that_cannot_be_written_is_the_error_of_open(tmp_path, device):
    (tmp_path / "file").write_text("")
    wrong = {
        tmp_path / "no" / "such" / "folder.dot": FileNotFoundError,
        str(tmp_path / "no.dot" / "file"): FileNotFoundError,
        "": FileNotFoundError,
        bytes(tmp_path): IsADirectoryError,
        tmp_path / "file" / "below.dot": NotADirectoryError,
    }
    for path, error in wrong.items():
        with pytest.raises(error) as caught:
            cg.GraphDef().debug_dot_print(path)
        assert os.fsencode(caught.value.filename) == os.fsencode(path)
        assert caught.value.__cause__ is None and caught.value.__suppress_context__
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_an_error_of_the_driver_with_a_good_path_is_that_error(tmp_path, device, driver_table):
    g = cg.GraphDef()
    driver_table.refuse("cuGraphDebugDotPrint", 999)
    with pytest.raises(cg.CUDAError, match="CUDA_ERROR_UNKNOWN") as caught:
        g.debug_dot_print(tmp_path / "graph.dot")
    assert "graph.dot" in caught.value.attempt


def test_node_types_have_the_names_and_values_of_the_driver():
    header = cuda_header()
    values = dict(re.findall(r"(CU_GRAPH_NODE_TYPE_\w+)\s*=\s*(\d+)", header))
    ours = {t.name: str(int(t)) for t in cg.GraphNodeType}
    assert ours.items() <= values.items()


def cuda_header():
    return Path(pathfinder.find_nvidia_header_directory("cudart"), "cuda.h").read_text()
