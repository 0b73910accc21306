# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`quadrants.simt`."""

from ..simt import *  # noqa: F403
from ..simt import __all__
from ..simt import __getattr__  # noqa: F401
