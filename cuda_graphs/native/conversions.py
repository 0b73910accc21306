# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Conversions of floats to integers in one module, in a form that LLVM 22.1 compiles.

LLVM's pass VectorCombine takes the saturating conversions of a float and of a double to one integer type for the same
operation, and then ends the process. A module with both gets conversions of doubles alone: each float is one, exactly.
"""

import re

__all__ = ["without_mixed_conversions"]

DECLARED = re.compile(
    r"^declare .+ @(llvm\.fpto[su]i\.sat\.(?:v\d+)?i\d+\.(?:v\d+)?)(f32|f64)\(", re.MULTILINE
)
# The result, its type, the name of the function up to the type of a number, the type of the operand, and the operand.
OF_FLOAT = re.compile(
    r"^( *%[\w.]+) = call (.+?) @(llvm\.fpto[su]i\.sat\.(?:v\d+)?i\d+\.(?:v\d+)?)f32\((float|<.+?>) (.+)\)$",
    re.MULTILINE,
)


def without_mixed_conversions(text: str) -> str:
    """Return the text of a module in which the conversions to each integer type have operands of one type."""
    declared = set(DECLARED.findall(text))
    kinds = {(re.sub(r"v\d+", "", stem), operand) for stem, operand in declared}
    if not any((stem, "f64") in kinds for stem, operand in kinds if operand == "f32"):
        return text
    missing: dict[str, str] = {}

    def widened(found: re.Match[str]) -> str:
        result, made, stem, operand, value = found.groups()
        wide = operand.replace("float", "double")
        if (stem, "f64") not in declared:
            missing[stem] = f"declare {made} @{stem}f64({wide})\n"
        name = f"{result.strip()}.wide"
        return (
            f"  {name} = fpext {operand} {value} to {wide}\n{result} = call {made} @{stem}f64({wide} {name})"
        )

    return OF_FLOAT.sub(widened, text) + "".join(missing.values())
