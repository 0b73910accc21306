# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The problems for PyTorch as with_torch.py has them, compiled by `torch.compile`."""

import torch

from . import with_torch
from .with_torch import DRIVERS, TAKES_NUMPY, get, put, sync

__all__ = ["DRIVERS", "TAKES_NUMPY", "chain", "get", "link", "put", "reduction", "saxpy", "stencil", "sync"]

saxpy = torch.compile(with_torch.saxpy)
link = torch.compile(with_torch.link)
chain = torch.compile(with_torch.chain)
stencil = torch.compile(with_torch.stencil)
reduction = torch.compile(with_torch.reduction)
