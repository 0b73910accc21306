# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The text of one LLVM function, while an emitter writes it."""

from __future__ import annotations

__all__ = ["FunctionText", "constant_string"]


class FunctionText:
    """Instructions, numbered registers, labels and stack slots. `line` adds an instruction, `let` one with a result.

    Args:
        declarations: The declarations of the module by name. The function adds those that it needs.
    """

    def __init__(self, declarations: dict[str, str]) -> None:
        self.declarations = declarations
        self.lines: list[str] = []
        self.slots: list[str] = []  # allocas, for the entry block
        self.count = 0  # of registers and labels

    def line(self, text: str) -> None:
        self.lines.append("  " + text)

    def let(self, text: str) -> str:
        register = self.register()
        self.lines.append(f"  {register} = {text}")
        return register

    def register(self) -> str:
        """Return a new register."""
        self.count += 1
        return f"%v{self.count}"

    def label(self, stem: str) -> str:
        """Return a new label."""
        self.count += 1
        return f"{stem}{self.count}"

    def start(self, label: str) -> None:
        """Begin a basic block."""
        self.lines.append(f"{label}:")

    def jump(self, label: str) -> None:
        self.line(f"br label %{label}")

    def jump_if(self, condition: str, then: str, otherwise: str) -> None:
        self.line(f"br i1 {condition}, label %{then}, label %{otherwise}")

    def start_unreachable(self) -> None:
        """Begin a block behind a terminator. The code up to the next label is never executed."""
        self.start(self.label("dead"))

    def slot(self, kind: str) -> str:
        """Return a pointer to new memory on the stack, of an LLVM type."""
        register = self.register()
        self.slots.append(f"  {register} = alloca {kind}")
        return register

    def declare(self, name: str, text: str) -> None:
        self.declarations.setdefault(name, text)

    def call(self, name: str, result: str, args: list[tuple[str, str]], flags: str = "") -> str:
        """Emit a call of a function outside the module, and declare it; return the result. `args`: (type, value)."""
        self._declare_function(name, result, args)
        return self.let(f"call {flags}{result} @{name}({_list(args)})")

    def call_void(self, name: str, args: list[tuple[str, str]]) -> None:
        """Emit a call without a result of a function outside the module, and declare it."""
        self._declare_function(name, "void", args)
        self.line(f"call void @{name}({_list(args)})")

    def _declare_function(self, name: str, result: str, args: list[tuple[str, str]]) -> None:
        self.declare(name, f"declare {result} @{name}({', '.join(kind for kind, _ in args)})")


def _list(args: list[tuple[str, str]]) -> str:
    return ", ".join(f"{kind} {value}" for kind, value in args)


def constant_string(text: str) -> str:
    """Return `[3 x i8] c"ab\\00"`, the type and the value of a string in UTF-8 that ends with a zero."""
    data = text.encode() + b"\0"
    escaped = "".join(chr(c) if 32 <= c < 127 and c not in b'"\\' else f"\\{c:02X}" for c in data)
    return f'[{len(data)} x i8] c"{escaped}"'
