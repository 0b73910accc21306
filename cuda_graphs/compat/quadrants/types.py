# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`quadrants.types`."""

from ..types import *  # noqa: F403
from ..types import __all__
from ..types import __getattr__  # noqa: F401
