# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The offsets of shared variables in a block's shared memory.

A variable that a device function names must have the same offset in every kernel. These variables come first, at
offsets that the whole module shares; the variables that only a kernel names follow. A kernel that uses no variable of
the first group starts at zero.
"""

from cuda_graphs.hostdriver.ptx.syntax.syntax import Function, Module, Variable

from .call_graph import FunctionSummary, reachable

# Bytes of each block's shared memory that a GPU reserves. Cooperative groups larger than a warp synchronise there.
RESERVED_BYTES, RESERVED_ALIGN = 1024, 128


def _is_dynamic(variable: Variable) -> bool:
    return variable.linkage == "extern" or variable.count == 0


def _place(variables: list[Variable], start: int, offsets: dict[Variable, int]) -> int:
    for variable in variables:
        if variable not in offsets and not _is_dynamic(variable):
            start = -(-start // variable.align) * variable.align
            offsets[variable] = start
            start += variable.bytes
    return start


class Layout:
    def __init__(self, module: Module, call_graph: dict[str, FunctionSummary]):
        self.call_graph = call_graph
        functions = module.functions
        self.common: dict[Variable, int] = {}
        self.reserved: dict[str, int] = {}  # offset of the reserved memory in kernels that read its address
        self.common_bytes = 0
        for name, found in call_graph.items():
            if not functions[name].is_entry:
                self.common_bytes = _place(list(found.shared), self.common_bytes, self.common)
        self.kernels: dict[str, tuple[dict[Variable, int], int]] = {}
        for function in functions.values():
            if function.is_entry:
                self.kernels[function.name] = self._of_kernel(function)

    def _of_kernel(self, kernel: Function) -> tuple[dict[Variable, int], int]:
        names = reachable(self.call_graph, kernel.name)
        used = {variable for name in names for variable in self.call_graph[name].shared}
        offsets = dict(self.common)
        start = self.common_bytes if used & self.common.keys() else 0
        own = list(self.call_graph[kernel.name].shared)
        end = _place(own, start, offsets)
        if any(self.call_graph[name].reserved for name in names):
            self.reserved[kernel.name] = -(-end // RESERVED_ALIGN) * RESERVED_ALIGN
            end = self.reserved[kernel.name] + RESERVED_BYTES
        return offsets, end

    def offset(self, kernel: Function | None, variable: Variable) -> int | None:
        """Returns the offset; None for dynamic shared memory, whose offset depends on the kernel."""
        if _is_dynamic(variable):
            return None
        offsets = self.kernels[kernel.name][0] if kernel is not None else self.common
        return offsets[variable]

    def static_bytes(self, kernel: Function) -> int:
        return self.kernels[kernel.name][1]

    def reserved_bytes(self, kernel: Function) -> int:
        return RESERVED_BYTES if kernel.name in self.reserved else 0

    def dynamic_offset(self, kernel: Function) -> int:
        return -(-self.static_bytes(kernel) // 16) * 16
