# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a kernel comes from disk as it was compiled if and only if none of its dependencies has changed. A doubtful
entry is reported and never used, and an error of the disk is never an error of the caller."""

import dataclasses
import errno
import gc
import os
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import cuda_graphs
from cuda_graphs.compiler import compile_kernel, specialise
from cuda_graphs.compiler.cache import artifact_cache
from cuda_graphs.compiler.cache.paused_collection import paused_collection
from cuda_graphs.compiler.codegen.ptx.ptx_target import Ptx
from cuda_graphs.compiler.codegen.x86.x86_target import X86
from cuda_graphs.native import disk_cache, llvm, units
from tests.compiler.rig import cg, function_of

pytestmark = pytest.mark.usefixtures("folder")

ROOT = Path(__file__).parents[2]


@dataclasses.dataclass
class Settings:
    dt: cg.f32
    data: cg.ndarray(cg.f32, 1)


OFFSET = 3


@cg.func
def moved(v):
    return v + OFFSET


def kernel(s: Settings, n: cg.template):
    total = 0.0
    for i in range(s.data.shape[0]):
        s.data[i] = cg.clamp(moved(s.data[i]) * s.dt, 0.0, 9.0)
        total += s.data[i]
    for i in cg.static(range(n)):
        s.data[i] = cg.degrees(total)


x = np.zeros(8, "f4")


def signature(n=2):
    return specialise(kernel, {"s": Settings(0.5, x), "n": n})


def compiled(n=2, target=None, debug=False):
    return artifact_cache.cached_compile(kernel, signature(n), target or X86(), debug=debug)


@pytest.mark.parametrize("target", [X86(), Ptx()], ids=["x86", "ptx"])
def test_cached_artifact_equals_the_compiled_one(folder, counts, target):
    first, second = compiled(target=target), compiled(target=target)
    assert first == second == compile_kernel(kernel, signature(), target)
    assert counts() == (1, 1, 1)
    assert second.free_values[moved.__cuda_graphs_func__] == {"OFFSET": 3}


def test_each_thing_that_code_depends_on_has_its_own_entry(folder, counts, monkeypatch):
    compiled()
    for other in (
        lambda: compiled(n=3),
        lambda: compiled(target=X86(fast_math=True)),
        lambda: compiled(target=Ptx()),
        lambda: compiled(target=Ptx(arch="sm_80")),
        lambda: compiled(target=Ptx(version=83)),
        lambda: compiled(debug=True),
    ):
        other()
    assert counts() == (0, 7, 7)
    monkeypatch.setattr("tests.compiler.test_cache.OFFSET", 4)
    assert compiled().free_values[moved.__cuda_graphs_func__] == {"OFFSET": 4}
    monkeypatch.setattr("tests.compiler.test_cache.OFFSET", 4.0)
    compiled()
    assert counts() == (0, 9, 9)
    monkeypatch.setattr("tests.compiler.test_cache.OFFSET", 3)
    compiled()
    monkeypatch.setattr(artifact_cache, "compiler_hash", lambda: "another compiler")
    compiled()
    assert counts() == (1, 10, 10)


BASE = """
import dataclasses
TABLE = [1, 2]
PRICES = {'tea': 1}
FACTOR = 1
class Space:
    scale = 2
@dataclasses.dataclass
class Shape:
    width: int = 3
    SCALE = 5
    def __call__(self):
        return FACTOR
    def area(self):
        return self.width * self.SCALE + len(PRICES)
shape = Shape()
class Round:
    @cg.func
    def grown(self, by):
        return self.radius * 3 + by + TABLE[0]
@dataclasses.dataclass
class Ball(Round):
    radius: cg.i32
def helper(n):
    return n * 2
@cg.func
def inner(v):
    return v * Space.scale + TABLE[0]
def k(x: ndarray(cg.i32, 1), ball: Ball):
    for i in x:
        x[i] = inner(x[i]) + cg.static(helper(3) + PRICES.get('tea') + shape.area() + shape()) + ball.grown(1)
