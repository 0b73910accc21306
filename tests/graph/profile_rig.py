# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the tests of profiles."""

import time

import pytest

__all__ = ["LAUNCHES", "by_name", "host_driver", "profiled", "take"]

LAUNCHES = 3


@pytest.fixture
def host_driver(driver):
    if driver.kind != "host":
        pytest.skip("on a GPU a profile needs CUPTI: tests/graph/test_profile_cupti.py")


@pytest.fixture
def profiled(host_driver, stream):
    """profiled(definition): the GraphProfile of LAUNCHES launches."""

    def run(definition, launches=LAUNCHES):
        (found,) = definition.instantiate().profile(stream, launches).graphs
        assert found.launches == launches
        return found

    return run


def take(milliseconds):
    """Returns a callback that takes so long."""
    return lambda: time.sleep(milliseconds / 1000)


def by_name(found):
    return {row.name: row for row in found.rows}
