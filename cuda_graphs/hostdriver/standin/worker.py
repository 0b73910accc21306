# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The first script of a process whose parent runs on the host driver (workers.py, children.py).

It imports the package from the parent's folder. In a process of multiprocessing, the parent's sys.path then replaces
this sys.path.
"""

import importlib
import sys
from pathlib import Path

FOLDER = str(Path(__file__).parents[2])
if FOLDER not in sys.path:
    sys.path.insert(0, FOLDER)
importlib.import_module("cuda_graphs.hostdriver").stand_in()
