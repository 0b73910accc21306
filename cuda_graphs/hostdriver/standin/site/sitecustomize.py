# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Python imports this module at the start of a process whose parent runs on the host driver (see children.py). It puts
the host driver in the place of libcuda, then runs the sitecustomize.py that it hides.
"""

import importlib.machinery
import importlib.util
import os
import runpy
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))

if os.environ.get("CUDA_GRAPHS_STAND_IN") == "1":
    runpy.run_path(os.path.join(os.path.dirname(FOLDER), "worker.py"))

_others = [folder for folder in sys.path if os.path.abspath(folder) != FOLDER]
_spec = importlib.machinery.PathFinder.find_spec("sitecustomize", _others)
if _spec is not None and _spec.loader is not None:
    _hidden = importlib.util.module_from_spec(_spec)
    sys.modules["sitecustomize"] = _hidden
    _spec.loader.exec_module(_hidden)
