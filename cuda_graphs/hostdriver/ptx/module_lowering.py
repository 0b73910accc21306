# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A parsed module -> LLVM IR text, and the description of its kernels and variables.

Every symbol gets a prefix (k. kernels, f. functions, g. variables), so that no name of a program can replace a C
library function that LLVM calls.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from cuda_graphs.hostdriver.ptx.abi import HIDDEN_SIGNATURE, METADATA, SERVICES
from cuda_graphs.hostdriver.ptx.analysis import call_graph, parallel
from cuda_graphs.hostdriver.ptx.errors import ImageError, invalid_ptx
from cuda_graphs.hostdriver.ptx.lowering import entry
from cuda_graphs.hostdriver.ptx.lowering.function import FunctionLowering, located
from cuda_graphs.hostdriver.ptx.lowering.instrumentation import NOTHING, Wants
from cuda_graphs.hostdriver.ptx.lowering.module_context import ModuleContext, quoted
from cuda_graphs.hostdriver.ptx.lowering.services import TABLE
from cuda_graphs.hostdriver.ptx.lowering.table import Refused, decode_instruction
from cuda_graphs.hostdriver.ptx.ops import load_all
from cuda_graphs.hostdriver.ptx.ops.calls import result_type, scalar_type
from cuda_graphs.hostdriver.ptx.syntax import limits
from cuda_graphs.hostdriver.ptx.syntax.syntax import (
    FloatImmediate,
    Function,
    Immediate,
    Instruction,
    Module,
    Symbol,
    Variable,
)

load_all()

DEVICE_ARCHITECTURE = 90  # the host driver's compute capability, 9.0


@dataclass
class KernelInfo:
    name: str
    symbol: str
    params: list[tuple[int, int]]
    param_bytes: int
    static_shared_bytes: int
    local_bytes: int
    const_bytes: int
    registers: int
    max_threads_per_block: int
    required_block: tuple[int, int, int]
    uses_barrier: int
    uses_cluster: int
    required_cluster: tuple[int, int, int]
    ptx_version: int
    binary_version: int
    is_open_ended: int
    is_instrumented: int


@dataclass
class Lowered:
    """A lowered module: its IR, and the contents of the C structs (the cache stores `description` as JSON)."""

    ir: str
    kernels: list[KernelInfo] = field(default_factory=list)
    globals: list[tuple[str, str, int]] = field(default_factory=list)  # name, symbol, bytes

    def description(self) -> dict:
        return {"kernels": [asdict(kernel) for kernel in self.kernels], "globals": self.globals}


def check_instructions(module: Module) -> None:
    """Checks every instruction against its row, so that the analyses may trust the number of operands."""
    for function in module.functions.values():
        for statement in function.body or ():
            if isinstance(statement, Instruction):
                try:
                    decode_instruction(statement)
                except Refused as refused:
                    raise located(function, statement, str(refused)) from None


