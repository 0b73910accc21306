# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.errors import CUDAError

def add_ledgers(error: CUDAError) -> None: ...
