# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The script that a process runs first when its parent is on the host driver (workers.py, children.py).

The package is the parent's, wherever that found it. In a process of multiprocessing the parent's sys.path, which comes
next, replaces this one.
"""

import importlib
import sys
from pathlib import Path

FOLDER = str(Path(__file__).parents[2])
if FOLDER not in sys.path:
    sys.path.insert(0, FOLDER)
importlib.import_module("cuda_graphs.hostdriver").stand_in()