"""
CHANGES = {
    "nothing": ("", "", True),
    "a value in a container": ("[1, 2]", "[7, 2]", False),
    "what a method is asked of": ("'tea': 1", "'tea': 2", False),
    "an attribute": ("scale = 2", "scale = 3", False),
    "a function that is inlined": ("v * Space", "v - Space", False),
    "a function that runs when compiling": ("n * 2", "n * 5", False),
    "what an object names when it is called": ("FACTOR = 1", "FACTOR = 2", False),
    "a member of an object": ("width: int = 3", "width: int = 4", False),
    "an attribute of the class of an object": ("SCALE = 5", "SCALE = 6", False),
    "a method of a parameter": ("self.radius * 3", "self.radius * 4", False),
    "a method": ("+ len(PRICES)", "- len(PRICES)", False),
    "what a method names": ("{'tea': 1}", "{'tea': 1, 'milk': 2}", False),
    "the kernel": ("+ cg.static", "- cg.static", False),
    "the type of a parameter": ("ndarray(cg.i32", "ndarray(cg.i64", False),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_anywhere_in_the_source_is_noticed(folder, counts, tmp_path, what):
    """In processes of their own, as modules in one file."""
    old, new, hit = CHANGES[what]
    script = """
        import numpy as np, mod
        from cuda_graphs.compiler.cache import artifact_cache
        from cuda_graphs.compiler import specialise
        from cuda_graphs.compiler.codegen.x86.x86_target import X86
        x = np.arange(4).astype("i8" if "i64" in str(mod.k.__annotations__["x"]) else "i4")
        artifact_cache.cached_compile(mod.k, specialise(mod.k, {"x": x, "ball": mod.Ball(2)}), X86())
        print(artifact_cache.compile_cache.hits)
    """
    head = "from tests.compiler.rig import cg\nndarray = cg.ndarray\n"
    results = []
    for text in (BASE, BASE.replace(old, new) if old else BASE):
        (tmp_path / "mod.py").write_text(head + text)
        results.append(python(script, tmp_path).stdout.strip())
    assert results == ["0", "1" if hit else "0"]


def python(script, *path, before=(), **environment):
    """Runs a script in a process of its own, without warnings, as an argument of the command `before`."""
    where = os.pathsep.join([str(ROOT), *map(str, path)])
    done = subprocess.run(
        [*before, sys.executable, "-B", "-c", textwrap.dedent(script)],
        env={**os.environ, "PYTHONPATH": where, **environment},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done


WARM = """
    import sys
    from tests.compiler import test_cache
    mods = [name for name in sys.modules if name.startswith("llvmlite")]
    for name in mods: del sys.modules[name]   # the test's own rig imports it
    class Refuse:
        def find_spec(self, name, *rest):
            if name.startswith("llvmlite"): raise ImportError("llvmlite is asked for")
    sys.meta_path.insert(0, Refuse())
    from cuda_graphs.native import llvm
    llvm.binding.cache_clear()
    print(test_cache.compiled(target=test_cache.Ptx()).tasks[0].entry, test_cache.artifact_cache.compile_cache.hits)
"""


def test_a_warm_start_for_a_gpu_does_not_ask_for_llvm(folder):
    entry = compiled(target=Ptx()).tasks[0].entry
    assert python(WARM).stdout.split() == [entry, "1"]


def test_a_warm_start_for_a_cpu_compiles_nothing(folder, counts, monkeypatch):
    compiled()

    def refuse(*args, **kwargs):
        raise AssertionError("something is compiled")

    for name in ("cuda_graphs.compiler.pipeline.lower", "cuda_graphs.native.llvm.object_code"):
        monkeypatch.setattr(name, refuse)
    compiled()
    assert counts() == (1, 1, 1)


LOOPS = """
def k(x: ndarray(f32, 1)):
    for i in x:
        x[i] = x[i] + {first}
    for i in x:
        x[i] = x[i] * {second}
    x[0] = x[1] + {third}