class ModuleLowering:
    """Lowers a parsed module."""

    def __init__(self, module: Module, wants: Wants = NOTHING):
        check_instructions(module)
        self.context = ModuleContext(module, wants)

    def lower(self) -> Lowered:
        lowered = Lowered("")
        limits.check_variables([v for v in self.context.module.variables.values() if _has_memory(v)])
        parts = [self._variable(variable) for variable in self.context.module.variables.values()]
        lowered.globals = [
            (name, f"g.{variable.name}", variable.bytes)
            for name, variable in self.context.module.variables.items()
            if _has_memory(variable)
        ]
        for function in self.context.module.functions.values():
            if function.body is None:
                continue
            if function.is_entry:
                info, text = self._kernel(function)
                lowered.kernels.append(info)
                parts.append(text)
            elif not self.context.call_graph[function.name].is_inlined:
                parts.append(self._function(function))
        parts += [self.context.prelude.text(), self.context.sites.text()]
        table = f"@{TABLE} = global [{len(SERVICES)} x ptr] zeroinitializer"
        lowered.ir = "\n".join([table, *parts, *self._footer()])
        return lowered

    def _footer(self) -> list[str]:
        return [*self.context.declarations.values(), *METADATA, *self.context.metadata, ""]

    def _function(self, function: Function) -> str:
        """Lowers a device function. It takes the hidden arguments, scalars as integers, and arrays by address.

        A function that may end the thread writes 1 to `%exited` then.
        """
        lowering = FunctionLowering(self.context, function)
        args = [HIDDEN_SIGNATURE]
        for number, variable in enumerate(function.params):
            kind = scalar_type(variable)
            args.append(f"{kind} %arg{number}")
            if kind == "ptr":
                lowering.frame.objects[variable] = f"%arg{number}"
            else:
                lowering.bind_argument(variable, f"%arg{number}", kind)
        result = result_type(function)
        if result == "void" and function.returns:
            args.append("ptr %result")
            lowering.frame.objects[function.returns[0]] = "%result"
        if self.context.call_graph[function.name].exits:
            args.append("ptr %exited")
        lowering.lower_body("return")
        lowering.start("return")
        if result == "void":
            lowering.line("ret void")
        else:
            lowering.line(f"ret {result} {lowering.result_value(function.returns[0], result)}")
        name = quoted("f.", function.name)
        return (
            f"define internal {result} {name}({', '.join(args)}) nounwind {{\nentry:\n{lowering.text()}\n}}\n"
        )

    def _kernel(self, function: Function) -> tuple[KernelInfo, str]:
        resumable = self.context.call_graph[function.name].barrier
        params, param_bytes = entry.param_offsets(function)
        divergent = self.context.call_graph[function.name].divergent
        lowering = FunctionLowering(self.context, function, resumable=resumable, divergent=divergent)
        no_local = not any(
            self.context.call_graph[name].has_local
            for name in call_graph.reachable(self.context.call_graph, function.name)
        )
        watched = resumable or self.context.wants.accesses
        lowering.parallel = not watched and parallel.loads_precede_stores(function, lowering.frame.pointers)
        lowering.parallel_generic = lowering.parallel and no_local
        build = entry.resumable_kernel if resumable else entry.plain_kernel
        text = build(lowering, function, params, param_bytes)
        shared = self.context.layout.static_bytes(function)
        local = sum(v.bytes for v in function.variables if v.space == "local")
        limits.check_kernel(
            function, shared - self.context.layout.reserved_bytes(function), local, param_bytes
        )
        info = KernelInfo(
            name=function.name,
            symbol=f"k.{function.name}",
            params=params,
            param_bytes=param_bytes,
            static_shared_bytes=shared,
            local_bytes=local,
            const_bytes=sum(v.bytes for v in self.context.module.variables.values() if v.space == "const"),
            registers=_registers(function),
            max_threads_per_block=_max_threads(function),
            required_block=_extents(function, "reqntid"),
            uses_barrier=int(resumable),
            uses_cluster=int(self.context.call_graph[function.name].cluster),
            required_cluster=_extents(function, "reqnctapercluster"),
            ptx_version=architecture(self.context.module),
            binary_version=DEVICE_ARCHITECTURE,
            is_open_ended=int(self.context.call_graph[function.name].is_open_ended),
            is_instrumented=int(self.context.wants.accesses),
        )
        return info, text

    def _variable(self, variable: Variable) -> str:
        """Returns e.g. `@"g.tab" = global <{ [8 x i8], i64 }> <{ ... }>, align 8`: pieces of bytes and addresses."""
        if not _has_memory(variable):
            return ""
        name = quoted("g.", variable.name)
        if variable.init is None:
            return f"{name} = global <{{ [{variable.bytes} x i8] }}> zeroinitializer, align {variable.align}"
        pieces: list[tuple[str, str]] = []
        data = bytearray()
        for item in variable.init:
            if isinstance(item, Symbol):
                pieces += (
                    [_bytes(data), ("i64", self._address_constant(variable, item))]
                    if data
                    else [("i64", self._address_constant(variable, item))]
                )
                data = bytearray()
            else:
                data += _element(variable, item)
        used = sum(8 if kind == "i64" else int(kind[1:].split(" ")[0]) for kind, _ in pieces) + len(data)
        data += bytes(variable.bytes - used)
        if data or not pieces:
            pieces.append(_bytes(data))
        kinds = ", ".join(kind for kind, _ in pieces)
        values = ", ".join(f"{kind} {value}" for kind, value in pieces)
        return f"{name} = global <{{ {kinds} }}> <{{ {values} }}>, align {variable.align}"

    def _address_constant(self, variable: Variable, symbol: Symbol) -> str:
        if variable.type.total_bits != 64:
            raise invalid_ptx(f"line {variable.line}: the address in `{variable.name}` needs 64 bits")
        target = self.context.variable(symbol.name)
        if target is not None and target.space == "shared":
            raise invalid_ptx(f"line {variable.line}: `{symbol.name}` is shared and has no constant address")
        name = (
            self.context.global_name(target)
            if target is not None
            else self.context.function_address(symbol.name)
        )
        if name is None:
            raise invalid_ptx(f"line {variable.line}: `{symbol.name}` is not declared")
        return f"ptrtoint (ptr getelementptr (i8, ptr {name}, i64 {symbol.offset}) to i64)"


