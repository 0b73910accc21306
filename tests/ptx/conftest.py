# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
import pytest


@pytest.fixture(autouse=True)
def private_cache(tmp_path, monkeypatch):
    """Tests translate afresh unless they are about the cache."""
    monkeypatch.setenv("CUDA_GRAPHS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("CUDA_GRAPHS_CACHE", "0")
