# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable

def register_address_words(function: Callable[[int], str]) -> None: ...
