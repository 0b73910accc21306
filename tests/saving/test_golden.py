# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: later versions load `golden.cgg`, which schema 1 wrote on the host driver. It is never written again."""

import zipfile
from pathlib import Path

import numpy as np

import cuda_graphs as cg
from tests.saving.graphs import COUNTS, expected, launch

GOLDEN = Path(__file__).with_name("golden.cgg")


def test_the_golden_file_gives_the_same_results(device):
    reports = []
    g = cg.load(GOLDEN, callbacks={"report": lambda: reports.append("done")})
    given = np.linspace(0, 1, 8, dtype=np.float32)
    y, counts, graph = launch(g, given, factor=-2.0)
    assert np.allclose(y, expected(given, -2.0)) and counts == COUNTS
    assert graph.iterations["loop"].iterations == COUNTS[0] and reports == ["done"]


def test_the_golden_file_has_schema_1():
    with zipfile.ZipFile(GOLDEN) as archive:
        assert b'"schema":1,' in archive.read("manifest.json")
