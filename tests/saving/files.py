# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Changes of saved files, for tests of what a loader accepts."""

import json
import zipfile


def changed(path, change):
    """Applies `change` to the manifest of a file, in place."""
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(contents["manifest.json"])
    change(manifest)
    contents["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)


def without_code(path, *code_types):
    """Leaves out the code of these types, as if it were for another machine."""

    def change(manifest):
        for kernel in manifest["kernels"]:
            for code_type in code_types:
                kernel["code"].pop(code_type, None)

    changed(path, change)


def from_other_driver(path):
    """Makes a file look like one that the other driver has saved: sizes of launches are computed again."""
    changed(path, lambda manifest: manifest.update(driver="another"))
