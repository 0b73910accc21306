# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Facts about all functions of a module, gathered before any function is lowered: callees, barriers, exits from inside
calls, shared variables, and the functions whose addresses are taken."""

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
ASKING = ("volatile", "relaxed", "acquire", "mmio")


@dataclass(slots=True)
class Facts:
    callees: set[str] = field(default_factory=set)
    shared: dict[Variable, None] = field(default_factory=dict)  # in the order of their first use
    barrier: bool = False  # it waits at a barrier, or for other lanes of the warp
    cluster: bool = False  # it waits for other blocks of the cluster, or accesses their memory
    warp: bool = False  # warps may be at different places: barrier_state.py
    polls: set[Instruction] = field(default_factory=set)  # backward branches of loops that poll memory
    exits: bool = False
    calls_pointer: bool = False
    has_local: bool = False
    reserved: bool = False  # it reads the address of the reserved shared memory
    addresses: set[str] = field(default_factory=set)  # functions whose address is taken


def gather(module: Module) -> dict[str, Facts]:
    facts = {name: _of_body(module, function) for name, function in module.functions.items()}
    taken = {
        item.name
        for variable in module.variables.values()
        for item in variable.init or ()
        if isinstance(item, Symbol) and item.name in module.functions
    }.union(*(found.addresses for found in facts.values()))
    for found in facts.values():
        if found.calls_pointer:
            found.callees |= taken
        found.addresses = taken
    for name in facts:
        _spread(facts, name)
    return facts


def _of_body(module: Module, function: Function) -> Facts:
    found = Facts()
    found.has_local = any(variable.space == "local" for variable in function.variables)
    for statement in function.body or ():
        if isinstance(statement, Instruction):
            _visit(module, found, statement)
    _find_polling(function, found)
    return found


def _find_polling(function: Function, found: Facts) -> None:
    """Records the backward branches of loops that poll memory, and whether the function needs resumable threads.

    A loop that loads memory may wait for another thread of the block, so it yields. A loop of atomic operations yields
    too, but it does not make threads resumable by itself: where threads run one after the other, a thread releases its
    lock before the next thread begins.
    """
    labels: dict[tuple[int, str], int] = {}
    asks: list[int] = []
    takes: list[int] = []
    for place, statement in enumerate(function.body or ()):
        if isinstance(statement, Label):
            labels[statement.scope, statement.name] = place
            continue
        name, *mods = statement.opcode.split(".")
        if name == "ld" and any(mod in ASKING for mod in mods):
            asks.append(place)
        elif name == "atom":
            takes.append(place)
        elif name == "bra" and isinstance(statement.operands[0], Symbol):
            target = statement.operands[0].name
            start = max((labels.get((scope, target), -1) for scope in statement.scopes), default=-1)
            waits = start >= 0 and bool(asks) and asks[-1] > start
            if waits or (start >= 0 and takes and takes[-1] > start):
                found.polls.add(statement)
            found.barrier |= waits
            found.warp |= waits


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


def _visit(module: Module, found: Facts, ins: Instruction) -> None:
    name = ins.opcode.partition(".")[0]
    if _is_of_cluster(ins.opcode):
        found.barrier = found.warp = found.cluster = True
    if name == "mbarrier" and "_wait" in ins.opcode:
        found.barrier = found.warp = True
    elif name in ("bar", "barrier") or name in WARP_INSTRUCTIONS:
        found.barrier = True
        found.warp |= name in WARP_INSTRUCTIONS or _is_partial(ins)
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


def _call(module: Module, found: Facts, ins: Instruction) -> None:
    target = next((operand for operand in ins.operands if not isinstance(operand, Group)), None)
    if isinstance(target, Symbol):
        found.callees.add(module.aliases.get(target.name, target.name))
    else:
        found.calls_pointer = True


def reachable(facts: dict[str, Facts], name: str) -> set[str]:
    """Returns `name` and every function that it may call, at any depth."""
    seen: set[str] = set()
    left = [name]
    while left:
        current = left.pop()
        if current not in seen and current in facts:
            seen.add(current)
            left += facts[current].callees
    return seen


def _spread(facts: dict[str, Facts], name: str) -> None:
    callees = reachable(facts, name)
    facts[name].barrier = any(facts[callee].barrier for callee in callees)
    facts[name].warp = any(facts[callee].warp for callee in callees)
    facts[name].cluster = any(facts[callee].cluster for callee in callees)
    facts[name].exits = any(facts[callee].exits for callee in callees)
