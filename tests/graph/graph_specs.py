# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""One specification for each way to make a node: how, which class and type it is, and what its properties say."""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import cuda_graphs as cg

CALLED = []


def python_callback():
    CALLED.append(1)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def c_callback(data):
    CALLED.append(data)


@dataclass
class Spec:
    """make(place, needs) adds the node; `values` are properties, or functions of the Needs that give them."""

    name: str
    cls: type
    type_name: str
    make: Callable[[Any, Any], Any]
    values: dict[str, Any] = field(default_factory=dict)
    repr: str = ""

    def expected(self, needs):
        return {name: value(needs) if callable(value) else value for name, value in self.values.items()}


@dataclass
class Needs:
    """The objects that nodes are made with."""

    definition: Any
    kernels: Any
    event: Any
    child: Any
    target: np.ndarray
    source: np.ndarray
    device: Any

    def condition(self):
        return self.definition.create_condition(default_value=0)


def address(array):
    return array.ctypes.data


def properties(node, leave_out=()):
    """Return name -> value of the properties of a node, without its neighbours."""
    names = [name for name in dir(type(node)) if is_property(type(node), name)]
    return {name: getattr(node, name) for name in names if name not in ("pred", "succ", *leave_out)}


def is_property(cls, name):
    return (
        not name.startswith("_")
        and hasattr(getattr(cls, name), "__get__")
        and not callable(getattr(cls, name))
    )


HANDLE = r"handle=0x[0-9a-f]+"
CONFIG = cg.LaunchConfig(grid=(2, 3), block=(4, 5, 6), shmem_size=128)

