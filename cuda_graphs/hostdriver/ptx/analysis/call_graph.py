# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The call graph of a module, with a summary of each function: callees, barriers, exits from inside calls, shared
variables, and the functions whose addresses are taken. It is made before any function is lowered."""

from dataclasses import dataclass, field

from cuda_graphs.hostdriver.ptx.syntax.syntax import (
    Function,
    Group,
    Immediate,
    Instruction,
    Label,
    Module,
    Special,
    Symbol,
    Variable,
)

# Instructions that wait for other lanes, or yield to them.
WARP_INSTRUCTIONS = ("shfl", "vote", "redux", "match", "activemask", "elect", "nanosleep")
# Modifiers of loads whose value another thread may change at any time. Such a load in a loop waits for that thread.
POLLING = ("volatile", "relaxed", "acquire", "mmio")


@dataclass(slots=True)
class FunctionSummary:
    callees: set[str] = field(default_factory=set)
    shared: dict[Variable, None] = field(default_factory=dict)  # in the order of their first use
    barrier: bool = False  # it waits at a barrier, or for other lanes of the warp
    cluster: bool = False  # it waits for other blocks of the cluster, or accesses their memory
    divergent: bool = False  # warps may be at different places: barrier_state.py
    polls: set[Instruction] = field(default_factory=set)  # backward branches of loops that poll memory
    is_open_ended: bool = False  # it polls memory, so it may run for any time
    exits: bool = False
    recurses: bool = False  # it may call itself, directly or not
    calls_pointer: bool = False
    has_local: bool = False
    reserved: bool = False  # it reads the address of the reserved shared memory
    addresses: set[str] = field(default_factory=set)  # functions whose address is taken

    @property
    def is_inlined(self) -> bool:
        """Whether the function becomes part of each caller. A call tells its caller only that the thread has ended."""
        return self.barrier or (self.exits and not self.recurses)


def summarise(module: Module) -> dict[str, FunctionSummary]:
    summaries = {name: _of_body(module, function) for name, function in module.functions.items()}
    taken = {
        item.name
        for variable in module.variables.values()
        for item in variable.init or ()
        if isinstance(item, Symbol) and item.name in module.functions
    }.union(*(found.addresses for found in summaries.values()))
    for found in summaries.values():
        if found.calls_pointer:
            found.callees |= taken
        found.addresses = taken
    for name in summaries:
        _propagate(summaries, name)
    return summaries


def _of_body(module: Module, function: Function) -> FunctionSummary:
    found = FunctionSummary()
    found.has_local = any(variable.space == "local" for variable in function.variables)
    for statement in function.body or ():
        if isinstance(statement, Instruction):
            _visit(module, found, statement)
    _find_polling(function, found)
    return found


def _find_polling(function: Function, found: FunctionSummary) -> None:
    """Records the backward branches of loops that poll memory, and whether the function needs resumable threads.

    A loop that loads memory may wait for another thread of the block, so it yields. A loop of atomic operations yields
    too, but it does not make threads resumable by itself: where threads run one after the other, a thread releases its
    lock before the next thread begins.
    """
    labels: dict[tuple[int, str], int] = {}
    polled: list[int] = []
    taken: list[int] = []
    for place, statement in enumerate(function.body or ()):
        if isinstance(statement, Label):
            labels[statement.scope, statement.name] = place
            continue
        name, *mods = statement.opcode.split(".")
        if name == "ld" and any(mod in POLLING for mod in mods):
            polled.append(place)
        elif name == "atom":
            taken.append(place)
        elif name == "bra" and isinstance(statement.operands[0], Symbol):
            target = statement.operands[0].name
            start = max((labels.get((scope, target), -1) for scope in statement.scopes), default=-1)
            waits = start >= 0 and bool(polled) and polled[-1] > start
            if waits or (start >= 0 and taken and taken[-1] > start):
                found.polls.add(statement)
            found.barrier |= waits
            found.divergent |= waits
            found.is_open_ended |= waits


def _is_of_cluster(opcode: str) -> bool:
    name, _, rest = opcode.partition(".")
    return (name == "barrier" and rest.startswith("cluster")) or "shared::cluster" in rest or name == "mapa"


def _is_partial(ins: Instruction) -> bool:
    """Returns whether some threads of the block may skip the barrier, or use it in another way."""
    return (
        any(part in ins.opcode for part in (".warp", ".red", ".arrive"))
        or len(ins.operands) != 1
        or not isinstance(ins.operands[0], Immediate)
    )


def _visit(module: Module, found: FunctionSummary, ins: Instruction) -> None:
    name = ins.opcode.partition(".")[0]
    if _is_of_cluster(ins.opcode):
        found.barrier = found.divergent = found.cluster = True
    if name == "mbarrier" and "_wait" in ins.opcode:
        found.barrier = found.divergent = True
    elif name in ("bar", "barrier") or name in WARP_INSTRUCTIONS:
        found.barrier = True
        found.divergent |= name in WARP_INSTRUCTIONS or _is_partial(ins)
    elif name == "exit":
        found.exits = True
    elif name == "call":
        _call(module, found, ins)
    elif name == "mov" and isinstance(ins.operands[-1], Symbol):
        symbol = ins.operands[-1]
        if symbol.name in module.functions and symbol.variable is None:
            found.addresses.add(symbol.name)
        if symbol.variable is not None and symbol.variable.space in ("param", "local"):
            found.has_local = True  # a parameter whose address is taken may be local memory of a caller
    for operand in ins.operands:
        if isinstance(operand, Special) and operand.name.startswith("%reserved_smem"):
            found.reserved = found.barrier = True  # forces inlining: the kernel must be known
        symbol = getattr(operand, "base", operand)
        if isinstance(symbol, Symbol):
            variable = symbol.variable or module.variables.get(symbol.name)
            if variable is not None and variable.space == "shared":
                found.shared[variable] = None


def _call(module: Module, found: FunctionSummary, ins: Instruction) -> None:
    target = next((operand for operand in ins.operands if not isinstance(operand, Group)), None)
    if isinstance(target, Symbol):
        found.callees.add(module.aliases.get(target.name, target.name))
    else:
        found.calls_pointer = True


def reachable(summaries: dict[str, FunctionSummary], name: str) -> set[str]:
    """Returns `name` and every function that it may call, at any depth."""
    seen: set[str] = set()
    left = [name]
    while left:
        current = left.pop()
        if current not in seen and current in summaries:
            seen.add(current)
            left += summaries[current].callees
    return seen


def _propagate(summaries: dict[str, FunctionSummary], name: str) -> None:
    callees = reachable(summaries, name)
    summaries[name].recurses = any(name in reachable(summaries, each) for each in summaries[name].callees)
    summaries[name].barrier = any(summaries[callee].barrier for callee in callees)
    summaries[name].divergent = any(summaries[callee].divergent for callee in callees)
    summaries[name].cluster = any(summaries[callee].cluster for callee in callees)
    summaries[name].is_open_ended = any(summaries[callee].is_open_ended for callee in callees)
    summaries[name].exits = any(summaries[callee].exits for callee in callees)
