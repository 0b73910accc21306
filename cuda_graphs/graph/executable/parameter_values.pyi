# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from typing import NamedTuple

class ParameterState(NamedTuple):
    type: str
    value: int | float | bool | None

class Slot: ...
class Slots: ...