"""


def test_a_changed_task_is_compiled_alone(folder, monkeypatch):
    compiled_texts = []

    def count(compile_all):
        def counted(texts, *target):
            compiled_texts.append(len(texts))
            return compile_all(texts, *target)

        return counted

    for name in ("object_codes", "ptx_codes"):  # of the host driver, of a GPU
        monkeypatch.setattr(llvm, name, count(getattr(llvm, name)))

    def run(text, wanted):
        k, x = function_of(text), np.ones(4, "f4")
        cuda_graphs.kernel(k, fuse=False)(x)
        np.testing.assert_array_equal(x, np.array(wanted, "f4"))

    run(LOOPS.format(first=1, second=2, third=3), [7, 4, 4, 4])
    run(LOOPS.format(first=1, second=5, third=3), [13, 10, 10, 10])  # one is changed
    more = LOOPS.format(first=1, second=2, third=3).replace(
        "    x[0]", "    for i in x:\n        x[i] = x[i] - 2\n    x[0]"
    )
    run(more, [5, 2, 2, 2])  # one is inserted: the last task has another name
    run("\n\n" + more, [5, 2, 2, 2])  # all are moved
    assert compiled_texts == [3, 1, 1, 0]


CALLED = """
import numpy as np, cuda_graphs as cg
@cg.kernel
def twice(x: cg.types.ndarray(cg.f32, ndim=1)):
    for i in range(x.shape[0]):
        x[i] = x[i] + x[i]
x = np.ones(4, "f4")
twice(x)
assert list(x) == [2] * 4
"""


def test_a_warm_start_imports_no_frontend(folder, tmp_path):
    (tmp_path / "mod.py").write_text(CALLED)
    script = "import sys, mod; print('cuda_graphs.compiler.frontend.translate' in sys.modules)"
    found = [python(script, tmp_path, CUDA_GRAPHS_DRIVER="host").stdout.strip() for _ in range(2)]
    assert found == ["True", "False"]


ROOTS = CALLED.replace("x[i] + x[i]", "cg.clamp(cg.sqrt(4 * x[i]), 0.0, 5.0)")


def test_a_warm_start_does_not_load_functions_of_kernels(folder, tmp_path):
    (tmp_path / "mod.py").write_text(ROOTS)
    script = """
