# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What a process of multiprocessing runs first when its parent is on the host driver (workers.py): no module, a script.

The package is the parent's, wherever that found it. The parent's sys.path, which comes next, replaces this one.
"""

import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
importlib.import_module("cuda_graphs.hostdriver").stand_in()
