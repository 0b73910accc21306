# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: `cuda-graphs` and `python -m cuda_graphs` are one command. Its help is quick, and its exit codes are those of
its table."""

import importlib
import json
import os
import re
import subprocess
import sys
import tomllib

import pytest
from setuptools.config.pyprojecttoml import read_configuration

import cuda_graphs as cg
from cuda_graphs.command_line.main import VERBS, main, make_parser
from cuda_graphs.command_line.outcome import EXIT_CODES
from tests.conftest import ROOT

SUM = "cg.array([1, 2], cg.i32)"
LAUNCHES = f"""import cuda_graphs as cg
cg.Device().set_current()
stream = cg.Device().create_stream()
x = {SUM}
g = cg.GraphDef()
g.memset(x, 0)
g.instantiate().launch(stream)
"""
REPLAYED = f"""import cuda_graphs as cg
@cg.kernel(graph=True)
def steps(x: cg.types.ndarray(cg.i32, ndim=1)):
    x[0] += 1
steps({SUM})
"""
# Names of files -> their text, for the command lines below.
FILES = {
    "fine.py": "import cuda_graphs as cg\ng = cg.GraphDef()\ng.join()\n",
    "wrong.py": f"import cuda_graphs as cg\nx = {SUM}\ng = cg.GraphDef()\ng.memset(x, 0)\ng.memset(x, 1)\n",
    "raises.py": "def inner():\n    raise ValueError('no')\n\ninner()\n",
    "nothing.py": "import cuda_graphs as cg\ng = cg.GraphDef()\n",
    "exits.py": "raise SystemExit(7)\n",
    "ends.py": "import cuda_graphs as cg\ng = cg.GraphDef()\ng.join()\nraise SystemExit\n",
    "syntax.py": "x = = 3\n",
    "empty.py": "x = 3\n",
    "two.py": "import cuda_graphs as cg\ng, h = cg.GraphDef(), cg.GraphDef()\ng.join()\nh.join().join()\n",
    "launches.py": LAUNCHES,
    "unlaunched.py": f"import cuda_graphs as cg\nx = {SUM}\ng = cg.GraphDef()\ng.memset(x, 0)\n",
    "launches_two.py": f"{LAUNCHES}h = cg.GraphDef()\nh.memset(x, 3)\nh.instantiate().launch(stream)\n",
    "replayed.py": REPLAYED,
    "itself.py": "import cuda_graphs as cg\nwith cg.profile(): pass\n",
    "graph.json": "{}",
}
ENDINGS = [
    ("--help", 0, ""),
    ("--version", 0, ""),
    ("cache show", 0, ""),
    ("check fine.py", 0, ""),
    ("check ends.py", 0, ""),
    ("check two.py", 0, ""),
    ("draw two.py --name h", 0, ""),
    ("profile launches.py", 0, ""),
    ("profile launches.py --launches 3", 0, ""),
    ("profile unlaunched.py --launches 3", 0, ""),
    ("profile launches.py -o trace.json", 0, ""),
    ("profile launches.py --gantt -o launch.svg", 0, ""),
    ("host -c 1", 0, ""),
    ("check wrong.py", 1, ""),
    ("check wrong.py --json", 1, ""),
    ("", 2, "the following arguments are required: VERB"),
    ("drawing", 2, "invalid choice: 'drawing'"),
    ("draw", 2, "the following arguments are required: SCRIPT"),
    ("draw fine.py --nme g", 2, "unrecognized arguments: --nme g"),
    ("draw fine.py extra", 2, "unrecognized arguments: extra"),
    ("draw fine.py -o graph.gif", 2, "--output: path must end with one of .svg, .html, .png, .dot"),
    ("cache", 2, "the following arguments are required: what"),
    ("cache show -- x", 2, "cache takes no arguments after `--`"),
    ("host", 2, "usage: "),
    ("check missing.py", 3, "there is no file 'missing.py'"),
    ("check graph.json", 3, "'graph.json' is neither a Python script"),
    ("draw .", 3, "'.' is neither a Python script"),
    ("check raises.py", 3, "raises.py raised the error above"),
    ("check syntax.py", 3, "syntax.py raised the error above"),
    ("check exits.py", 3, "exits.py ended with exit code 7"),
    ("check empty.py", 3, "empty.py has no graph"),
    ("check two.py --name f", 3, "two.py has no graph 'f'. Its graphs are g, h"),
    ("draw two.py", 3, "two.py has 2 graphs: choose one with --name. They are g, h"),
    ("draw fine.py -o no/graph.svg", 3, "cannot write no/graph.svg: No such file or directory"),
    ("profile launches.py --launches 0", 2, "--launches must be 1 or more, got 0"),
    ("profile launches.py --gantt", 2, "--gantt needs a file: --gantt -o launch.svg"),
    (
        "profile launches.py -o a.gif",
        2,
        "path must end with one of .svg, .html, .png, .dot, got 'a.gif'; .json is",
    ),
    (
        "profile launches.py --gantt -o a.json",
        2,
        "--output: path must end with one of .svg, .png, got 'a.json'",
    ),
    ("profile fine.py", 3, "fine.py ran no node of a graph: --launches 20 launches one of its graphs"),
    ("profile two.py --name h", 3, "two.py ran no node of graph 'h'"),
    ("profile nothing.py --launches 3", 3, "3 launches of a graph of nothing.py ran no node"),
    ("profile two.py --launches 3", 3, "two.py has 2 graphs: choose one with --name. They are g, h"),
    ("profile launches_two.py -o a.svg", 3, "launched 2: choose one with --name. They are g, h"),
    ("profile itself.py", 3, "another profile is being recorded"),
    ("profile raises.py", 3, "raises.py raised the error above"),
    (
        "profile replayed.py --launches 3",
        3,
        "steps is the graph of a graph kernel, which only calls can launch",
    ),
    ("profile launches.py -o no/trace.json", 3, "cannot write no/trace.json: No such file or directory"),
    ("host -c raise(SystemExit(7))", 7, ""),
]


@pytest.fixture
def files(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)


@pytest.mark.parametrize(("line", "code", "message"), ENDINGS, ids=lambda each: str(each)[:40] or "nothing")
def test_each_command_line_ends_with_its_code_and_message(files, command, line, code, message):
    done = command(*line.split())
    assert done.returncode == code, done.stdout + done.stderr
    assert message in done.stderr
    if not message:
        assert done.stderr == ""


def test_every_exit_code_of_the_table_is_tried():
    assert {code for _, code, _ in ENDINGS} - {7} == set(EXIT_CODES)


def test_the_help_lists_the_verbs_and_the_exit_codes(command):
    shown = command("--help").stdout
    for name, module in VERBS.items():
        assert re.search(rf"^    {name}\s+{re.escape(module.HELP)}$", shown, re.MULTILINE), name
    for code, meaning in EXIT_CODES.items():
        assert f"  {code}  {meaning}" in shown


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_a_verb_is_its_docstring(command, verb):
    assert VERBS[verb].__doc__.strip() in command(verb, "--help").stdout


def test_the_help_loads_no_compiler_and_no_driver(run_child):
    done = run_child(
        "import sys\nfrom cuda_graphs.command_line.main import make_parser\nmake_parser().format_help()\n"
        "print(*(sorted({name.partition('.')[0] for name in sys.modules} & {'numpy', 'llvmlite', 'cuda', 'shtab'})))\n"
        "print(*(name for name in sys.modules if name.startswith('cuda_graphs.compiler')))\n"
        "print(*(line for line in open('/proc/self/maps') if 'libcuda.so' in line or 'hostdriver.so' in line))"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "\n\n\n"


def test_the_version_has_one_source(command):
    package = read_configuration(ROOT / "pyproject.toml")["project"]["version"]
    assert cg.__version__ == package
    assert command("--version").stdout == f"cuda-graphs {package}\n"


def test_the_console_script_is_the_same_command(monkeypatch, capsys):
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    module, _, name = scripts["cuda-graphs"].partition(":")
    run = getattr(importlib.import_module(module), name)
    monkeypatch.setattr("sys.argv", ["cuda-graphs", "--version"])
    with pytest.raises(SystemExit, match="0"):
        run()
    assert capsys.readouterr().out == f"cuda-graphs {cg.__version__}\n"


def test_an_error_of_a_script_is_shown_from_its_first_frame_on(files, command):
    lines = [each for each in command("check", "raises.py").stderr.splitlines() if "^" not in each]
    assert lines == [
        "Traceback (most recent call last):",
        '  File "raises.py", line 4, in <module>',
        "    inner()",
        '  File "raises.py", line 2, in inner',
        "    raise ValueError('no')",
        "ValueError: no",
        "cuda-graphs: raises.py raised the error above",
    ]


def test_a_script_gets_the_arguments_after_two_dashes(tmp_path, command):
    (tmp_path / "says.py").write_text(
        "import sys, cuda_graphs as cg\nprint(sys.argv, __name__)\ng = cg.GraphDef()\ng.join()\n"
    )
    done = command("check", "says.py", "--name", "g", "--", "--name", "x", "--", "3")
    assert done.stdout == "['says.py', '--name', 'x', '--', '3'] __main__\ng: nothing found\n"


def test_with_json_the_standard_output_is_json_alone(tmp_path, command):
    (tmp_path / "says.py").write_text(
        "import os, cuda_graphs as cg\nprint('loud')\nos.system('echo louder')\ng = cg.GraphDef()\ng.join()\n"
    )
    done = command("check", "says.py", "--json")
    assert json.loads(done.stdout)["graphs"][0]["name"] == "g"
    assert sorted(done.stderr.splitlines()) == ["loud", "louder"]


# Typed text -> the words that Tab offers.
COMPLETIONS = [
    ("", set(VERBS)),
    ("c", {"cache", "check", "completion"}),
    ("draw --th", {"--theme"}),
    ("draw --theme ", {"auto", "light", "dark"}),
    ("cache ", {"show", "clear"}),
    ("doctor --driver ", {"cuda", "host"}),
    ("check fi", {"fine.py"}),
    ("profile launches.", {"launches.py"}),
    ("profile launches.py --la", {"--launches"}),
    ("completion ", {"bash", "zsh", "fish"}),
]


@pytest.mark.parametrize(
    ("typed", "offered"), COMPLETIONS, ids=[typed or "nothing" for typed, _ in COMPLETIONS]
)
def test_bash_offers_the_words_that_fit(files, command, tmp_path, typed, offered):
    pytest.importorskip("shtab")
    script = command("completion", "bash")
    assert script.stderr == ""
    words = ["cuda-graphs", *typed.split(" ")]
    program = (
        f"{script.stdout}\nCOMP_WORDS=({' '.join(map(repr, words))})\nCOMP_CWORD={len(words) - 1}\n"
        "function=$(complete -p cuda-graphs | sed 's/.*-F \\([^ ]*\\).*/\\1/')\n"
        f"$function cuda-graphs {words[-1]!r} {words[-2]!r}\nprintf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    done = subprocess.run(["bash", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert {word for word in done.stdout.splitlines() if word[:1] != "-" or typed[-2:-1] != " "} >= offered
    assert typed not in ("c", "draw --th", "check fi") or set(done.stdout.split()) == offered


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_scripts_of_other_shells_have_each_verb_and_option(command, shell):
    pytest.importorskip("shtab")
    script = command("completion", shell).stdout
    options = {
        option.lstrip("-")
        for verb in make_parser()._subparsers._group_actions[0].choices.values()
        for action in verb._actions
        for option in action.option_strings
    }
    assert [word for word in {*VERBS, *options} if not re.search(rf"(?<!\w){word}(?!\w)", script)] == []


def test_a_reader_may_close_the_pipe(command):
    line = f"{sys.executable} -m cuda_graphs cache show | true; echo ${{PIPESTATUS[0]}}"
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    settings = {**os.environ, "PYTHONPATH": path, "CUDA_GRAPHS_CACHE": "0"}
    done = subprocess.run(["bash", "-c", line], env=settings, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("141\n", "")


def test_completion_without_its_package_names_the_extra(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 2
    assert "pip install 'cuda-graphs[completion]'" in capsys.readouterr().err
