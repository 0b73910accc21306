# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A disk cache of a test's own."""

import pytest

from cuda_graphs.compiler.cache import artifact_cache


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of the disk artifact_cache, which is on. It does not exist yet."""
    monkeypatch.setenv("CUDA_GRAPHS_CACHE", "1")
    monkeypatch.setenv("CUDA_GRAPHS_CACHE_DIR", str(tmp_path / "c"))
    monkeypatch.delenv("CUDA_GRAPHS_CACHE_MIB", raising=False)
    return tmp_path / "c"


@pytest.fixture
def counts(monkeypatch):
    """(hits, misses, stored) since the test began."""
    fresh = artifact_cache.CompileCache()
    monkeypatch.setattr(artifact_cache, "compile_cache", fresh)
    return lambda: (fresh.hits, fresh.misses, fresh.stored)