def architecture(module: Module) -> int:
    digits = "".join(c for c in module.target.partition("_")[2] if c.isdigit())
    if not digits:
        raise invalid_ptx(f"the target `{module.target}` is not understood")
    return int(digits)


def _has_memory(variable: Variable) -> bool:
    return variable.space in ("global", "const") and not (
        variable.linkage == "extern" and variable.init is None
    )


def _extents(function: Function, limit: str) -> tuple[int, int, int]:
    """Returns the three extents of a directive, or zeros if the function does not have it."""
    x, y, z = (*function.limits[limit], 1, 1, 1)[:3] if function.limits.get(limit) else (0, 0, 0)
    return x, y, z


def _registers(function: Function) -> int:
    """Returns an estimate of the registers, within .maxnreg."""
    (most,) = function.limits.get("maxnreg") or (255,)
    return max(1, min(255, most, max(8, 8 + function.register_bits // 128)))


def _max_threads(function: Function) -> int:
    limits = function.limits.get("reqntid") or function.limits.get("maxntid")
    product = 1
    for limit in limits or (1024,):
        product *= limit
    return min(product, 1024)


def _bytes(data: bytearray) -> tuple[str, str]:
    if not any(data):
        return f"[{len(data)} x i8]", "zeroinitializer"
    return f"[{len(data)} x i8]", 'c"' + "".join(f"\\{byte:02X}" for byte in data) + '"'


def _element(variable: Variable, item: object) -> bytes:
    import struct

    size = variable.type.bytes
    if isinstance(item, Immediate):
        if variable.type.kind == "f":
            code = {2: "e", 4: "f", 8: "d"}[size]
            return struct.pack("<" + code, float(item.value))
        return (item.value & (1 << 8 * size) - 1).to_bytes(size, "little")
    if not isinstance(item, FloatImmediate) or variable.type.kind != "f" or variable.type.lanes != 1:
        raise ImageError(218, f"line {variable.line}: an initialiser of `{variable.name}` is not understood")
    if item.width == 8 * size:
        return item.bits.to_bytes(size, "little")
    source = (
        struct.unpack("<d", item.bits.to_bytes(8, "little"))[0]
        if item.width == 64
        else struct.unpack("<f", item.bits.to_bytes(4, "little"))[0]
    )
    return struct.pack("<" + {2: "e", 4: "f", 8: "d"}[size], source)
