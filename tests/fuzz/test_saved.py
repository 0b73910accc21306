# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a damaged saved graph is loaded or refused with a SavedGraphError; nothing else happens."""

import pytest

import cuda_graphs as cg
from tests.fuzz import saved

HOUR = 60  # minutes


def test_damaged_files_are_loaded_or_refused(device, tmp_path):
    if cg.driver_info().kind != "host":
        pytest.skip("damaged kernels are for the host driver")
    loader = saved.Loader()
    loaded = 0
    for number in range(150):
        assert loader.outcome(saved.case(number), tmp_path / "saved.cgg") == "", number
        loaded += loader.was_loaded
    assert 0 < loaded < 100


@pytest.mark.nightly
def test_an_hour_of_damaged_files(tmp_path):
    count, wrong = saved.run(HOUR, 1000, tmp_path)
    assert count > 1000
    assert not wrong
