# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from typing import NoReturn

def register_handle_type(cls: type) -> None: ...

class StandIn:
    def __init__(self, *args: object, **kwargs: object) -> NoReturn: ...
