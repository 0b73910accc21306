# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A fuzzer of `load`. It damages files of `GraphDef.save`: their bytes, and the values of their manifests. Each file is
loaded, or refused with a SavedGraphError; files that crash, hang or fail in another way are kept.

    python -m tests.fuzz.saved --minutes 60 [--first NUMBER] [--keep FOLDER]

The cases run in a process of their own, as those of tests/fuzz/images.py.
"""

import argparse
import copy
import hashlib
import json
import os
import random
import resource
import sys
import tempfile
import zipfile
from io import BytesIO
from pathlib import Path

from tests.fuzz import images

ROOT = images.ROOT
SEEDS = [Path(__file__).parents[1] / "saving" / name for name in ("golden.cgg", "golden_cubins.cgg")]
MODULE = "tests.fuzz.saved"
ODD = (
    None, True, False, 0, 1, -1, 2, 7, 255, 256, 2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64, 10**30, 0.5, -1.5,
    1e300, "", "x", "00", "ffff", "m", "kernel", "while", "f32", "\0", "../../etc/passwd", [], [0], ["m", 0, 0],
    ["a", 0, 0], ["c", 0, 0], ["p", 0], ["e", 0, 0], ["s", None], ["m", 0, 2**40], {}, {"kind": "empty"}, [[]],
)  # fmt: skip


def parts(file: bytes) -> tuple[dict, dict[str, bytes]]:
    """The manifest and the blobs of a file."""
    with zipfile.ZipFile(BytesIO(file)) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(contents.pop("manifest.json")), contents


def packed(manifest: object, blobs: dict[str, bytes]) -> bytes:
    found = BytesIO()
    with zipfile.ZipFile(found, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name, data in blobs.items():
            archive.writestr(name, data)
    return found.getvalue()


def places(value: object, found: list) -> list:
    """(container, key) of every value in a manifest."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found.append((value, key))
        places(inner, found)
    return found


def damage_values(chance: random.Random, manifest: dict) -> None:
    """Changes, drops, doubles or swaps some values. It puts in copies, so that each case follows from its number alone,
    and no value encloses itself."""
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        everywhere = places(manifest, [])
        container, key = chance.choice(everywhere)
        action = chance.randrange(5)
        if action == 0 and isinstance(container[key], int):
            container[key] += chance.choice((-1, 1, 8, 4096, 2**32))
        elif action == 1:
            del container[key]
        elif action == 2 and isinstance(container, list):
            container.insert(key, copy.deepcopy(container[chance.randrange(len(container))]))
        elif action == 3:
            other, where = chance.choice(everywhere)
            container[key] = copy.deepcopy(other[where])
        else:
            container[key] = copy.deepcopy(chance.choice(ODD))


def damage_bytes(chance: random.Random, file: bytes) -> bytes:
    data = bytearray(file)
    for _ in range(chance.choice((1, 3, 20))):
        at = chance.randrange(len(data))
        action = chance.randrange(4)
        if action == 0:
            data[at] ^= 1 << chance.randrange(8)
        elif action == 1:
            data[at : at + 4] = chance.randbytes(4)
        elif action == 2:
            del data[at : at + chance.choice((1, 16, len(data)))]
        else:
            data[at:at] = data[: chance.randrange(64)]
        if not data:
            break
    return bytes(data)


def damage_blob(chance: random.Random, manifest: dict, blobs: dict[str, bytes]) -> None:
    """Changes a blob: code or the contents of an array. Mostly the manifest has the size and the hash of the result, so
    that the linker of native code and the translator of PTX get it."""
    number = chance.randrange(len(manifest["blobs"]))
    data = damage_bytes(chance, blobs[f"blobs/{number}"] or b"x")
    blobs[f"blobs/{number}"] = data
    if chance.randrange(4):
        manifest["blobs"][number] = [len(data), hashlib.sha256(data).hexdigest()]


def case(number: int, file: bytes | None = None) -> bytes:
    """The file of a number: a damaged copy of a golden file, or of another one."""
    chance = random.Random(number)
    file = chance.choice(SEEDS).read_bytes() if file is None else file
    if chance.randrange(4) == 0:
        return damage_bytes(chance, file)
    manifest, blobs = parts(file)
    if chance.randrange(8) == 0:
        damage_blob(chance, manifest, blobs)
    else:
        damage_values(chance, manifest)
    return packed(manifest, blobs)


def nothing() -> None:
    """A callback."""


class Loader:
    """Loads files with the host driver."""

    def __init__(self) -> None:
        import cuda_graphs as cg

        cg.use_driver("host")
        cg.Device().set_current()
        self.cg = cg
        self.was_loaded = False

    def outcome(self, file: bytes, path: Path) -> str:
        """Loads a file, and does not launch it: "" if it was loaded or refused, else what went wrong."""
        path.write_bytes(file)
        self.was_loaded = False
        try:
            self.cg.load(path, callbacks={"report": nothing})
        except self.cg.SavedGraphError as error:
            return "" if str(error) else "the refusal says nothing"
        except BaseException as error:
            return f"{type(error).__name__}: {error}"
        self.was_loaded = True
        return ""


def work(first: int) -> None:
    """In the child: one line before each case, and one after."""
    os.nice(10)
    loader = Loader()
    resource.setrlimit(resource.RLIMIT_DATA, (images.MEMORY, images.MEMORY))
    with tempfile.TemporaryDirectory() as folder:
        number = first
        while True:
            print("case", number, flush=True)
            print("done", repr(loader.outcome(case(number), Path(folder, "saved.cgg"))), flush=True)
            number += 1


def run(minutes: float, first: int, keep: Path) -> tuple[int, dict[int, str]]:
    """(how many cases ran, what was wrong by number)"""
    return images.run(minutes, first, keep, MODULE, case)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=ROOT / "out" / "fuzz-saved")
    parser.add_argument("--work", type=int)
    args = parser.parse_args()
    if args.work is not None:
        work(args.work)
    return min(1, len(run(args.minutes, args.first, args.keep)[1]))


if __name__ == "__main__":
    sys.exit(main())
