# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Lowers one function body to LLVM IR text.

A PTX register becomes a stack slot that LLVM's SROA turns into SSA. 64-bit registers that hold pointers have slots of
type ptr (`pointers.py`), because LLVM's loop analyses understand getelementptr but not inttoptr.

Generic, global, const, local and param addresses are real addresses. A shared address is an offset in the block's
shared memory, 32 or 64 bits wide, so `cvta.shared` adds the block's base.

The launch, the shared memory and the indices reach the code as hidden arguments. A resumable function reads them from
the block record instead, so that the frames of threads need not hold them.
"""

from __future__ import annotations

from cuda_graphs.hostdriver.ptx.abi import BLOCK
from cuda_graphs.hostdriver.ptx.analysis import pointers
from cuda_graphs.hostdriver.ptx.errors import ImageError, invalid_ptx
from cuda_graphs.hostdriver.ptx.syntax.datatypes import LLVM_BITS, Type
from cuda_graphs.hostdriver.ptx.syntax.syntax import (
    SINK,
    FloatImmediate,
    Function,
    Immediate,
    Instruction,
    Label,
    Register,
    Special,
    Symbol,
    Variable,
)
from cuda_graphs.native.function_text import FunctionText

from .module_context import ModuleContext
from .rematerialisation import Chains
from .table import SPECIAL, Refused, decode_instruction


class Frame:
    """The state of one function while it is lowered: the outermost function, or a function inlined into it."""

    def __init__(self, function: Function, number: int):
        self.function = function
        self.number = number
        self.slots: dict[Register, tuple[str, str]] = {}
        self.storage: dict[str, str] = {}  # parameters and variables by name
        self.objects: dict[Variable, str] = {}
        self.labels = {(s.scope, s.name) for s in function.body or () if isinstance(s, Label)}
        self.pointers = pointers.find(function)
        self.return_label = ""


class FunctionLowering(FunctionText):
    """Lowers one function. `lines` is the IR of the body; `slots` and then `prologue` precede it."""

    def __init__(
        self, module: ModuleContext, function: Function, *, resumable: bool = False, divergent: bool = False
    ):
        super().__init__(module.declarations)
        self.module = module
        self.resumable = resumable
        self.clustered = module.call_graph[function.name].cluster
        self.divergent = divergent  # warps may be at different places: barrier_state.py
        self.kernel = function if function.is_entry else None
        self.prologue: list[str] = []
        self.instruction: Instruction | None = None
        self.frame = Frame(function, 0)
        self.frames = [self.frame]
        self.frame_count = 0
        self.chains = Chains()
        self.parallel = False  # accesses of different threads may be marked as independent
        self.parallel_generic = False
        self.never_taken: Instruction | None = None  # the guard's branch, when no thread here takes it

    def fail(self, why: str) -> Refused:
        return Refused(why)

    def exit_thread(self) -> None:
        """Branches to the end of the LLVM function: that of the kernel, or of a function that calls itself."""
        if self.kernel is None:
            self.line("store i8 1, ptr %exited")
        self.jump(self.frames[0].return_label)

    # ---- values ----

    def convert(self, value: str, source: str, target: str, signed: bool = False) -> str:
        """Converts between LLVM types by bits: equal sizes are reinterpreted, integers are resized."""
        if source == target:
            return value
        if "ptr" in (source, target):
            if source == "ptr":
                value = self.let(f"ptrtoint ptr {value} to i64")
                return self.convert(value, "i64", target)
            value = self.convert(value, source, "i64", signed)
            return self.let(f"inttoptr i64 {value} to ptr")
        have, want = LLVM_BITS[source], LLVM_BITS[target]
        if have == want:
            return self.let(f"bitcast {source} {value} to {target}")
        if source[0] != "i":
            return self.convert(self.let(f"bitcast {source} {value} to i{have}"), f"i{have}", target, signed)
        if target[0] != "i":
            return self.convert(self.convert(value, source, f"i{want}", signed), f"i{want}", target)
        verb = "trunc" if have > want else "sext" if signed else "zext"
        return self.let(f"{verb} {source} {value} to {target}")

    def read(self, operand: object, kind: str) -> str:
        """Returns an operand as a value of an LLVM type."""
        if isinstance(operand, Register):
            slot, storage = self.register_slot(operand)
            if LLVM_BITS[storage] < LLVM_BITS[kind]:
                raise self.fail(f"register {operand.name} is narrower than the instruction")
            self.chains.reads((slot, storage))
            return self.convert(self.let(f"load {storage}, ptr {slot}"), storage, kind)
        if isinstance(operand, Immediate):
            return self._integer(operand.value, kind)
        if isinstance(operand, FloatImmediate):
            return self._float(operand, kind)
        if isinstance(operand, Special):
            value, found = self.special(operand.name)
            return self.convert(value, found, kind)
        if isinstance(operand, Symbol):
            value, found = self.symbol(operand)
            return self.convert(value, found, kind)
        raise self.fail(f"an operand of kind {type(operand).__name__.lower()} is not allowed here")

    def special(self, name: str) -> tuple[str, str]:
        """Returns the value of a special register: (value, LLVM type)."""
        read = SPECIAL.get(name)
        if read is None:
            raise self.fail(f"the special register or name {name} is not supported")
        return read(self)

    def _integer(self, value: int, kind: str) -> str:
        if kind == "i1":
            return "true" if value else "false"
        if kind == "ptr":
            return f"inttoptr (i64 {value & (1 << 64) - 1} to ptr)"
        if kind[0] != "i":
            raise self.fail("expected a floating point number, got an integer")
        bits = LLVM_BITS[kind]
        value &= (1 << bits) - 1
        return str(value - (1 << bits) if value >> (bits - 1) else value)

    def _float(self, number: FloatImmediate, kind: str) -> str:
        if kind[0] == "i" and kind != "i1":
            bits = number.bits if LLVM_BITS[kind] == number.width else None
        else:
            bits = number.bits
        if bits is None or kind not in ("float", "double", "i32", "i64"):
            raise self.fail("a floating point number is not allowed here")
        if kind[0] == "i":
            return str(bits)
        if kind == "float" and number.width == 64:
            return self.let(f"fptrunc double bitcast (i64 {bits} to double) to float")
        # A 0f literal where a double is expected is the low bits of the double, not its value (ptxas of CUDA 13.0).
        return f"bitcast (i{LLVM_BITS[kind]} {bits} to {kind})"

    def write(self, operand: object, value: str, kind: str, signed: bool = False) -> None:
        """Stores a value of an LLVM type in a register; a wider register is extended, by sign if `signed`."""
        if operand is SINK:
            return
        if not isinstance(operand, Register):
            raise self.fail("the destination is not a register")
        slot, storage = self.register_slot(operand)
        if LLVM_BITS[storage] < LLVM_BITS[kind]:
            raise self.fail(f"register {operand.name} is narrower than the result")
        self.chains.writes((slot, storage))
        value = self.convert(value, kind, storage, signed)
        self.line(f"store {storage} {value}, ptr {slot}")

    def put(self, operand: object, value: str, kind: Type) -> None:
        self.write(operand, value, kind.value, kind.signed)

    def register_slot(self, register: Register) -> tuple[str, str]:
        found = self.frame.slots.get(register)
        if found is None:
            storage = "ptr" if register in self.frame.pointers else register.type.storage
            if register.type.kind == "pred":
                storage = "i1"
            name = self.slot(storage)
            # A register that is read before it is written has an unspecified value; this one has zero.
            self.do_at_entry(f"store {storage} {'null' if storage == 'ptr' else zero(storage)}, ptr {name}")
            found = self.frame.slots[register] = (name, storage)
        return found

    def do_at_entry(self, text: str) -> None:
        self.prologue.append("  " + text)

    def text(self) -> str:
        return "\n".join(self.slots + self.prologue + self.lines)

    def cut_chains(self) -> None:
        """Limits the recomputation of values after the suspension point that follows (rematerialisation.py)."""
        for slot, storage in self.chains.cut():
            bits = LLVM_BITS[storage]
            if bits <= 64:
                kind = storage if storage == "ptr" else "i64" if bits == 64 else "i32"
                value = self.convert(self.let(f"load {storage}, ptr {slot}"), storage, kind)
                kept = self.let(
                    f'call {kind} asm "", "=r,0"({kind} {value}) nounwind willreturn memory(none)'
                )
                self.line(f"store {storage} {self.convert(kept, kind, storage)}, ptr {slot}")

    def bind_argument(self, variable: Variable, value: str, kind: str) -> None:
        """Stores a scalar argument in its parameter."""
        register = self.frame.function.register_params.get(variable.name)
        if register is not None:
            slot, storage = self.register_slot(register)
            saved, self.lines = self.lines, self.prologue
            self.line(f"store {storage} {self.convert(value, kind, storage)}, ptr {slot}")
            self.lines = saved
        else:
            self.do_at_entry(f"store {kind} {value}, ptr {self.storage(variable)}")

    def result_value(self, variable: Variable, kind: str) -> str:
        register = self.frame.function.register_params.get(variable.name)
        if register is not None:
            return self.read(register, kind)
        return self.let(f"load {kind}, ptr {self.storage(variable)}")

    def holds_pointer(self, operand: object) -> bool:
        if isinstance(operand, Register):
            return operand in self.frame.pointers
        return isinstance(operand, Symbol) and self.symbol_space(operand) != "shared"

    # ---- names ----

    def symbol_space(self, symbol: Symbol) -> str:
        if symbol.variable is not None:
            return symbol.variable.space
        variable = self.module.variable(symbol.name)
        return variable.space if variable is not None else "function"

    def symbol(self, symbol: Symbol) -> tuple[str, str]:
        """Returns the address of a variable or function: (value, LLVM type); for shared memory, its offset."""
        variable = symbol.variable or self.module.variable(symbol.name)
        if variable is None:
            name = self.module.function_address(symbol.name)
            if name is None:
                raise self.fail(f"`{symbol.name}` is not declared")
            return name, "ptr"
        if variable.space == "shared":
            offset = self.module.layout.offset(self.kernel, variable)
            if offset is not None:
                return str(offset + symbol.offset), "i32"
            dyn = self.hidden("dyn")
            return (self.let(f"add i32 {dyn}, {symbol.offset}") if symbol.offset else dyn), "i32"
        base = self.storage(variable)
        if symbol.offset:
            base = self.let(f"getelementptr i8, ptr {base}, i64 {symbol.offset}")
        return base, "ptr"

    def storage(self, variable: Variable) -> str:
        """Returns the pointer to a variable's memory."""
        if variable.space in ("global", "const"):
            return self.module.global_name(variable)
        for frame in (self.frame, *reversed(self.frames)):
            found = frame.objects.get(variable)
            if found is not None:
                return found
        if variable.space in ("local", "param"):
            found = self.slot(f"[{max(1, variable.bytes)} x i8], align {max(variable.align, 1)}")
            self.frame.objects[variable] = found
            return found
        raise self.fail(f"`{variable.name}` has no address")

    def hidden(self, name: str) -> str:
        if not self.resumable or name in ("block", "tid.x", "tid.y", "tid.z"):
            return f"%{name}"
        return self.block_field(name)

    def block_field(self, name: str) -> str:
        offset, kind = BLOCK[name]
        at = self.let(f"getelementptr i8, ptr %block, i64 {offset}")
        return self.let(f"load {kind}, ptr {at}")

    # ---- instrumentation ----

    def report_access(self, pointer: str, size: int | str, flags: int) -> None:
        """Emits a call that reports an access of the current instruction, if the driver asks for it.

        `size` may be a 64-bit register. A fence has no address.
        """
        ins = self.instruction
        if not self.module.wants.accesses or ins is None:
            return
        number, line = ins.location or (0, 0)
        file = self.module.module.files.get(number, "")
        site = self.module.sites.site(file, line, ins.line, ins.opcode, flags)
        indices = (f"i32 {self.hidden(f'{name}.{axis}')}" for name in ("tid", "ctaid") for axis in "xyz")
        values = ", ".join((f"ptr {pointer}", f"i64 {size}", f"ptr {site}", *indices))
        self.lines.append(self.module.services.call("", "access", "void", values))

    # ---- statements ----

    def branch_target(self, name: str, scopes: tuple[int, ...]) -> str:
        for scope in reversed(scopes):
            if (scope, name) in self.frame.labels:
                return self.label_name(name, scope)
        raise self.fail(f"the label `{name}` is not defined")

    def label_name(self, name: str, scope: int) -> str:
        return f'"L{self.frame.number}.{scope}.{name}"'

    def lower_body(self, after: str) -> None:
        """Lowers the statements of the current frame; `ret` and the end of the body go to the label `after`."""
        self.frame.return_label = after
        for statement in self.frame.function.body or ():
            if isinstance(statement, Label):
                label = self.label_name(statement.name, statement.scope)
                self.jump(label)
                self.start(label)
            else:
                self._instruction(statement)
        self.jump(after)

    def _instruction(self, ins: Instruction) -> None:
        self.instruction = ins
        self.chains.begin()
        try:
            found, op = decode_instruction(ins)
            if ins.guard is None or ins.opcode.startswith("bra"):
                found.lower(self, op, ins.operands)
                return
            then, done = self.label("then"), self.label("done")
            condition = self.read(ins.guard, "i1")
            self.jump_if(condition, *((done, then) if ins.negated else (then, done)))
            self.start(then)
            found.lower(self, op, ins.operands)
            self.jump(done)
            self.start(done)
        except Refused as refused:
            raise located(self.frame.function, ins, str(refused)) from None


def located(function: Function, ins: Instruction, why: str) -> ImageError:
    what = "kernel" if function.is_entry else "function"
    return invalid_ptx(f"line {ins.line}: `{ins.opcode}` in {what} `{function.name}`: {why}")


def zero(storage: str) -> str:
    return "0" if storage[0] == "i" and storage != "i1" else "false" if storage == "i1" else "0.0"
