# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: each verb reports what the library itself says: of the drivers, of the graphs of a script, of the cache, of the
nodes that a driver runs."""

import json
import os
import subprocess
import sys

import pytest

import cuda_graphs as cg
from cuda_graphs.command_line import children, doctor_nodes
from cuda_graphs.command_line.doctor_nodes import NODES, Trial
from tests.conftest import ROOT

STEP = """
import sys
import cuda_graphs as cg

@cg.kernel
def step(x: cg.types.ndarray(cg.i32, ndim=1)):
    for i in range(x.shape[0]):
        x[i] += 1

@cg.kernel(graph=True)
def steps(x: cg.types.ndarray(cg.i32, ndim=1)):
    for i in range(x.shape[0]):
        x[i] += 1

device = cg.Device()
device.set_current()
stream = device.create_stream()
x = cg.zeros(64, cg.i32)
g = cg.GraphDef()
g.memset(x, 1).call(step, x)
"""
ALONE = STEP + "g.memset(x, 0, name='lost')\nprint(g)\nprint(len(g.check()))\ng.draw('own.svg')\n"
SEVERAL = (
    STEP
    + """
def inner():
    h = cg.GraphDef()
    h.join()
    h.instantiate()
for _ in range(2):
    inner()
graph = g.instantiate()
steps(x)
with stream.create_graph_builder() as builder:
    step(x, stream=builder)
captured = builder.complete()
"""
)
LAUNCHED = (
    STEP
    + """
def inner():
    h = cg.GraphDef()
    h.memset(x, 5)
    graph = h.instantiate()
    for _ in range(3):
        graph.launch(stream)
inner()
graph = g.instantiate()
for _ in range(4):
    graph.launch(stream)
