# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable
from typing import Any, overload

class KernelFunction:
    debug: bool
    fast_math: bool
    __name__: str
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __call__(self, *args: Any, stream: Any = None, **keywords: Any) -> Any: ...
    def forget(self) -> None: ...
    def __repr__(self) -> str: ...

@overload
def kernel(
    function: Callable[..., Any], *, debug: bool = False, fast_math: bool = False
) -> KernelFunction: ...
@overload
def kernel(
    function: None = None, *, debug: bool = False, fast_math: bool = False
) -> Callable[[Callable[..., Any]], KernelFunction]: ...
