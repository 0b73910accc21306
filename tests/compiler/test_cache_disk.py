# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: whatever is in place of the cache's folder and entries, kernels compile, and a warning names the trouble."""

import os
import shutil
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from cuda_graphs.compiler.cache import artifact_cache
from cuda_graphs.native import disk_cache
from tests.compiler import test_cache

# A user without a home, as in containers that run as any user.
HOMELESS = """
    import os, pwd, warnings
    for name in ("HOME", "XDG_CACHE_HOME", "CUDA_GRAPHS_CACHE_DIR"):
        os.environ.pop(name, None)
    def nobody(uid):
        raise KeyError(f"getpwuid(): uid not found: {uid}")
    pwd.getpwuid = nobody
    from tests.compiler import test_cache
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in range(3):
            assert test_cache.compiled(n).tasks
        found = test_cache.artifact_cache.compile_cache
        assert (found.directory, found.entries(), found.bytes, found.clear()) == ("", [], 0, 0)
        assert "without a folder" in repr(found)
    for each in caught:
        print(each.category.__name__, each.message)
"""


def test_a_user_without_a_home_compiles_with_one_warning():
    printed = test_cache.python(HOMELESS).stdout.splitlines()
    assert len(printed) == 1
    assert printed[0].startswith("RuntimeWarning cuda_graphs cache: this user has no home")
    assert "CUDA_GRAPHS_CACHE_DIR" in printed[0]


def test_a_folder_that_cannot_be_used_is_reported_once(folder):
    folder.write_text("mine")
    with pytest.warns(RuntimeWarning, match="cannot be used"):
        test_cache.compiled(0)
    for n in range(3):
        test_cache.compiled(n)  # a warning is an error here
    assert artifact_cache.CompileCache().entries() == []


def bound(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


# Things that are no entries -> how they are made.
OTHERS = {
    "a FIFO": os.mkfifo,
    "a socket": bound,
    "a folder": os.mkdir,
    "a link to itself": lambda path: os.symlink(path, path),
}


@pytest.mark.parametrize("other", OTHERS)
def test_entries_are_regular_files(folder, counts, other, monkeypatch):
    wanted = test_cache.compiled()
    path = test_cache.the_entry(folder)
    path.unlink()
    monkeypatch.chdir(folder)  # names of sockets are short
    OTHERS[other](Path(path.name))
    with pytest.warns(RuntimeWarning, match="not a regular file|cannot read|cannot write"):
        assert test_cache.compiled() == wanted
    assert counts()[0] == 0
    if other != "a folder":  # which a file does not replace
        assert test_cache.compiled() == wanted
        assert counts()[0] == 1


# Content with a valid checksum that no version of this package writes.
CONTENTS = {
    "nothing": b"",
    "a length alone": bytes([255] * 8),
    "no JSON": (9).to_bytes(8, "little") + b"{not JSON",
    "no text": (2).to_bytes(8, "little") + b"\xff\xfe",
    "a number": (1).to_bytes(8, "little") + b"7",
    "a list": (2).to_bytes(8, "little") + b"[]",
    "other members": (12).to_bytes(8, "little") + b'{"image": 1}',
    "members of other types": (29).to_bytes(8, "little") + b'{"image": "x", "free_values": 0}',
}


@pytest.mark.parametrize("content", CONTENTS)
def test_entries_with_wrong_content_are_reported_and_replaced(folder, counts, content):
    wanted = test_cache.compiled()
    name = test_cache.the_entry(folder).stem
    assert disk_cache.write("kernel", name, CONTENTS[content])
    with pytest.warns(RuntimeWarning, match="damaged"):
        assert test_cache.compiled() == wanted
    assert test_cache.compiled() == wanted
    assert counts() == (1, 2, 2)


# A file system of 64 KiB that really fills, in a mount namespace of the process's own.
SMALL_DISK = """
    import os, warnings
    from tests.compiler import test_cache
    def compiled(n):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert test_cache.compiled(n).tasks
        return [str(each.message) for each in caught]
    folder = os.environ["CUDA_GRAPHS_CACHE_DIR"]
    filler = os.path.join(folder, "filler")
    with open(filler, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(512))
        except OSError as error:
            assert error.errno == 28, error
    print(compiled(1))
    print(sorted(os.listdir(folder)))
    os.unlink(filler)
    print(compiled(1), compiled(1), test_cache.artifact_cache.compile_cache.hits)
"""
UNSHARE = ["unshare", "--mount", *([] if os.getuid() == 0 else ["--user", "--map-root-user"])]
MOUNT = ["sh", "-c", 'mount -t tmpfs -o size=64k,mode=700 cache "$0" && exec "$@"']


@pytest.fixture
def own_disk(folder):
    """The beginning of a command that has such a disk in place of the folder."""
    folder.mkdir()
    command = [*UNSHARE, *MOUNT, str(folder)]
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a file system (unshare --mount)")
    return command


def test_a_small_disk_that_is_full_is_no_trouble(own_disk):
    printed = test_cache.python(SMALL_DISK, before=own_disk).stdout.splitlines()
    assert "No space left on device" in printed[0]
    assert printed[1:] == ["['filler']", "[] [] 1"]


READ_ONLY_DISK = """
    import os, subprocess, warnings
    from tests.compiler import test_cache
    test_cache.compiled(1)
    folder = os.environ["CUDA_GRAPHS_CACHE_DIR"]
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in (1, 2):
            assert test_cache.compiled(n).tasks
    print(test_cache.artifact_cache.compile_cache.hits, [str(each.message) for each in caught])
"""


def test_a_disk_that_is_read_only_is_read(own_disk):
    printed = test_cache.python(READ_ONLY_DISK, before=own_disk).stdout
    assert printed.startswith("1 ")
    assert printed.count("cannot write to") == printed.count("Read-only file system") == 1


def test_two_versions_of_the_library_share_a_folder(folder, tmp_path):
    """At the same time, and each has its own code again later."""
    package = tmp_path / "other" / "cuda_graphs"
    package.mkdir(parents=True)
    for entry in (test_cache.ROOT / "cuda_graphs").iterdir():
        if entry.name == "compiler":
            shutil.copytree(entry, package / entry.name)
        elif entry.name != "__pycache__":
            (package / entry.name).symlink_to(entry)
    (tmp_path / "other" / "tests").symlink_to(test_cache.ROOT / "tests")
    script = """
        import warnings
        warnings.simplefilter("error")
        from tests.compiler import test_cache
        from cuda_graphs.compiler import pipeline
        for n in range(2):
            test_cache.compiled(n)
        found = test_cache.artifact_cache.compile_cache
        print(pipeline.__file__, found.hits, found.misses)
    """
    wanted = [["0", "2"], ["2", "0"]]
    for counted in wanted:
        running = [start(script, root) for root in (test_cache.ROOT, tmp_path / "other")]
        printed = [process.communicate(timeout=120)[0].split() for process in running]
        assert [each[1:] for each in printed] == [counted, counted]
        assert printed[0][0] != printed[1][0]
    assert len(test_cache.kernels_in(folder)) == 4


def start(script, root):
    return subprocess.Popen(
        [sys.executable, "-B", "-P", "-c", textwrap.dedent(script)],
        env={**os.environ, "PYTHONPATH": str(root)}, cwd=root, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
