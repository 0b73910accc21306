# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""All that the functions of a module share while they are lowered."""

from __future__ import annotations

from cuda_graphs.hostdriver.ptx.analysis import call_graph
from cuda_graphs.hostdriver.ptx.analysis.layout import Layout
from cuda_graphs.hostdriver.ptx.errors import invalid_ptx
from cuda_graphs.hostdriver.ptx.syntax.syntax import Function, Module, Variable

from .instrumentation import NOTHING, Sites, Wants
from .prelude import Prelude
from .services import ServiceCalls


def quoted(prefix: str, name: str) -> str:
    return f'@"{prefix}{name}"'


class ModuleContext:
    """The parsed module, the analyses of it, and the text that its functions add to the module."""

    def __init__(self, module: Module, wants: Wants = NOTHING):
        self.module = module
        self.wants = wants
        self.call_graph = call_graph.summarise(module)
        self.layout = Layout(module, self.call_graph)
        self.declarations: dict[str, str] = {}
        self.services = ServiceCalls()
        self.prelude = Prelude(self.declarations, self.services, ordered=wants.order, fast=wants.fast)
        self.sites = Sites()
        self.metadata: list[str] = []

    def variable(self, name: str) -> Variable | None:
        return self.module.variables.get(name)

    def global_name(self, variable: Variable) -> str:
        if variable.linkage == "extern" and variable.init is None:
            raise invalid_ptx(f"line {variable.line}: the extern variable `{variable.name}` is not defined")
        return quoted("g.", variable.name)

    def function(self, name: str) -> Function | None:
        return self.module.functions.get(self.module.aliases.get(name, name))

    def function_address(self, name: str) -> str | None:
        function = self.function(name)
        if function is None or function.body is None:
            return None
        found = self.call_graph[function.name]
        if function.is_entry:
            raise invalid_ptx(f"line {function.line}: the address of the kernel `{name}` is not supported")
        if found.barrier or found.exits:
            raise invalid_ptx(
                f"line {function.line}: the address of `{name}` is taken, but it waits at a barrier or exits the "
                "thread; such functions can only be called by name"
            )
        return quoted("f.", function.name)
