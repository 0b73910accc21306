# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: later versions load the files that schema 1 wrote on the host driver: `golden.cgg`, and `golden_cubins.cgg` with
machine code for GPUs. They are never written again."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

import cuda_graphs as cg
from tests.saving.graphs import COUNTS, expected, launch

GOLDEN = Path(__file__).with_name("golden.cgg")
CUBINS = Path(__file__).with_name("golden_cubins.cgg")


def test_the_golden_file_gives_the_same_results(device):
    reports = []
    g = cg.load(GOLDEN, callbacks={"report": lambda: reports.append("done")})
    given = np.linspace(0, 1, 8, dtype=np.float32)
    y, counts, graph = launch(g, given, factor=-2.0)
    assert np.allclose(y, expected(given, -2.0)) and counts == COUNTS
    assert graph.iterations["loop"].iterations == COUNTS[0] and reports == ["done"]


def test_the_golden_file_with_cubins_gives_the_same_results(device, stream):
    given, y = np.linspace(0, 1, 8, dtype=np.float32), cg.ndarray(cg.f32, 8)
    cg.load(CUBINS).instantiate().launch(stream, x=cg.array(given), y=y)
    stream.sync()
    assert np.allclose(y.to_numpy(), 3 * (2 * given + 1))


@pytest.mark.parametrize("file", [GOLDEN, CUBINS], ids=lambda file: file.stem)
def test_the_golden_files_have_schema_1(file):
    with zipfile.ZipFile(file) as archive:
        assert b'"schema":1,' in archive.read("manifest.json")