import sys, cuda_graphs.compiler.cache, mod
print('cuda_graphs.compiler.language.intrinsics' in sys.modules, 'cuda_graphs.compiler.language.library' in sys.modules)
"""
    found = [python(script, tmp_path, CUDA_GRAPHS_DRIVER="host").stdout.strip() for _ in range(2)]
    assert found == ["True True", "False False"]


REPLACED = """
import cuda_graphs as cg
before = {before}
import mod
print(len(list(mod.x)), mod.x[0], cg.compile_cache.hits)
"""


@pytest.mark.parametrize(
    ("before", "found"),
    [("cg.sqrt, cg.clamp", "2.0 1"), ("setattr(cg, 'sqrt', cg.floor)", "4.0 0"), ("None", "2.0 1")],
    ids=["loaded", "replaced", "not_loaded"],
)
def test_a_public_function_is_the_same_loaded_or_not_and_another_one_if_replaced(
    folder, tmp_path, before, found
):
    (tmp_path / "mod.py").write_text(ROOTS.replace("assert list(x) == [2] * 4\n", ""))
    python("import mod", tmp_path, CUDA_GRAPHS_DRIVER="host")
    printed = python(REPLACED.format(before=before), tmp_path, CUDA_GRAPHS_DRIVER="host").stdout.strip()
    assert printed == f"4 {found}"


def kernels_in(folder):
    """The entries of whole kernels."""
    return list(folder.glob("*.kernel"))


def the_entry(folder):
    (found,) = kernels_in(folder)
    return found


@pytest.fixture
def no_units(monkeypatch):
    """Only whole kernels are kept."""
    monkeypatch.setattr(units, "is_kept", lambda: False)


DAMAGES = {
    "cut": lambda data: data[:-1],
    "empty": lambda data: b"",
    "only a head": lambda data: data[:30],
    "a bit": lambda data: data[:99] + bytes([data[99] ^ 1]) + data[100:],
    "another program's": lambda data: b"#!/bin/sh\n" + data,
    "another version's": lambda data: data.replace(b"entry 1", b"entry 9", 1),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_entry_is_reported_compiled_again_and_replaced(folder, counts, damage):
    wanted = compiled()
    path = the_entry(folder)
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    with pytest.warns(RuntimeWarning, match="damaged"):
        assert compiled() == wanted
    assert compiled() == wanted
    assert counts() == (1, 2, 2)


def test_an_entry_under_the_name_of_another_is_not_used(folder, counts):
    compiled()
    first = the_entry(folder)
    data = first.read_bytes()
    first.unlink()
    wanted = compiled(n=3)
    the_entry(folder).write_bytes(data)
    with pytest.warns(RuntimeWarning, match="damaged"):
        assert compiled(n=3) == wanted


def test_an_entry_that_others_may_write_is_not_used(folder, counts):
    compiled()
    the_entry(folder).chmod(0o666)
    with pytest.warns(RuntimeWarning, match="others could have written it"):
        compiled()
    assert counts()[0] == 0


def test_an_entry_of_another_user_is_not_used(folder, counts, monkeypatch):
    compiled()
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.warns(RuntimeWarning, match="not used"):
        compiled()
    assert counts() == (0, 2, 1)


def test_a_link_in_place_of_an_entry_is_not_followed(folder, counts, tmp_path):
    compiled()
    path = the_entry(folder)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.warns(RuntimeWarning, match="cannot read"):
        compiled()
    assert counts()[0] == 0


def test_files_are_private_whatever_the_process_allows(folder):
    before = os.umask(0)
    try:
        compiled()
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert the_entry(folder).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("mode", [0o777, 0o720])
def test_a_folder_that_others_may_write_is_not_used(folder, counts, mode):
    folder.mkdir()
    folder.chmod(mode)
    with pytest.warns(RuntimeWarning, match="others could write code into it"):
        compiled()
    assert counts() == (0, 1, 0)
    assert not list(folder.iterdir())


def test_a_file_in_place_of_the_folder_is_no_trouble(folder, counts):
    folder.write_text("mine")
    with pytest.warns(RuntimeWarning, match="cannot be used"):
        compiled()
    assert folder.read_text() == "mine"


def test_entries_of_a_folder_that_cannot_be_written_are_used(folder, counts, monkeypatch):
    """The test makes the file calls fail, because file modes do not stop a superuser who runs it."""
    wanted = compiled()

    def refuse(*args, **options):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "utime", refuse)
    monkeypatch.setattr("tempfile.mkstemp", refuse)
    assert compiled() == wanted
    assert counts() == (1, 1, 1)
    with pytest.warns(RuntimeWarning, match="cannot write to .*Read-only file system"):
        compiled(n=3)
    assert counts() == (1, 2, 1)


def test_a_full_disk_is_no_trouble_and_leaves_nothing_behind(folder):
    """The kernel refuses to let files grow past 2 KiB, which is less than an entry."""
    script = """
        import resource, signal, warnings
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        from tests.compiler import test_cache
        resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert test_cache.compiled().tasks
        print([str(each.message) for each in caught])
    """
    assert "cannot write to" in python(script).stdout
    assert {path.suffix for path in folder.iterdir()} <= {".unit"}


def test_many_processes_that_write_at_once_leave_whole_entries(folder, counts):
    script = "from tests.compiler import test_cache\nfor n in range(3): test_cache.compiled(n)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", script], env=environment, stderr=subprocess.PIPE
        )
        for _ in range(4)
    ]
    for process in running:
        assert process.communicate(timeout=120) == (None, b"")
        assert process.returncode == 0
    assert len(kernels_in(folder)) == 3
    for n in range(3):
        compiled(n)
    assert counts() == (3, 0, 0)


def test_cache_never_exceeds_its_size_and_drops_the_least_used(folder, counts, no_units, monkeypatch):
    compiled(1)
    compiled(2)
    old, new = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    os.utime(old, (1, 1))
    limit = (
        3 * new.stat().st_size - old.stat().st_size + 500
    )  # the third is larger than the second as that is
    monkeypatch.setattr(disk_cache, "limit_bytes", lambda: limit)
    compiled(3)
    assert not old.exists()
    assert new.exists()
    assert len(list(folder.iterdir())) == 2


def test_entries_are_looked_through_each_time_a_64th_of_the_limit_was_written(folder, monkeypatch):
    limit, size = 64_000, 300
    looked, look = [], disk_cache.trim

    def counted(place, room):
        looked.append(room)
        look(place, room)

    monkeypatch.setattr(disk_cache, "limit_bytes", lambda: limit)
    monkeypatch.setattr(disk_cache, "trim", counted)
    taken = []
    for number in range(260):
        assert disk_cache.write("kernel", str(number), bytes(size))
        taken.append(sum(entry.stat().st_size for entry in os.scandir(folder)))
    entry = taken[0]
    assert size < entry < limit
    assert limit - limit // 64 - entry < min(taken[-10:]) <= max(taken) <= limit
    assert looked == [limit - limit // 64] * (1 + 259 // (1 + limit // 64 // entry))


def test_a_use_makes_an_entry_the_last_that_goes(folder):
    compiled()
    os.utime(the_entry(folder), (1, 1))
    compiled()
    assert the_entry(folder).stat().st_mtime > 1


def test_unfinished_files_of_dead_writers_are_removed_later(folder):
    folder.mkdir(mode=0o700)
    old, new = folder / ".unfinished-a", folder / ".unfinished-b"
    old.write_text("")
    new.write_text("")
    os.utime(old, (time.time() - 7200,) * 2)
    compiled()
    assert not old.exists()
    assert new.exists()


def test_the_environment_sets_the_limit(monkeypatch):
    assert disk_cache.limit_bytes() == 256 << 20
    monkeypatch.setenv("CUDA_GRAPHS_CACHE_MIB", "7")
    assert disk_cache.limit_bytes() == 7 << 20


def test_zero_turns_it_off(folder, counts, monkeypatch):
    monkeypatch.setenv("CUDA_GRAPHS_CACHE", "0")
    assert compiled() == compiled()
    assert counts() == (0, 2, 0)
    assert not folder.exists()


def test_cache_lists_and_clears_its_entries(folder, no_units):
    shown = artifact_cache.CompileCache()
    assert shown.entries() == []
    compiled(1)
    compiled(2)
    assert len(shown.entries()) == 2
    assert {entry.kind for entry in shown.entries()} == {"kernel"}
    assert shown.bytes == sum(entry.bytes for entry in shown.entries()) > 0
    assert repr(shown).startswith(f"<compile_cache {folder}: 2 entries, ")
    (folder / "notes.txt").write_text("not an entry")
    assert shown.clear() == 2
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]


class Thing:
    """Something with a state in C, which has no lasting identity."""

    factor = 2

    def __init__(self):
        self.lock = threading.Lock()


thing = Thing()


def test_kernel_with_a_value_of_no_lasting_identity_is_compiled_each_time(folder, counts):
    k = function_of("""
