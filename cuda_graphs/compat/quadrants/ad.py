# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`quadrants.ad`."""

from ..ad import *  # noqa: F403
from ..ad import __all__