SPECS = [
    Spec("empty", cg.EmptyNode, "EMPTY", lambda g, n: g.join(), repr=f"<EmptyNode {HANDLE}>"),
    Spec(
        "kernel",
        cg.KernelNode,
        "KERNEL",
        lambda g, n: g.launch(CONFIG, n.kernels.add, address(n.target), 256, 1),
        {
            "grid": (2, 3, 1),
            "block": (4, 5, 6),
            "shmem_size": 128,
            "config": CONFIG,
            "kernel": lambda n: n.kernels.add,
        },
        f"<KernelNode {HANDLE} kernel=0x[0-9a-f]+>",
    ),
    Spec(
        "alloc",
        cg.AllocNode,
        "MEM_ALLOC",
        lambda g, n: g.alloc(1024),
        {
            "bytesize": 1024,
            "device_id": 0,
            "memory_type": "device",
            "peer_access": (),
            "options": cg.GraphAllocOptions(device=0),
        },
        f"<AllocNode {HANDLE} dptr=0x[0-9a-f]+ size=1024>",
    ),
    Spec(
        "alloc_managed",
        cg.AllocNode,
        "MEM_ALLOC",
        lambda g, n: g.alloc(512, memory_type="managed", device=n.device),
        {"bytesize": 512, "memory_type": "managed", "device_id": 0},
        f"<AllocNode {HANDLE} dptr=0x[0-9a-f]+ size=512>",
    ),
    Spec(
        "free",
        cg.FreeNode,
        "MEM_FREE",
        lambda g, n: (lambda memory: memory.free(memory.dptr))(g.alloc(64)),
        repr=f"<FreeNode {HANDLE} dptr=0x[0-9a-f]+>",
    ),
    Spec(
        "memset",
        cg.MemsetNode,
        "MEMSET",
        lambda g, n: g.memset(address(n.target), 42, 1024),
        {
            "dptr": lambda n: address(n.target),
            "value": 42,
            "element_size": 1,
            "width": 1024,
            "height": 1,
        },
        f"<MemsetNode {HANDLE} dptr=0x[0-9a-f]+ value=42>",
    ),
    Spec(
        "memset_u16",
        cg.MemsetNode,
        "MEMSET",
        lambda g, n: g.memset(address(n.target), b"\xab\xcd", 512),
        {"value": 0xCDAB, "element_size": 2, "width": 512},
        f"<MemsetNode {HANDLE} dptr=0x[0-9a-f]+ value={0xCDAB}>",
    ),
    Spec(
        "memset_u32",
        cg.MemsetNode,
        "MEMSET",
        lambda g, n: g.memset(address(n.target), np.float32(1.5), 256),
        {"value": 0x3FC00000, "element_size": 4, "width": 256},
        f"<MemsetNode {HANDLE} dptr=0x[0-9a-f]+ value={0x3FC00000}>",
    ),
    Spec(
        "memset_2d",
        cg.MemsetNode,
        "MEMSET",
        lambda g, n: g.memset(address(n.target), 0xFF, 100, 4, 256),
        {"value": 255, "element_size": 1, "width": 100, "height": 4, "pitch": 256},
        f"<MemsetNode {HANDLE} dptr=0x[0-9a-f]+ value=255>",
    ),
    Spec(
        "memcpy",
        cg.MemcpyNode,
        "MEMCPY",
        lambda g, n: g.memcpy(address(n.target), address(n.source), 1024),
        {"dst": lambda n: address(n.target), "src": lambda n: address(n.source), "size": 1024},
        rf"<MemcpyNode {HANDLE} dst=0x[0-9a-f]+\(H\) src=0x[0-9a-f]+\(H\) size=1024>",
    ),
    Spec(
        "memcpy_2d",
        cg.MemcpyNode,
        "MEMCPY",
        lambda g, n: g.memcpy(address(n.target), address(n.source), width=8, height=4, dst_pitch=32),
        {"size": 32, "width": 8, "height": 4, "depth": 1, "dst_pitch": 32, "src_pitch": 8},
        rf"<MemcpyNode {HANDLE} dst=0x[0-9a-f]+\(H\) src=0x[0-9a-f]+\(H\) size=32>",
    ),
    Spec(
        "memcpy_3d",
        cg.MemcpyNode,
        "MEMCPY",
        lambda g, n: g.memcpy(n.target.reshape(4, 8, 8)[:3, :2, :4], n.source.reshape(4, 8, 8)[1:, 2:4, 4:]),
        {"size": 96, "width": 16, "height": 2, "depth": 3, "dst_pitch": 32, "dst_height": 8, "src_height": 8},
        rf"<MemcpyNode {HANDLE} dst=0x[0-9a-f]+\(H\) src=0x[0-9a-f]+\(H\) size=96>",
    ),
    Spec(
        "child",
        cg.ChildGraphNode,
        "GRAPH",
        lambda g, n: g.embed(n.child),
        repr=f"<ChildGraphNode {HANDLE} child=0x[0-9a-f]+>",
    ),
    Spec(
        "callback",
        cg.HostCallbackNode,
        "HOST",
        lambda g, n: g.callback(python_callback),
        {"callback_fn": lambda n: python_callback},
        f"<HostCallbackNode {HANDLE} callback=python_callback>",
    ),
    Spec(
        "c_callback",
        cg.HostCallbackNode,
        "HOST",
        lambda g, n: g.callback(c_callback, user_data=b"\xab"),
        {"callback_fn": None},
        f"<HostCallbackNode {HANDLE} cfunc=0x[0-9a-f]+>",
    ),
    Spec(
        "record",
        cg.EventRecordNode,
        "EVENT_RECORD",
        lambda g, n: g.record_event(n.event),
        {"event": lambda n: n.event},
        f"<EventRecordNode {HANDLE} event=0x[0-9a-f]+>",
    ),
    Spec(
        "wait",
        cg.EventWaitNode,
        "WAIT_EVENT",
        lambda g, n: g.wait_event(n.event),
        {"event": lambda n: n.event},
        f"<EventWaitNode {HANDLE} event=0x[0-9a-f]+>",
    ),
    Spec(
        "if",
        cg.IfNode,
        "CONDITIONAL",
        lambda g, n: g.if_then(n.condition()),
        {"cond_type": "if"},
        f"<IfNode {HANDLE} condition=0x[0-9a-f]+>",
    ),
    Spec(
        "if_else",
        cg.IfElseNode,
        "CONDITIONAL",
        lambda g, n: g.if_else(n.condition()),
        {"cond_type": "if"},
        f"<IfElseNode {HANDLE} condition=0x[0-9a-f]+>",
    ),
    Spec(
        "while",
        cg.WhileNode,
        "CONDITIONAL",
        lambda g, n: g.while_loop(n.condition()),
        {"cond_type": "while"},
        f"<WhileNode {HANDLE} condition=0x[0-9a-f]+>",
    ),
    Spec(
        "switch",
        cg.SwitchNode,
        "CONDITIONAL",
        lambda g, n: g.switch(n.condition(), 4),
        {"cond_type": "switch"},
        f"<SwitchNode {HANDLE} condition=0x[0-9a-f]+>",
    ),
]
