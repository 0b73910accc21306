# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Docstrings of this package as Markdown.

A docstring is divided by its empty lines. A part is a section ("Args:" and indented entries), columns (names, at least
two spaces, texts that are aligned), a list, indented code, or prose.
"""

import re
from collections.abc import Iterator

SECTION = re.compile(r"^(Args|Returns|Yields|Raises|Attributes|Examples?):$")
ENTRY = re.compile(r"^(\*{0,2}[\w.]+(?:, \*{0,2}[\w.]+)*): (.*)$")
COLUMNS = re.compile(r"^(\S+(?: \S+)*?)(?:  +)(\S.*)$")
CODE = re.compile(r"(``.+?``|`[^`]+`)")
SPECIAL = re.compile(r"([*_<\[\]$|~#])")


def prose(text: str) -> str:
    """Return a text in one line with the characters escaped that Markdown would take for its own."""
    parts = CODE.split(" ".join(text.split()))
    parts[::2] = [SPECIAL.sub(r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def parts(text: str) -> Iterator[list[str]]:
    """Yield the parts between empty lines. A line that is indented after a section or code belongs to it."""
    found: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line:
            found.append(line)
        elif found:
            yield found
            found = []


def dedent(lines: list[str]) -> list[str]:
    margin = min(len(line) - len(line.lstrip()) for line in lines)
    return [line[margin:] for line in lines]


def gathered(lines: list[str], pattern: re.Pattern[str]) -> list[tuple[str, str]]:
    """Return pairs of a name and its text. A line that is indented or does not match continues the text."""
    rows: list[tuple[str, str]] = []
    for line in lines:
        found = pattern.match(line)
        if found:
            rows.append((found[1], found[2]))
        elif not line.startswith(" ") and (not rows or rows[-1][1]):
            rows.append((line, ""))
        else:
            name, before = rows[-1]
            rows[-1] = (name, f"{before} {line.strip()}".strip())
    return rows


def entries(rows: list[tuple[str, str]]) -> list[str]:
    """Return a list whose items begin with a name."""
    return [
        f"* `{name.replace('`', '')}`: {prose(text)}" if text else f"* {prose(name)}" for name, text in rows
    ]


def section(lines: list[str]) -> list[str]:
    head, body = lines[0].rstrip(":"), dedent(lines[1:])
    if any(ENTRY.match(line) for line in body):
        return [f"**{head}**", "", *entries(gathered(body, ENTRY))]
    return [f"**{head}**", "", prose(" ".join(body))]


def items(lines: list[str]) -> list[str]:
    texts: list[str] = []
    for line in lines:
        if line.startswith("* "):
            texts.append(line[2:])
        else:
            texts[-1] += f" {line.strip()}"
    return [f"* {prose(text)}" for text in texts]


def part(lines: list[str]) -> list[str]:
    """Return the Markdown of one part."""
    if SECTION.match(lines[0]) and len(lines) > 1:
        return section(lines)
    if all(line.startswith("    ") for line in lines):
        return ["```python", *dedent(lines), "```"]
    if lines[0].startswith("* "):
        return items(lines)
    if COLUMNS.match(lines[0]) or (len(lines) > 1 and lines[1].startswith("    ")):
        return entries(gathered(lines, COLUMNS))
    return [prose(" ".join(lines))]


def markdown(text: str) -> str:
    """Return a docstring without its signature as Markdown."""
    return "\n\n".join("\n".join(part(lines)) for lines in parts(text))
