# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from .parameter import Parameter

class StopWord(Parameter):
    def __init__(self, *args: object, **kwargs: object) -> None: ...
    @staticmethod
    def inside() -> StopWord: ...
    @staticmethod
    def of(handle: int) -> StopWord: ...
