# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Opens every page of the built site in headless Chromium, at the width of a desk and of a phone.

    python -m docs.site.browser [--shots FOLDER PAGE ...]

Reports pages that are wider than the window, pictures that do not load, and a search without results. With `--shots`,
takes a screenshot of each PAGE at both widths instead.
"""

import argparse
import contextlib
import functools
import http.server
import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from docs.site.__main__ import BUILD

SITE = BUILD / "html"
# Pixels of the window.
WIDTHS = {"desk": 1300, "phone": 390}
SEARCH = "search.html?q=while_loop"
BATCH = 50  # pages that one browser opens, so that a busy machine opens them within the limit
# Opens each page in a frame of each width, one after the other, and writes what is wrong into the document.
HARNESS = """<!doctype html><body style="margin:0"><script>
const pages = %s, widths = %s, wrong = [];
async function look(page, name, width) {
  const frame = document.createElement("iframe");
  frame.style = `border:0;height:900px;width:${width}px`;
  frame.src = page;
  document.body.append(frame);
  await new Promise(resolve => frame.onload = resolve);
  const inside = frame.contentDocument;
  for (const image of inside.images) {
    image.loading = "eager";
    if (!image.complete) await new Promise(resolve => image.onload = image.onerror = resolve);
    if (!image.naturalWidth) wrong.push(`${page} (${name}): the picture ${image.src} does not load`);
  }
  if (page.includes("?q=")) {
    for (let i = 0; i < 100 && !inside.querySelector("ul.search li"); i++) await new Promise(r => setTimeout(r, 50));
    if (!inside.querySelector("ul.search li")) wrong.push(`${page} (${name}): the search finds nothing`);
  }
  const wide = inside.documentElement.scrollWidth;
  if (wide > width) wrong.push(`${page} (${name}): ${wide} pixels wide in a window of ${width}`);
  frame.remove();
}
(async () => {
  for (const page of pages) for (const [name, width] of Object.entries(widths)) await look(page, name, width);
  fetch("/result", {method: "POST", body: JSON.stringify(wrong)});
})();
</script>"""
FRAME = '<!doctype html><body style="margin:0"><iframe src="/%s" style="border:0;width:%dpx;height:%dpx"></iframe>'


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the site, the documents of `extra`, and takes the result."""

    def __init__(
        self, *args: object, extra: dict[str, str], results: list[list[str]], done: threading.Event
    ) -> None:
        self.extra, self.results, self.done = extra, results, done
        super().__init__(*args, directory=str(SITE))  # type: ignore[arg-type]

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        if self.path not in self.extra:
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(self.extra[self.path].encode())
        return None

    def do_POST(self) -> None:
        self.results.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()
        self.done.set()


@contextlib.contextmanager
def served(extra: dict[str, str]) -> Iterator[tuple[str, list[list[str]], threading.Event]]:
    """Serve the site on a free port. Yields the address, the results, and the event of the first result."""
    results: list[list[str]] = []
    done = threading.Event()
    handler = functools.partial(Handler, extra=extra, results=results, done=done)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", results, done
        finally:
            server.shutdown()
            thread.join()


def profile_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder for Chromium, whose processes may still write while it is removed."""
    return tempfile.TemporaryDirectory(ignore_cleanup_errors=True)


def chromium(*arguments: str) -> list[str]:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        raise SystemExit("docs.site.browser needs Chromium: apt-get install chromium")
    return [found, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", *arguments]


def faults(pages: list[str], seconds: float = 300) -> list[str]:
    """Return a line for each fault of `pages`, which are names below the site."""
    harness = HARNESS % (json.dumps(pages), json.dumps(WIDTHS))
    with served({"/harness": harness}) as (address, results, done), profile_folder() as profile:
        command = chromium(f"--user-data-dir={profile}", "--remote-debugging-port=0", f"{address}/harness")
        browser = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            if not done.wait(seconds):
                raise SystemExit(f"Chromium did not finish within {seconds:g} s")
        finally:
            browser.terminate()
            browser.wait()
    return results[0]


def shots(folder: Path, pages: list[str], height: int) -> None:
    """Write a screenshot of each page at each width."""
    folder.mkdir(parents=True, exist_ok=True)
    extra = {f"/{w}/{p}": FRAME % (p, w, height) for p in pages for w in WIDTHS.values()}
    with served(extra) as (address, _, _):
        for page in pages:
            for name, width in WIDTHS.items():
                file = folder / f"{re.sub('[^a-z0-9]+', '-', page.removesuffix('.html').lower())}-{name}.png"
                command = chromium(
                    f"--screenshot={file}",
                    f"--window-size={max(width, 500)},{height}",
                    "--virtual-time-budget=4000",
                )
                subprocess.run([*command, f"{address}/{width}/{page}"], check=True, capture_output=True)
                print(file)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m docs.site.browser", description=__doc__.partition("\n\n")[0]
    )
    parser.add_argument("--shots", type=Path, metavar="FOLDER", help="take screenshots instead")
    parser.add_argument("--height", type=int, default=1000, help="of screenshots, in pixels")
    parser.add_argument("pages", nargs="*", help="names such as guide/kernels.html; default: all")
    options = parser.parse_args()
    if not (SITE / "index.html").exists():
        raise SystemExit("build the site first: make site")
    if options.shots:
        shots(options.shots, options.pages or ["index.html"], options.height)
        return 0
    found = sorted(p.relative_to(SITE).as_posix() for p in SITE.rglob("*.html") if "_" not in p.parts[-2])
    pages = options.pages or [*found, SEARCH]
    wrong = [fault for first in range(0, len(pages), BATCH) for fault in faults(pages[first : first + BATCH])]
    print("\n".join([*wrong, f"{len(found)} pages, {len(wrong)} faults"]))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
