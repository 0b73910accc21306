# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the site in docs/_build/html: `python -m docs.site`. A warning of Sphinx and a dead link are errors."""

import argparse
import sys
from pathlib import Path

from docs.site.html_links import dead_links, missing_places
from docs.site.pages import ROOT

BUILD = ROOT / "docs/_build"


def build(jobs: str) -> int:
    """Write the pages and run Sphinx. Return its exit status."""
    from sphinx.cmd.build import build_main

    from docs.site.staging import write

    write(BUILD / "pages")
    folders = ["-c", str(Path(__file__).parent), "-d", str(BUILD / "doctrees")]
    return build_main(
        [
            "-W",
            "--keep-going",
            "-q",
            "-j",
            jobs,
            *folders,
            "-b",
            "html",
            str(BUILD / "pages"),
            str(BUILD / "html"),
        ]
    )


def places_of_errors() -> list[str]:
    """Return the places that `CUDAError.url` may name."""
    from cuda_graphs import errors

    classes = [getattr(errors, name) for name in errors.__all__]
    statuses = [row.name for row in errors.table.TABLE.values()]
    return [*map(errors.place_of, statuses), *map(errors.place_of_class, classes)]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m docs.site", description=__doc__)
    parser.add_argument("--jobs", default="auto", help="number of processes that Sphinx uses")
    options = parser.parse_args()
    try:
        status = build(options.jobs)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("cuda_graphs"):
            raise
        print(f"docs.site needs {error.name}: run pip install -e '.[docs]'", file=sys.stderr)
        return 1
    dead = dead_links(BUILD / "html") + missing_places(BUILD / "html", places_of_errors())
    print("\n".join([*(f"dead link: {line}" for line in dead), f"the site is {BUILD / 'html/index.html'}"]))
    return status or bool(dead)


if __name__ == "__main__":
    raise SystemExit(main())
