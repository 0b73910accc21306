# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The table of the peers' names has each name once, and at least nine of ten about dense data and kernels are there."""

import importlib

import pytest

import cuda_graphs.compat as compat
from cuda_graphs.compat import absent
from docs.compatibility_page import OTHER, PEERS, compatibility_page, names_of, share


def test_the_page_is_what_the_tables_say(tree):
    written = (tree.root / "docs/compatibility.md").read_text()
    assert written == compatibility_page(), "run: python -m docs.compatibility_page"


@pytest.mark.parametrize("peer", PEERS)
def test_each_name_is_there_once(peer):
    names = list(names_of(peer))
    assert len(names) == len(set(names)) > 400


@pytest.mark.parametrize("peer", PEERS)
def test_nine_of_ten_names_about_dense_data_and_kernels_are_there(peer):
    assert share(peer) >= 0.9


def test_each_reason_is_used():
    known = [set(names_of(peer)) for peer in PEERS]
    prefixes = {
        path[: len(name)]
        for names in known
        for path in names
        for name in absent.ABSENT
        if path.startswith(name)
    }
    assert set(absent.ABSENT) - prefixes == set()
    assert set(OTHER) <= known[0] | known[1]


@pytest.mark.parametrize("peer", PEERS)
def test_public_names_of_a_module_are_those_of_the_peer(peer):
    module = importlib.import_module(f"{compat.__name__}.{peer}")
    assert set(module.__all__) <= set(names_of(peer)) | {
        "Template",
        "atomic_cas",
        "cfg",  # the peers set it in init
        "loop_unique",
        "volatile_load",
    }
