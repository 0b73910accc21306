# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the package is imported in the main interpreter of a process; a subinterpreter gets an ImportError, and nothing
that happens there concerns the main one, or the end of the process."""

import pytest

CODE = """
import sys
{before}
if sys.version_info >= (3, 13):
    import _interpreters as interpreters
    run = interpreters.exec
else:
    import _xxsubinterpreters as interpreters
    run = interpreters.run_string
made = interpreters.create()
for _ in range(2):
    run(made, '''
try:
    import {module}
except ImportError as error:
    print(error, flush=True)
else:
    print("imported", flush=True)
''')
interpreters.destroy(made)
{after}
"""
USE = """
import cuda_graphs as cg

device = cg.Device()
device.set_current()
device.create_stream().sync()
"""
PLACES = {
    "the main interpreter never does": ("", ""),
    "the main interpreter did before": (USE, ""),
    "the main interpreter does later": ("", USE),
    "the main interpreter does before and later": (USE, USE),
}
MODULES = ("cuda_graphs", "cuda_graphs.errors", "cuda_graphs.compiler", "cuda_graphs.hostdriver")


def refused(run_child, before, after, module):
    done = run_child(CODE.format(before=before, after=after, module=module))
    assert done.stderr == ""
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    for line in lines:
        assert line.startswith("cuda_graphs cannot be imported in a subinterpreter")
        assert "main interpreter" in line


@pytest.mark.parametrize("place", PLACES)
def test_a_subinterpreter_is_refused_and_the_process_ends_well(run_child, place):
    refused(run_child, *PLACES[place], "cuda_graphs")


@pytest.mark.parametrize("module", MODULES)
def test_a_subinterpreter_is_refused_by_every_module(run_child, module):
    refused(run_child, "", "", module)
