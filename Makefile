# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
#
# One word per loop. All of them work inside a virtual environment that has the `test` extra (README.md):
#
#   make        build in place, in parallel, through ccache where there is one
#   make tiny   the smallest test file, on the host driver
#   make test   all tests on the host driver, in parallel; again on a GPU where one answers
#   make nightly  the tests that take minutes: long random walks
#   make test-browser  the tests of HTML pictures, in headless Chromium
#   make tidy   formatters, linters, types, layering, licences, sizes
#   make asan   the C++ tests of the host driver and of the handles under the address and undefined-behaviour sanitizers
#   make tsan   the same under the thread sanitizer
#   make docs   run every snippet of the documentation, check its links and tables
#   make site   the documentation as a site in docs/_build/html; a warning is an error
#   make site-browser  open each page of the built site in Chromium, at the width of a desk and of a phone
#   make wheels  the source distribution and wheels in dist/, each checked without a compiler
#   make bench  the benchmarks of calls and of their growth, as tables
#   make clean  remove everything that was built

PYTHON ?= python
JOBS ?= $(shell nproc)
CCACHE := $(shell command -v ccache)
PYTEST = $(PYTHON) -m pytest -q
TIDY := python format types cython cxx words tree

.PHONY: all tiny test test-host test-cuda nightly test-browser tidy $(TIDY:%=tidy-%) asan tsan docs site site-browser wheels bench clean

# With precompiled headers ccache needs to be told that macros of the date do not matter.
all: export CCACHE_SLOPPINESS = pch_defines,time_macros
all:
	CC="$(CCACHE) gcc" CXX="$(CCACHE) g++" MAX_JOBS=$(JOBS) $(PYTHON) setup.py -q build_ext --inplace

tiny:
	CUDA_GRAPHS_DRIVER=host $(PYTEST) tests/test_tiny.py

test: test-host test-cuda

test-host:
	CUDA_GRAPHS_DRIVER=host $(PYTEST) -n $(JOBS)

# Several processes share the GPU well, but each keeps a context in its memory.
test-cuda:
	@if CUDA_GRAPHS_DRIVER=cuda $(PYTHON) -c "import cuda_graphs as cg; cg.driver_info()" 2>/dev/null; then \
	    CUDA_GRAPHS_DRIVER=cuda $(PYTEST) -n 4; \
	else \
	    echo "make test: no CUDA device answers here, so the tests ran on the host driver only"; \
	fi

# On the driver of CUDA_GRAPHS_DRIVER, the host driver by default.
nightly:
	CUDA_GRAPHS_DRIVER=$${CUDA_GRAPHS_DRIVER:-host} $(PYTEST) -s -m nightly

# Needs the extra `browser`, Chromium and its driver (CONTRIBUTING.md).
test-browser:
	CUDA_GRAPHS_DRIVER=host $(PYTEST) -m browser tests/drawing

CXX_FILES = $(shell find cuda_graphs tests $(wildcard benchmarks) -name '*.hpp' -o -name '*.cpp' -o -name '*.h')

# All of them, side by side, also when one complains.
tidy: build/tidy-tools
	@$(MAKE) --no-print-directory -k -j $(JOBS) -O $(TIDY:%=tidy-%)

tidy-python:
	ruff check --output-format concise .
tidy-format:
	ruff format --check --quiet .
# The package, then the examples and pages as programs of users, then the laws of these types.
tidy-types:
	mypy
	$(PYTHON) -m docs.page_types
	$(PYTEST) -p no:cacheprovider -m types tests/repo/test_page_types.py
tidy-cython:
	cython-lint cuda_graphs
tidy-cxx:
	@echo "clang-format --dry-run -Werror ($(words $(CXX_FILES)) files)"
	@clang-format --dry-run -Werror $(CXX_FILES)
tidy-words:
	codespell
tidy-tree:
	$(PYTEST) -p no:cacheprovider tests/repo/test_layering.py tests/repo/test_spdx.py tests/repo/test_sizes.py
	$(PYTHON) tests/repo/test_sizes.py

# The frozen versions, so that a new release of a tool never turns a tree untidy by itself.
build/%-tools: .ci/%.txt
	$(PYTHON) -m pip install -q --disable-pip-version-check -r $<
	@mkdir -p build && touch $@

asan tsan:
	$(MAKE) -C tests/hostdriver $@ PYTHON=$(PYTHON)
	$(MAKE) -C tests/handles $@ PYTHON=$(PYTHON)
	$(if $(filter asan,$@),$(MAKE) -C tests/runtime asan PYTHON=$(PYTHON))

docs:
	CUDA_GRAPHS_DRIVER=host $(PYTEST) tests/repo/test_readme.py tests/repo/test_docs.py

site: build/site-tools
	CUDA_GRAPHS_DRIVER=host $(PYTHON) -m docs.site

site-browser:
	$(PYTHON) -m docs.site.browser

# PYTHONS names interpreters; the default is each of python3.11 to python3.14 that is found.
wheels: build/wheels-tools
	CC="$(CCACHE) gcc" CXX="$(CCACHE) g++" .ci/wheels $(PYTHONS)

bench:
	$(PYTHON) benchmarks/graph_calls.py
	$(PYTHON) benchmarks/growth.py

clean:
	rm -rf build dist out docs/_build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find cuda_graphs \( -name '*.so' -o -name '*.cy.cpp' -o -name __pycache__ \) -prune -exec rm -rf {} +
