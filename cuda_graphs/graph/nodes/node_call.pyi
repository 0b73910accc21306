# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from typing import Any, NoReturn

class NodeCall:
    launches: list[Any]
    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn: ...
    def parts(self) -> Any: ...
