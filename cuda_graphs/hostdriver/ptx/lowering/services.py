# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of the driver's services (cgh_services of hostdriver/image_loader.h) through the table @cgh.services of the
module. The loader fills the table after linking."""

from __future__ import annotations

from cuda_graphs.hostdriver.ptx.abi import SERVICES

TABLE = "cgh.services"


class ServiceCalls:
    """The calls of one module. Their registers are numbered."""

    def __init__(self) -> None:
        self.count = 0

    def call(self, result: str, name: str, kind: str, args: str) -> str:
        """Returns IR that calls a service: `result` is an LLVM name, or "" for void."""
        self.count += 1
        at, to = f"%service.at{self.count}", f"%service{self.count}"
        assign = f"{result} = " if result else ""
        return (
            f"  {at} = getelementptr ptr, ptr @{TABLE}, i64 {SERVICES.index(name)}\n"
            f"  {to} = load ptr, ptr {at}, !invariant.load !0\n"
            f"  {assign}call {kind} {to}({args})"
        )
