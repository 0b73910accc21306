# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m cuda_graphs.hostdriver`: see `standin/command.py`."""

import sys

from cuda_graphs.hostdriver.standin.command import main

if __name__ == "__main__":
    main(sys.argv[1:])