def k(t: cg.template, x: ndarray(i32, 1)):
    for i in x:
        x[i] = x[i] * t.factor
""")
    given = specialise(k, {"t": thing, "x": np.zeros(3, "i4")})
    for _ in range(2):
        artifact_cache.cached_compile(k, given, X86())
    assert counts() == (0, 2, 0)
    assert not kernels_in(folder)


def test_an_attribute_of_such_a_thing_that_is_outside_is_a_value_like_any_other(folder, counts):
    k = function_of(
        "def k(x: ndarray(i32, 1)):\n    for i in x:\n        x[i] = x[i] * thing.factor\n", thing=thing
    )
    given = specialise(k, {"x": np.zeros(3, "i4")})
    for _ in range(2):
        artifact_cache.cached_compile(k, given, X86())
    assert counts() == (1, 1, 1)


def test_the_collection_of_cycles_is_paused_while_threads_compile_and_then_as_it_was(monkeypatch):
    assert gc.isenabled()
    inside, leave = threading.Event(), threading.Event()

    def stay():
        with paused_collection():
            inside.set()
            leave.wait(60)

    thread = threading.Thread(target=stay)
    with paused_collection():
        thread.start()
        assert inside.wait(60)
        assert not gc.isenabled()
    assert not gc.isenabled()  # the other thread still compiles
    leave.set()
    thread.join()
    assert gc.isenabled()
    gc.disable()
    try:
        with paused_collection():
            pass
        assert not gc.isenabled()  # the program turned it off
    finally:
        gc.enable()
