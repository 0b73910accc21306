# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The command `cuda-graphs`, which is also `python -m cuda_graphs`.

Each verb is one file with `HELP`, `add_arguments` and `run`; `main.py` lists them. These files import only the standard
library at the top, so that `--help` is quick: what a verb needs is imported when it runs. A verb returns an Outcome
(outcome.py), and `main.py` prints it as text or as JSON.

Other rooms may import:
    main  the command
"""
