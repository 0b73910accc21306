# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Say what a saved graph holds: its nodes, inputs and outputs, kernels with their code, and callbacks.

The file is read, and nothing of it is loaded. No driver is needed."""

from __future__ import annotations

import argparse

from .outcome import UNUSABLE, CommandError, Outcome

HELP = "say what a saved graph holds"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a file of GraphDef.save")
    parser.add_argument("--json", action="store_true", help="print the facts as JSON")


def run(arguments: argparse.Namespace) -> Outcome:
    from cuda_graphs.errors import SavedGraphError
    from cuda_graphs.saving.text import describe, facts_of

    try:
        facts = facts_of(arguments.file)
    except OSError as error:
        raise CommandError(f"cannot read {arguments.file}: {error.strerror}", UNUSABLE) from None
    except SavedGraphError as error:
        raise CommandError(str(error), UNUSABLE) from None
    return Outcome(describe(facts), facts)
