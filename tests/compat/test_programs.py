# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: programs in the style of the peers' users run unchanged through both modules, and compute what NumPy computes.

Each program in `programs/` leaves its `result`, and has its `truth`. `allowed` is the share of elements that may differ,
where a rounding decides. compare_with_peers.py compares the results with those of the peers.
"""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

from cuda_graphs.compat.shim import PEERS, PeerFinder

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))


@pytest.fixture
def shim(monkeypatch):
    """The import shim, for one test."""
    monkeypatch.setattr(sys, "meta_path", [PeerFinder(), *sys.meta_path])
    yield
    for name in list(sys.modules):
        if name.partition(".")[0] in PEERS:
            del sys.modules[name]


def test_there_are_thirty_programs():
    assert len(PROGRAMS) >= 30


@pytest.mark.filterwarnings("ignore::cuda_graphs.CompileWarning")
@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_program_computes_what_numpy_computes(path, peer, shim, tmp_path):
    program = tmp_path / path.name
    program.write_text(path.read_text().replace("taichi", peer))
    names = runpy.run_path(str(program))
    found, wanted = names["result"], names["truth"]()
    assert found.keys() == wanted.keys()
    for key, value in wanted.items():
        ours, truth = np.asarray(found[key], float), np.asarray(value, float)
        assert ours.shape == truth.shape, key
        differs = ~np.isclose(ours, truth, rtol=1e-3, atol=1e-3)
        assert differs.mean() <= names.get("allowed", {}).get(key, 0), key
