# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""SHA-256 from the interpreter's own module, as Python's `random` imports it.

hashlib uses OpenSSL. Its library takes longer to load than cached code takes to be found, checked and linked.
"""

__all__ = ["sha256"]

try:
    from _sha2 import sha256  # Python 3.12
except ImportError:
    try:
        from _sha256 import sha256
    except ImportError:  # the interpreter was built without its own module
        from hashlib import sha256
