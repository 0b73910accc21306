# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`quadrants.math`."""

from ..math import *  # noqa: F403
from ..math import __all__
from ..math import __getattr__  # noqa: F401
