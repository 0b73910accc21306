# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from .parameter import Parameter

class StopWord(Parameter):
    @staticmethod
    def inside() -> StopWord: ...
    @staticmethod
    def of(handle: int) -> StopWord: ...
