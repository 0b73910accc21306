# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m cuda_graphs`: see `command_line/main.py`."""

from cuda_graphs.command_line.main import run

if __name__ == "__main__":
    run()
