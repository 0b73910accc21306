# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: docs/guide/command-line.md shows each verb, and what it prints."""

import re

import pytest

from cuda_graphs.command_line.main import VERBS
from cuda_graphs.command_line.outcome import EXIT_CODES
from docs.command_line_page import COMMAND, PAGE, page_with_outputs

# Verbs whose output depends on the machine -> the part of a line that does not.
OF_THE_MACHINE = {
    "info": r"^\S*",
    "cache": r"^\S+",
    "doctor": r"^ .*",
    "host": r"^Host CPU",
    "profile": r"^(?!critical|gaps|  node)\D*",
}


def outputs(page):
    """[(verb, its lines without addresses and what depends on the machine)]"""
    found = []
    for match in COMMAND.finditer(page):
        verb = match[2].split()[1]
        kept = re.compile(OF_THE_MACHINE.get(verb, ".*"))
        lines = [kept.search(re.sub(r"0x[0-9a-f]+", "0x", line)) for line in match[3].splitlines()]
        found.append((match[2], [line[0] for line in lines if line and (verb != "info" or line[0])]))
    return found


def test_the_page_shows_what_the_commands_print(driver):
    if driver.kind != "host":
        pytest.skip("the page shows a machine without a GPU")
    shown, printed = outputs(PAGE.read_text()), outputs(page_with_outputs())
    assert len(shown) >= len(VERBS)
    assert all(lines for _, lines in shown)
    assert shown == printed, "run: python -m docs.command_line_page"


def test_the_page_has_each_verb_and_each_exit_code():
    page = PAGE.read_text()
    for verb in VERBS:
        assert f"\n## {verb}\n" in page
        assert f"| [`{verb}`](#{verb}) |" in page
    for code, meaning in EXIT_CODES.items():
        assert f"| {code} | {meaning} |" in page
