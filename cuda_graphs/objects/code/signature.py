# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The types of kernel parameters, as code tells them.

Mangled names have full types. NVRTC mangles the type of a kernel that is declared `extern "C"` as well, as argument of
a template (program.py). PTX has the width of each parameter, and tells numbers from structures.
"""

from __future__ import annotations

import re
from typing import NamedTuple

FORMS = (
    "unknown", "int", "uint", "integer", "word", "float", "bfloat", "bool", "pointer", "complex", "class", "byte",
)  # fmt: skip
"""The names of ValueForm in core/resources/kernel_type.hpp, in its order."""


class Type(NamedTuple):
    """A KernelType of the handle layer, whose header has the fields."""

    text: str
    form: str = "unknown"
    size: int = 0
    element: str = "unknown"
    element_size: int = 0
    is_read_only: bool = False


# C++ name of a type, as the demangler writes it -> (form, bytes).
NUMBERS = {
    "bool": ("bool", 1),
    "char": ("int", 1), "signed char": ("int", 1), "unsigned char": ("uint", 1),
    "short": ("int", 2), "unsigned short": ("uint", 2),
    "int": ("int", 4), "unsigned int": ("uint", 4),
    "long": ("int", 8), "unsigned long": ("uint", 8),
    "long long": ("int", 8), "unsigned long long": ("uint", 8),
    "wchar_t": ("int", 4), "char8_t": ("uint", 1), "char16_t": ("uint", 2), "char32_t": ("uint", 4),
    "__half": ("float", 2), "__nv_bfloat16": ("bfloat", 2), "float": ("float", 4), "double": ("float", 8),
}  # fmt: skip
BYTES = ("char", "unsigned char", "std::byte", "cuda::std::byte")

# Patterns are compiled when they are needed first: a loaded graph needs none.
COMPLEX = r"(?:\b[Cc]omplex<(float|double)>|^(float|double)2)$"
VECTOR = r"^u?(char|short|int|long|longlong|float|double)[1-4]$"
"""CUDA's vector types, which hold numbers only."""

# PTX letter of a number -> its form.
PTX_FORMS = {"f": "float", "u": "integer", "s": "integer", "b": "unknown"}
PTX_TEXTS = {
    "float": "float of {} bytes", "integer": "integer of {} bytes", "word": "integer or pointer of {} bytes",
    "unknown": "{} bytes of unknown type", "class": "structure of {} bytes",
}  # fmt: skip
NUMBER = r"\.([usfb])(8|16|32|64)\b"
EXTENT = r"\[(\d+)\]\s*$"


def from_function(text: str) -> list[Type]:
    """Return the types of the parameters of a function, from its demangled name, or of a demangled function type."""
    return [from_cpp(each) for each in split(parameters_of(text)) if each != "void"]


def parameters_of(text: str) -> str:
    """Return the text in the last pair of parentheses."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] == ")") - (text[at] == "(")
        if text[at] == "(" and depth == 0:
            return text[at + 1 : -1]
    raise ValueError(f"{text!r} is not the name of a function with its parameters")


def split(text: str) -> list[str]:
    """Split a list at its outer commas."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "(<[{") - (letter in ")>]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def from_cpp(text: str) -> Type:
    """Return the Type of a C++ type that the demangler has written: ``float const*``."""
    if "(*" in text:  # a pointer to an array or to a function
        return Type(spelled(text), "pointer", 8)
    if text.endswith("*"):
        return pointer_to(text[:-1])
    if text in NUMBERS:
        return Type(text, *NUMBERS[text])
    number = re.search(COMPLEX, text)
    if number:
        return Type(text, "complex", 2 * NUMBERS[number[1] or number[2]][1])
    return Type(text, "class")


def pointer_to(text: str) -> Type:
    element = text.removesuffix(" volatile")
    is_const = element.endswith(" const")
    element = element.removesuffix(" const")
    form, size = NUMBERS.get(element, ("class", 0))
    is_plain = (
        element in NUMBERS
        or element in BYTES
        or bool(re.search(COMPLEX, element) or re.match(VECTOR, element))
    )
    form = "byte" if element in BYTES else form
    return Type(spelled(text + "*"), "pointer", 8, form, size, is_const and is_plain)


def spelled(text: str) -> str:
    """Write `const` before the type that it qualifies, as programmers do."""
    if text.endswith("*"):
        return spelled(text[:-1]) + "*"
    if text.endswith("* const"):
        return spelled(text.removesuffix(" const")) + " const"
    return f"const {text.removesuffix(' const')}" if text.endswith(" const") else text


def from_ptx(code: bytes, name: str) -> list[Type] | None:
    """Return the types of an entry of PTX text; None if there is no such entry, or if the code is no text."""
    if code.startswith(b"\x7f"):
        return None
    found = re.search(rb"\.entry\s+%b\s*(?:\(([^)]*)\))?" % re.escape(name.encode()), code)
    if found is None:
        return None
    marks_pointers = re.search(rb"\.ptr\b", code) is not None
    return [
        from_ptx_parameter(each, marks_pointers)
        for each in split_ptx((found[1] or b"").decode(errors="replace"))
    ]


def split_ptx(text: str) -> list[str]:
    return [part for part in re.sub(r"//[^\n]*", "", text).split(",") if part.strip()]


def from_ptx_parameter(text: str, marks_pointers: bool) -> Type:
    number, extent = re.search(NUMBER, text), re.search(EXTENT, text)
    if number is None:
        return Type("unknown type")
    size = int(number[2]) // 8
    if extent is not None:
        return ptx_type("class", size * int(extent[1]))
    if re.search(r"\.ptr\b", text):
        return Type("pointer to an unknown type", "pointer", size)
    form = PTX_FORMS[number[1]]
    return ptx_type("word" if form == "integer" and size == 8 and not marks_pointers else form, size)


def ptx_type(form: str, size: int) -> Type:
    return Type(PTX_TEXTS[form].format(size).replace(" 1 bytes", " 1 byte"), form, size)
