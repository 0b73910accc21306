# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""SHA-256 of the interpreter itself, as Python's own `random` takes its hash. That of hashlib is OpenSSL's, whose
library takes longer to load than code from disk takes to be found, checked and linked."""

__all__ = ["sha256"]

try:
    from _sha2 import sha256  # Python 3.12
except ImportError:
    try:
        from _sha256 import sha256
    except ImportError:  # an interpreter that was built without its own
        from hashlib import sha256
