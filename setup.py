# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Builds shared libraries and the Cython extensions that link the first of them.

Metadata stands in pyproject.toml. `cuda.h` comes from CUDA_HOME or CUDA_PATH where one is set, else from the wheel
nvidia-cuda-runtime. Environment: CXX (e.g. "ccache g++"), MAX_JOBS (default: all cores), CUDA_GRAPHS_CXXFLAGS.
"""

import compileall
import gc
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import Cython
from Cython.Build import cythonize
from Cython.Build.Dependencies import DependencyTree
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).parent
# Cython's trees are large and contain almost no garbage: its collection took half of Cython's time.
gc.set_threshold(1_000_000)
JOBS = int(os.environ.get("MAX_JOBS", 0)) or os.cpu_count() or 1


def time_of_change(tree: DependencyTree, path: str) -> float:
    """Returns when a file changed from which Cython translates a module. Cython's own declarations count as old: pip
    builds this package with one copy of Cython and installs another copy afterwards. Each version has its build_dir.
    """
    return 0.0 if Path(path).is_relative_to(Path(Cython.__file__).parent) else os.path.getmtime(path)


DependencyTree.timestamp = time_of_change


def cuda_include() -> str:
    """The folder that holds cuda.h."""
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        root = os.environ.get(variable)
        if root and Path(root, "include", "cuda.h").exists():
            return str(Path(root, "include"))
    from cuda import pathfinder

    folder = pathfinder.find_nvidia_header_directory("cudart")
    if folder is None or not Path(folder, "cuda.h").exists():
        raise SystemExit(
            "cuda.h not found: install the wheel nvidia-cuda-runtime, or set CUDA_HOME to a CUDA toolkit"
        )
    return folder


# Warnings are errors in a checkout. Users build the source distribution with compilers that may warn of something else.
WARNINGS = ["-Wall", "-Wextra", *(["-Werror"] if (ROOT / ".git").exists() else [])]
COMMON = ["-std=c++17", "-g0"]
CUSTOM = shlex.split(os.environ.get("CUDA_GRAPHS_CXXFLAGS", ""))
OURS = [*COMMON, "-O2", *WARNINGS, "-Wsign-conversion", *CUSTOM]
# Code that Cython writes spends its time in calls of Python and of our libraries. Neither -O2 nor a section of its own
# for the code of errors (__Pyx_AddTraceback as a cold function) changed a launch or a node on an H200 by more than the
# noise. -O2 takes half as long again to compile. The scaffolding of Cython does not pass all of -Wextra.
GENERATED = [
    *COMMON,
    "-O1",
    *WARNINGS,
    "-Wno-unused-function",
    "-Wno-unused-parameter",
    "-Wno-missing-field-initializers",
    *CUSTOM,
]

# Headers of others that most of our files include. The compiler reads them once for each set of flags, which saves two
# fifths of its time. Our own headers are not among them: a precompiled header does not notice that they change.
STANDARD = """cuda.h algorithm array atomic condition_variable cstdint cstdio cstdlib cstring deque map memory mutex
    optional set string string_view tuple unordered_map utility variant vector""".split()
# Cython's code defines PY_SSIZE_T_CLEAN before it includes Python.h.
PYTHON = ["Python.h", "structmember.h", "pythread.h", "ios", "new", "stdexcept", "typeinfo", "cmath"]


def sources(*folders: str) -> list[str]:
    return sorted(
        str(path.relative_to(ROOT)) for folder in folders for path in (ROOT / folder).rglob("*.cpp")
    )


class SharedLibrary(Extension):
    """A plain shared library in a package folder: no PyInit function, a fixed file name."""


# Link flags of the libraries that replace NVIDIA's by name. They contain no driver code and load the host driver
# (hostdriver/standin/libcuda/standin.cpp).
NEEDS_HOST_DRIVER = [
    "-Wl,--no-as-needed",
    "-lcuda_graphs_hostdriver",
    "-Wl,-rpath,$ORIGIN/..",
]

LIBRARIES = [
    # name, source folders, compile flags, link flags; the SONAME is the file name unless the link flags give another
    (
        "cuda_graphs.core.libcuda_graphs_core",
        ["cuda_graphs/core", "cuda_graphs/loader", "cuda_graphs/formats"],
        [
            "-fno-semantic-interposition"
        ],  # the library's functions are never interposed, so internal calls are direct
        ["-ldl", "-Wl,-Bsymbolic-functions"],
    ),
    (
        "cuda_graphs.hostdriver.libcuda_graphs_hostdriver",
        [
            *(
                f"cuda_graphs/hostdriver/{room}"
                for room in ("api", "execution", "loader", "objects", "sanitizer")
            ),
            "cuda_graphs/formats",
        ],
        ["-fvisibility=hidden"],  # exports the driver's functions and the plug, nothing else
        ["-pthread", "-ldl", "-Wl,-Bsymbolic"],
    ),
    (
        # For C: a core of its own, whose lock is not Python's, so the file that includes Python.h is left out.
        "cuda_graphs.runtime.libcuda_graphs",
        ["cuda_graphs/runtime", "cuda_graphs/loader", "cuda_graphs/formats", "cuda_graphs/core"],
        ["-fvisibility=hidden"],
        ["-pthread", "-ldl", "-Wl,-Bsymbolic", "-Wl,--version-script=cuda_graphs/runtime/exports.map"],
    ),
    *(
        (
            f"cuda_graphs.hostdriver.standin.{name}",
            [f"cuda_graphs/hostdriver/standin/{folder}"],
            [],
            [f"-Wl,-soname,{soname}", *NEEDS_HOST_DRIVER],
        )
        for name, folder, soname in (
            ("libcuda_graphs_standin", "libcuda", "libcuda.so.1"),
            ("libcuda_graphs_standin_unversioned", "libcuda", "libcuda.so"),
            ("libcuda_graphs_standin_nvml", "nvml", "libnvidia-ml.so.1"),
        )
    ),
]

# Each .pyx is one extension, named by its path.
EXTENSIONS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "cuda_graphs").rglob("*.pyx"))


# Sources that a library leaves out.
WITHOUT = {"cuda_graphs.runtime.libcuda_graphs": {"cuda_graphs/core/handles/gil.cpp"}}


def shared_libraries(include: str) -> list[SharedLibrary]:
    return [
        SharedLibrary(
            name,
            [source for source in sources(*folders) if source not in WITHOUT.get(name, ())],
            include_dirs=["cuda_graphs", include],
            extra_compile_args=[*OURS, *flags],
            extra_link_args=[f"-Wl,-soname,{name.rpartition('.')[2]}.so", *link],  # the last SONAME counts
            language="c++",
        )
        for name, folders, flags, link in LIBRARIES
        if sources(*folders)
    ]


def extensions(include: str) -> list[Extension]:
    return [
        Extension(
            path.removesuffix(".pyx").replace("/", "."),
            [path],
            depends=["setup.py"],  # its flags
            include_dirs=["cuda_graphs", include],
            extra_compile_args=GENERATED,
            libraries=["cuda_graphs_core"],
            runtime_library_dirs=["$ORIGIN/" + "../" * (path.count("/") - 1) + "core"],
            language="c++",
        )
        for path in EXTENSIONS
    ]


class BuildExt(build_ext):
    """Shared libraries first, object files in parallel; then the extensions in parallel."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or JOBS
        if self.editable_mode:
            # The folders of `make`, which then has nothing left to do. The folders that pip gives are temporary.
            platform = f"{self.plat_name}-{sys.implementation.cache_tag}"
            self.build_lib, self.build_temp = f"build/lib.{platform}", f"build/temp.{platform}"

    def run(self) -> None:
        super().run()
        if self.inplace:
            # As installers do. Where Python does not write bytecode (PYTHONDONTWRITEBYTECODE), each process would
            # compile each module again: 20 ms before a first image is loaded from disk, and 60 ms in `import`.
            compileall.compile_dir(ROOT / "cuda_graphs", quiet=1)

    def get_ext_filename(self, fullname: str) -> str:
        name = fullname.rpartition(".")[2]
        return (
            fullname.replace(".", "/") + ".so"
            if name.startswith("lib")
            else super().get_ext_filename(fullname)
        )

    def precompiled(self, name: str, headers: list[str], extension: Extension) -> list[str]:
        """Precompiles `headers` with the flags of an extension; returns the flags that include them in a source."""
        folder = Path(self.build_temp, "precompiled")
        folder.mkdir(parents=True, exist_ok=True)
        source, header = folder / f"{name}.cpp", folder / f"{name}.hpp"
        text = "#define PY_SSIZE_T_CLEAN\n" + "".join(f"#include <{each}>\n" for each in headers)
        outcome = header.with_suffix(".hpp.gch")
        compiler = self.compiler.compiler_so_cxx
        version = subprocess.check_output([*compiler, "--version"], text=True).partition("\n")[0]
        cuda = Path(extension.include_dirs[-1], "cuda.h").stat().st_mtime_ns
        flags = (version, compiler, extension.include_dirs, cuda, extension.extra_compile_args)
        key = f"{text}// {flags}\n"
        if not outcome.exists() or not header.exists() or header.read_text() != key:
            source.write_text(text)
            (made,) = self.compiler.compile(
                [str(source.absolute())],
                output_dir=os.sep,  # beside the source
                include_dirs=extension.include_dirs,
                extra_preargs=["-x", "c++-header"],
                extra_postargs=extension.extra_compile_args,
            )
            Path(made).rename(outcome)
            header.write_text(key)
        # -fpch-preprocess is for ccache, and -Winvalid-pch has the build fail where the compiler does not take it.
        return ["-include", str(header), "-Winvalid-pch", "-fpch-preprocess"]

    def build_extensions(self) -> None:
        libraries = [e for e in self.extensions if isinstance(e, SharedLibrary)]
        for library in libraries:
            self.build_shared_library(library)
        core = Path(self.get_ext_fullpath(libraries[0].name)).parent
        everything, self.extensions = self.extensions, [e for e in self.extensions if e not in libraries]
        for extension in self.extensions:
            extension.library_dirs.append(str(core))
        included = self.precompiled("extensions", [*PYTHON, *STANDARD], self.extensions[0])
        for extension in self.extensions:
            extension.extra_compile_args = [*extension.extra_compile_args, *included]
        super().build_extensions()
        self.extensions = everything

    def build_shared_library(self, library: SharedLibrary) -> None:
        headers = [p for p in (ROOT / "cuda_graphs").rglob("*") if p.suffix in {".hpp", ".h", ".def"}]
        newest_header = max(p.stat().st_mtime for p in (*headers, Path(__file__)))
        name = library.name.rpartition(".")[2]
        objects_dir = Path(self.build_temp, name)  # libraries share sources, and have flags of their own
        included = self.precompiled(name, STANDARD, library) if len(library.sources) > 1 else []

        def compile_one(source: str) -> str:
            target = objects_dir / Path(source).with_suffix(".o")
            if target.exists() and target.stat().st_mtime > max(newest_header, Path(source).stat().st_mtime):
                return str(target)
            return self.compiler.compile(
                [source],
                output_dir=str(objects_dir),
                include_dirs=library.include_dirs,
                extra_postargs=[*library.extra_compile_args, *included],
            )[0]

        with ThreadPoolExecutor(JOBS) as pool:
            objects = list(pool.map(compile_one, library.sources))
        target = self.get_ext_fullpath(library.name)
        if Path(target).exists() and all(os.path.getmtime(o) < os.path.getmtime(target) for o in objects):
            return
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        self.compiler.link_shared_object(
            objects,
            target,
            extra_postargs=library.extra_link_args,
            library_dirs=[str(Path(self.get_ext_fullpath("cuda_graphs.hostdriver.any")).parent)],
            target_lang="c++",
            build_temp=self.build_temp,
        )


if __name__ == "__main__":
    include = cuda_include()
    setup(
        ext_modules=[
            *shared_libraries(include),
            *cythonize(
                extensions(include),
                build_dir=f"build/cython-{Cython.__version__}",
                nthreads=JOBS,
                compiler_directives={
                    "language_level": "3",
                    "embedsignature": True,
                    "binding": True,
                    "auto_pickle": False,  # no object that stands for a resource of this process leaves it
                },
            ),
        ],
        cmdclass={"build_ext": BuildExt},
    )
