# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a greedy decoding in one launch, by a while node around a step of PyTorch, makes the tokens of eager PyTorch and
ends at the same end token."""

import importlib
import math

import pytest

import cuda_graphs as cg
from tests.conftest import ROOT

pytest.importorskip("torch")
pytestmark = pytest.mark.cuda


@pytest.fixture(scope="module")
def decode():
    """The benchmark. Its first decoding loads the code of the predicate, which stays until the process ends."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        module = importlib.import_module("decode")
    cg.Device().set_current()
    module.compare(["while node"], module.SIZES["tiny"], 1, 8, 1, math.inf)  # its warming takes 3 steps
    return module


@pytest.mark.parametrize("batch", [1, 3])
def test_one_launch_makes_the_tokens_of_eager_pytorch(device, decode, batch):
    found = decode.compare(["eager", "while node"], decode.SIZES["tiny"], batch, 24, 1, math.inf)
    assert [(each["same_tokens"], each["ends"]) for each in found.values()] == [(1.0, True)] * 2