steps(x)
steps(x)
"""
)


@pytest.fixture
def script(tmp_path):
    def write(text):
        (tmp_path / "script.py").write_text(text)
        return "script.py"

    return write


def data_of(done):
    assert done.stderr == ""
    return json.loads(done.stdout)


class TestInfo:
    def test_the_report_names_the_driver_and_its_devices(self, command, driver):
        data = data_of(command("info", "--json", CUDA_GRAPHS_HOST_DEVICES="3"))
        assert (data["chosen"]["kind"], data["cuda_graphs"]) == (driver.kind, cg.__version__)
        assert [each["number"] for each in data["drivers"]["host"]["devices"]] == [0, 1, 2]
        assert data["packages"]["numpy"] == __import__("numpy").__version__
        assert data["environment"]["CUDA_GRAPHS_HOST_DEVICES"] == "3"

    def test_the_report_says_why_no_gpu_was_found(self, command):
        data = data_of(command("info", "--json", CUDA_GRAPHS_DRIVER="auto"))
        shown = command("info", CUDA_GRAPHS_DRIVER="auto").stdout
        if data["chosen"]["kind"] == "host":
            assert "no CUDA device, since" in data["chosen"]["reason"]
            assert f"not usable: {data['drivers']['cuda']['problem']}\n" in shown
        assert data["chosen"]["reason"] in shown

    def test_a_setting_that_stops_a_driver_is_shown(self, command):
        done = command("info", CUDA_GRAPHS_HOST_DEVICES="many")
        assert done.returncode == 0, done.stderr
        assert "not usable: The host driver" in done.stdout

    def test_the_report_fits_a_screen(self, command):
        assert len(command("info").stdout.splitlines()) < 40


class TestDraw:
    def test_the_tree_is_that_of_print(self, command, script):
        shown = command("draw", script(ALONE))
        tree, count = shown.stdout.split("\n", 1)[0], shown.stdout.splitlines()
        assert shown.stderr == ""
        assert count.count(tree) == 2  # of the script and of the command
        assert shown.stdout.partition("\n2\n")[2] == shown.stdout.partition("\n2\n")[0] + "\n"

    def test_the_file_is_that_of_the_method(self, command, script, tmp_path):
        data = data_of_quiet(command("draw", script(ALONE), "-o", "new.svg", "--json"))
        assert (data["graph"], data["nodes"], data["file"]) == ("g", 3, "new.svg")
        assert (tmp_path / "new.svg").read_text() == (tmp_path / "own.svg").read_text()

    def test_findings_are_drawn_on_request(self, command, script):
        assert "unordered" not in command("draw", script(ALONE)).stdout
        assert "unordered" in command("draw", "script.py", "--check").stdout

    @pytest.mark.parametrize(
        ("name", "nodes"),
        [("g", 2), ("graph", 2), ("steps", 1), ("captured", 1), ("script.py:25", 1), ("script.py:25#2", 1)],
    )
    def test_a_graph_is_chosen_by_its_global_or_its_line(self, command, script, name, nodes):
        assert data_of(command("draw", script(SEVERAL), "--name", name, "--json"))["nodes"] == nodes

    def test_each_graph_is_listed_once(self, command, script):
        done = command("draw", script(SEVERAL))
        assert done.returncode == 3
        listed = done.stderr.partition("They are ")[2].strip().split(", ")
        assert sorted(listed) == ["captured", "g", "script.py:25", "script.py:25#2", "steps"]


def data_of_quiet(done):
    """The JSON of a script that writes, too."""
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class TestCheck:
    def test_the_findings_are_those_of_the_method(self, command, script):
        done = command("check", script(ALONE), "--json")
        (graph,) = json.loads(done.stdout)["graphs"]
        assert len(graph["findings"]) == int(done.stderr.splitlines()[-1]) == 2
        assert {each["kind"] for each in graph["findings"]} == {"unordered"}
        names = {node["name"] for each in graph["findings"] for node in each["nodes"]}
        assert "lost" in names
        assert done.returncode == 1

    def test_all_graphs_are_checked(self, command, script):
        done = command("check", script(SEVERAL))
        assert done.returncode == 0
        assert sorted(line.partition(": ")[0] for line in done.stdout.splitlines() if line[:4] != "The ") == [
            "captured", "g", "script.py:25", "script.py:25#2", "steps",
        ]  # fmt: skip


class TestProfile:
    @pytest.fixture(autouse=True)
    def _on_host(self, driver):
        if driver.kind != "host":
            pytest.skip("on a GPU a profile needs CUPTI: tests/graph/test_profile_cupti.py")

    def test_the_launches_of_the_script_are_counted_by_graph(self, command, script):
        data = data_of(command("profile", script(LAUNCHED), "--json"))
        graphs = {each["name"]: each for each in data["graphs"]}
        assert {name: each["launches"] for name, each in graphs.items()} == {
            "g": 4,
            "steps": 2,
            "script.py:25": 3,
        }
        assert [row["kind"] for row in graphs["g"]["nodes"]] == ["memset", "kernel"]
        assert [row["runs"] for row in graphs["g"]["nodes"]] == [4, 4]
        assert all(len(each["spans"]) == each["launches"] for each in graphs.values())

    def test_the_times_of_nodes_and_gaps_of_a_chain_are_those_of_its_launches(self, command, script):
        (graph,) = data_of(command("profile", script(LAUNCHED), "--name", "g", "--json"))["graphs"]
        nodes, gaps = (
            sum(each["total"] for each in graph["nodes"]),
            sum(each["total"] for each in graph["gaps"]),
        )
        assert nodes + gaps == sum(graph["spans"])

    def test_the_table_is_that_of_the_profile(self, command, script):
        shown = command("profile", script(LAUNCHED), "--name", "g").stdout.splitlines()
        assert shown[0] == "g"
        assert shown[1].startswith("Graph: 2 nodes: 4 launches, ")
        assert [line[2:].split()[1] for line in shown[-2:]] == ["memset", "kernel"]

    def test_launches_are_those_after_the_end_of_the_script(self, command, script):
        (graph,) = data_of(command("profile", script(LAUNCHED), "--name", "g", "--launches", 7, "--json"))[
            "graphs"
        ]
        assert (graph["name"], graph["launches"]) == ("g", 7)

    def test_a_graph_that_the_script_does_not_launch_is_launched(self, command, script):
        (graph,) = data_of_quiet(command("profile", script(ALONE), "--launches", 2, "--json"))["graphs"]
        assert [row["name"] for row in graph["nodes"] if row["runs"] == 2] == ["memset", "step", "lost"]

    def test_a_graph_whose_parameter_has_no_value_is_refused(self, command, script):
        line = "g.memset(x, g.param('level', cg.i32))\n"
        done = command("profile", script(STEP + line), "--launches", 2)
        assert done.returncode == 3
        assert "g cannot be launched again: " in done.stderr
        assert "'level'" in done.stderr

    def test_the_trace_has_each_run(self, command, script, tmp_path):
        assert command("profile", script(LAUNCHED), "-o", "trace.json").returncode == 0
        events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
        assert sum(each.get("name") == "memset" for each in events) == 4 + 3

    @pytest.mark.parametrize(("options", "part"), [((), 'class="box'), (("--gantt",), "data-start=")])
    def test_the_picture_is_the_graph_or_the_chart(self, command, script, tmp_path, options, part):
        done = command("profile", script(LAUNCHED), "--name", "g", *options, "-o", "own.svg")
        assert (done.returncode, done.stdout) == (0, "own.svg: g\n")
        assert part in (tmp_path / "own.svg").read_text()


class TestCache:
    def test_show_counts_the_files_and_clear_removes_them(self, command, script, tmp_path):
        folder = tmp_path / "cache"
        environment = {"CUDA_GRAPHS_CACHE_DIR": str(folder)}
        assert command("check", script(STEP), **environment).returncode == 0
        data = data_of(command("cache", "show", "--json", **environment))
        files = [path for path in folder.iterdir() if path.is_file()]
        assert sum(each["count"] for each in data["entries"].values()) == len(files) > 0
        assert data["bytes"] == sum(path.stat().st_size for path in files)
        assert data["directory"] == str(folder)
        assert data_of(command("cache", "clear", "--json", **environment))["removed"] == len(files)
        assert not any(folder.iterdir())

    def test_the_state_and_the_limit_are_shown(self, command):
        shown = command("cache", "show", CUDA_GRAPHS_CACHE="0", CUDA_GRAPHS_CACHE_MIB="3").stdout
        assert "state   off (CUDA_GRAPHS_CACHE)" in shown
        assert "of at most 3 MiB" in shown

    def test_a_user_without_a_home_has_no_folder(self, monkeypatch):
        from cuda_graphs.command_line import cache
        from cuda_graphs.native import disk_cache

        monkeypatch.setattr(disk_cache, "directory", lambda: None)
        assert "(none: this user has no home)" in cache.show().text


class TestHost:
    @pytest.mark.parametrize(
        "arguments", [("script.py", "-a", "b"), ("-c", "import sys; print(sys.argv)", "-x")]
    )
    def test_the_verb_is_the_command_of_the_host_driver(self, command, script, tmp_path, arguments):
        script("import sys\nprint(sys.argv, sys.path[0], __name__)\nraise SystemExit(5)\n")
        other = subprocess.run(
            [sys.executable, "-m", "cuda_graphs.hostdriver", *arguments],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        done = command("host", *arguments)
        assert (done.stdout, done.returncode) == (other.stdout, other.returncode)


def nodes_within(definition):
    for node in definition.nodes():
        yield node
        for inner in node._inner_graphs():
            yield from nodes_within(inner)


CLASSES = {
    "kernel": cg.KernelNode,
    "memcpy": cg.MemcpyNode,
    "memset": cg.MemsetNode,
    "alloc": cg.AllocNode,
    "free": cg.FreeNode,
    "empty": cg.EmptyNode,
    "child graph": cg.ChildGraphNode,
    "host callback": cg.HostCallbackNode,
    "event record": cg.EventRecordNode,
    "event wait": cg.EventWaitNode,
    "if": cg.IfNode,
    "if-else": cg.IfElseNode,
    "while": cg.WhileNode,
    "switch": cg.SwitchNode,
}


class TestDoctor:
    def test_every_kind_of_node_has_a_trial(self):
        kinds = {
            each
            for each in cg.__dict__.get("__all__")
            if each.endswith("Node") and not each.startswith(("Executable", "Graph", "Conditional"))
        }
        assert {each.__name__ for each in CLASSES.values()} == kinds
        assert list(NODES) == list(CLASSES)

    @pytest.mark.parametrize("kind", NODES)
    def test_a_trial_has_a_node_of_its_kind_and_passes(self, device, kind):
        trial = Trial()
        expected = NODES[kind](trial)
        assert CLASSES[kind] in {type(node) for node in nodes_within(trial.definition)}
        assert trial.run() == expected
        cg.reset()

    def test_all_nodes_of_the_driver_of_these_tests_run(self, command, driver):
        done = command("doctor", "--driver", driver.kind, "--json")
        assert data_of(done) == {driver.kind: {"nodes": dict.fromkeys(NODES)}}
        assert done.returncode == 0

    def test_a_node_that_fails_is_named(self, command):
        done = command("doctor", "--driver", "host", CUDA_GRAPHS_HOST_FAIL="cuEventRecord:1")
        assert done.returncode == 1
        lines = dict(line.strip().partition("  ")[::2] for line in done.stdout.splitlines()[1:])
        failed = {kind for kind, verdict in lines.items() if verdict.strip() != "ok"}
        assert failed == {"event wait"}
        assert "1 of 14 kinds of nodes fail" in done.stdout

    def test_a_driver_that_cannot_be_used_is_no_failure_unless_it_is_wanted(self, command):
        settings = {"CUDA_GRAPHS_HOST_DEVICES": "many"}
        wanted = command("doctor", "--driver", "host", **settings)
        assert (wanted.returncode, wanted.stdout[:17]) == (1, "host: not usable:")

    def test_a_wrong_result_is_a_failure(self, device, monkeypatch):
        monkeypatch.setitem(doctor_nodes.NODES, "memset", lambda trial: [0, 0, 0, 0])
        assert doctor_nodes.problem_of("memset") == "the launch left [1, 2, 3, 4], expected [0, 0, 0, 0]"
        cg.reset()

    def test_a_process_that_fails_is_a_problem(self):
        problem = children.ask("no_such_module", driver="host")["problem"]
        assert problem.startswith("the process ended with exit code 1: ")
        assert problem.endswith("No module named cuda_graphs.command_line.no_such_module")
        assert children.ending(-11) == "by the signal SIGSEGV"
