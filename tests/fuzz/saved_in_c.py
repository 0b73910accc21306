# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A fuzzer of the library for C. It damages a file as tests/fuzz/saved.py does, and lets both loaders judge it.
It keeps files that crash the library, and files on which the loaders disagree.

    python -m tests.fuzz.saved_in_c --minutes 60 [--first NUMBER] [--keep FOLDER] PROGRAM

PROGRAM is that of tests/runtime/cpp/fuzz.cpp, for example build/runtime/asan/fuzz.
"""

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.fuzz import saved
from tests.runtime.conftest import Answers
from tests.saving import graphs

ROOT = Path(__file__).parents[2]
# Python translates PTX in place of damaged native code. The library for C has no translator.
UNTRANSLATED = "no image loader is registered"
# Memory that the host driver keeps until the process ends is no leak.
LEAKS = f"suppressions={ROOT / 'tests/runtime/leaks.txt'}:print_suppressions=0"


def judge(loader: saved.Loader, answers: Answers, file: bytes, path: Path) -> str:
    """The verdict on which both loaders agree, "loaded" or "refused"; else what is wrong."""
    wrong = loader.outcome(file, path)
    if wrong:
        return f"Python: {wrong}"
    answer = answers.ask(str(path))
    by_c = answer.partition(" ")[0]
    by_python = "loaded" if loader.was_loaded else "refused"
    if loader.was_loaded and UNTRANSLATED in answer:
        return "refused"
    return by_c if by_c == by_python else f"Python has {by_python} the file, and the library for C: {answer}"


def run(minutes: float, first: int, keep: Path, program: Path) -> tuple[Counter, dict[int, str]]:
    """(number of each verdict, what was wrong by number)"""
    loader = saved.Loader()
    verdicts: Counter = Counter()
    wrong: dict[int, str] = {}
    end = time.monotonic() + 60 * minutes
    number = first
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "saved.cgg")
        graphs.Zoo().save(path)
        seed = path.read_bytes()
        while time.monotonic() < end:
            with Answers(program, "report", env={"LSAN_OPTIONS": LEAKS, **os.environ}) as answers:
                for number in range(number, number + 1000):  # noqa: B020 (a new process goes on where the last ended)
                    if time.monotonic() >= end:
                        break
                    file = saved.case(number, seed)
                    try:
                        verdict = judge(loader, answers, file, path)
                    except AssertionError as error:
                        verdict = f"the library for C: {error}"
                    verdicts[verdict if verdict in ("loaded", "refused") else "wrong"] += 1
                    if verdict not in ("loaded", "refused"):
                        wrong[number] = verdict
                        keep.mkdir(parents=True, exist_ok=True)
                        (keep / f"{number}.cgg").write_bytes(file)
                        print(number, verdict, flush=True)
                        if answers.process.poll() is not None:
                            break
            number += 1
            print(dict(verdicts), flush=True)
    return verdicts, wrong


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", type=Path)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=ROOT / "out" / "fuzz-saved-in-c")
    args = parser.parse_args()
    return min(1, len(run(args.minutes, args.first, args.keep, args.program)[1]))


if __name__ == "__main__":
    sys.exit(main())
