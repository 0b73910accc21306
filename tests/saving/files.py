# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Changes of saved files, for tests of what a loader accepts."""

import hashlib
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


def contents(path):
    """(manifest, blobs) of a file."""
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        return manifest, [archive.read(f"blobs/{number}") for number in range(len(manifest["blobs"]))]


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


def with_short_blobs(path, code_type):
    """Cuts the last byte off the code of a type, and gives it the hash of what is left."""
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(contents["manifest.json"])
    for number in {kernel["code"][code_type] for kernel in manifest["kernels"]}:
        data = contents[f"blobs/{number}"] = contents[f"blobs/{number}"][:-1]
        manifest["blobs"][number] = [len(data), hashlib.sha256(data).hexdigest()]
    contents["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
