# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: every figure is a median with its best turn and its spread, and a winner wins by both statistics."""

import importlib
import itertools
import json
import math

import numpy as np
import pytest

from benchmarks import statistic
from benchmarks.statistic import best_other, cell, faster, ratio_cell, ratios, record, spread, values, verdict

FILES = ["graph_calls", "growth", "kernels_h200", "kernels_host", "graph_kernels_h200", "graph_kernels_host"]
FILES += ["compile", "gradients_h200", "gradients_host", "loading", "ptx_kernels", "ptx_kernels_1_thread"]
LARGE_GRAPHS = ["large_graph_h200", "large_graph_host_16_cores", "large_graph_host_2_cores"]
FILES += ["ptx_kernels_16_threads", *LARGE_GRAPHS]


def only(median, best):
    """A Record of a run that kept no turns."""
    return {"median": median, "best": best, "quartiles": None, "turns": None}


def records(found):
    """All Records below a JSON value."""
    if isinstance(found, dict) and found.keys() == statistic.Record.__annotations__.keys():
        yield found
    elif isinstance(found, dict):
        for each in found.values():
            yield from records(each)


@pytest.fixture
def benchmark_modules(tree, monkeypatch):
    """Imports modules of benchmarks/ by the names that its programs use."""
    monkeypatch.syspath_prepend(str(tree.root / "benchmarks"))
    return importlib.import_module


@pytest.mark.parametrize("count", [1, 2, 3, 9, 15])
def test_statistics_of_turns_are_those_of_numpy(count):
    turns = list(np.random.default_rng(count).lognormal(size=count))
    found = record(turns)
    assert found["median"] == pytest.approx(np.median(turns))
    assert found["best"] == np.min(turns)
    assert found["quartiles"] == pytest.approx(np.percentile(turns, [25, 75]))
    assert found["turns"] == turns
    assert spread(found) == pytest.approx(np.subtract(*np.percentile(turns, [75, 25])) / np.median(turns))


def test_contestant_without_turns_is_absent_and_never_compared():
    there = record([1.0, 2.0, 3.0])
    assert record([]) is None
    assert ratios(None, there) == ratios(there, None) == {"median": None, "best": None}
    assert not faster(there, None)
    assert not faster(None, there)
    assert best_other([None, None], there) == {"median": None, "best": None}
    assert best_other([None, record([4.0])], there) == {"median": 2.0, "best": 4.0}
    assert cell(None) == ratio_cell(ratios(None, there)) == statistic.ABSENT
    assert verdict(values(None), 5.0) == "absent"


def test_ratio_is_the_ratio_of_medians_and_the_one_of_best_turns_stands_beside_it():
    ours, theirs = record([1.0, 2.0, 9.0]), record([3.0, 3.0, 4.0])
    assert ratios(theirs, ours) == {"median": 1.5, "best": 3.0}
    assert ratio_cell(ratios(theirs, ours)) == "1.50 (3.00)"
    assert cell(ours) == "2.00 (1.00, 200%)"
    assert cell(only(2.0, None)) == "2.00 (n/r)"
    assert cell(only(None, 123.4)) == "n/r (123)"


def test_best_of_the_others_is_chosen_for_each_statistic():
    ours, even, uneven = record([2.0, 2.0, 2.0]), record([3.0, 3.0, 3.0]), record([1.0, 9.0, 9.0])
    assert best_other([even, uneven], ours) == {"median": 1.5, "best": 0.5}


def test_contestant_is_faster_only_by_both_statistics():
    levels = (1.0, 2.0, 3.0)
    for medians, bests in itertools.product(itertools.product(levels, repeat=2), repeat=2):
        one, other = (only(median, best) for median, best in zip(medians, bests, strict=True))
        wins = medians[0] < medians[1] and bests[0] < bests[1]
        assert faster(one, other) == wins
        assert not (faster(one, other) and faster(other, one))
        flips = (medians[0] - medians[1]) * (bests[0] - bests[1]) < 0
        marked = ratio_cell(ratios(one, other)).endswith(statistic.UNDECIDED)
        assert marked or not flips
        assert not (marked and wins)


def test_statistic_that_was_not_recorded_wins_nothing():
    assert not faster(only(1.0, None), only(2.0, 2.0))
    assert not faster(only(1.0, 1.0), only(None, 2.0))


@pytest.mark.parametrize(
    ("median", "best", "said"),
    [
        (4.0, 3.0, "met"),
        (9.0, 5.0, "missed"),
        (9.0, 3.0, "missed by the median, met by the best"),
        (3.0, None, "met"),
        (None, 5.0, "missed"),
    ],
)
def test_verdict_on_a_bar_names_the_statistic_where_the_two_disagree(median, best, said):
    assert verdict(values(only(median, best)), 4.0) == said


@pytest.mark.parametrize("file", FILES)
def test_committed_statistics_are_those_of_the_committed_turns(tree, file):
    found = list(records(json.loads((tree.root / f"docs/figures/{file}.json").read_text())))
    assert found
    for one in found:
        if one["turns"] is not None:
            assert one == record(one["turns"])
        else:
            assert one["quartiles"] is None
            assert any(value is not None for value in values(one).values())
        if None not in values(one).values():
            assert one["best"] <= one["median"]


def times_left(tree):
    """Each row of the table of speed-ups, with the part of its time that remains with 16 threads, and that of numba."""
    one, many = (
        json.loads((tree.root / f"docs/figures/ptx_kernels_{threads}.json").read_text())["milliseconds"]
        for threads in ("1_thread", "16_threads")
    )
    for title, row in one.items():
        left = {
            name: {of: many[title][name][of] / taken[of] for of in ("median", "best")}
            for name, taken in row.items()
        }
        for name in ("cuda_graphs", "cuda_graphs, fast"):
            yield f"{title}, {name}", {name: left[name], "numba": left["numba"]}


def test_rows_whose_winner_flips_are_marked_on_the_page(tree):
    page = (tree.root / "docs/performance.md").read_text()
    flipped = []
    read = {
        file: json.loads((tree.root / f"docs/figures/{file}.json").read_text())["figures"]
        for file in ("kernels_h200", "kernels_host", "compile", "graph_calls")
    }
    rows = [*read["kernels_h200"].items(), *read["kernels_host"].items()]
    for row, found in read["graph_calls"].items():
        rows.append((row, {name: found[name] for name in ("cuda_graphs", "cuda.core")}))
    for clock, name in (("cpu", "CPU time"), ("elapsed", "elapsed")):
        rows += [(f"{row}, {name}", found) for row, found in read["compile"][clock].items()]
    for file in LARGE_GRAPHS:
        steps = json.loads((tree.root / f"docs/figures/{file}.json").read_text())["figures"]
        contestants = ("cuda_graphs, 1000000 nodes", "C, 1000000 nodes")
        rows += [(step, {name: found[name] for name in contestants}) for step, found in steps.items()]
    rows += list(times_left(tree))
    for row, found in rows:
        ours, *others = found.values()
        by_median, by_best = (
            min((one[of] for one in others if one), default=math.inf) < ours[of] for of in ("median", "best")
        )
        if by_median != by_best:
            flipped.append(row)
    marked = [line.split(" | ")[0].lstrip("| ") for line in page.splitlines() if line.endswith("~ |")]
    assert sorted(marked) == sorted(flipped)
    assert flipped


def test_measuring_counts_the_turns_that_were_taken_and_no_others(benchmark_modules):
    measure = benchmark_modules("timing").measure
    scripts = {
        "steady": [9.0, 1.0, 2.0, 3.0],
        "ends": [9.0, 4.0, math.nan, math.nan],
        "never": [math.nan] * 4,
    }
    contestants = {name: iter(script).__next__ for name, script in scripts.items()} | {"missing": None}
    assert measure(contestants, rounds=3) == {
        "steady": record([1.0, 2.0, 3.0]),
        "ends": record([4.0]),
        "never": None,
        "missing": None,
    }


class Scripted:
    """A contestant whose turns take what its script says; it ends after the script."""

    def __init__(self, *turns, reason=None):
        self.turns, self.reason, self.taken = list(turns), reason, 0

    def turn(self):
        self.taken += 1
        return self.turns.pop(0)


def test_row_of_a_benchmark_reports_absent_contestants_with_the_reason(benchmark_modules):
    kernels, absent = benchmark_modules("kernels"), benchmark_modules("contestant").Absent

    class Ending(Scripted):
        def turn(self):
            if not self.turns:
                raise absent("its process ended with -11")
            return super().turn()

    def ready(contestant):
        if contestant.reason:
            raise absent(contestant.reason)

    slow = kernels.SLOW * 2
    there = {
        "ours": Scripted(*[5.0, 1.0, 2.0, 3.0, 4.0, 6.0]),
        "refuses": Scripted(reason="has no such operation"),
        "ends": Ending(1.0, 1.0),
        "slow": Scripted(*[slow] * 6),
        "unable": Scripted(),
    }
    reasons = {}
    able = [name for name in there if name != "unable"]
    found = kernels.take_turns("row", there, able, ready, 5, reasons)
    assert found["ours"] == record([1.0, 2.0, 3.0, 4.0, 6.0])
    assert found["slow"] == record([slow] * kernels.ENOUGH)
    assert there["slow"].taken == kernels.ENOUGH + 1
    assert [found[name] for name in ("refuses", "ends", "unable")] == [None, None, None]
    assert reasons == {"row, refuses": "has no such operation", "row, ends": "its process ended with -11"}


def test_contestants_that_never_came_keep_their_columns(benchmark_modules):
    with_absent = benchmark_modules("kernels").with_absent
    there = record([1.0])
    found = with_absent({"row": {"ours": there}}, ["ours", "Warp"])
    assert found == {"row": {"ours": there, "Warp": None}}


def test_table_on_the_terminal_shows_all_statistics_and_absent_contestants(benchmark_modules, capsys):
    benchmark_modules("timing").show("title", {"row": {"ours": record([1.0, 2.0, 3.0]), "peer": None}})
    printed = capsys.readouterr().out
    assert "2.000 (1.000, 50%)" in printed
    assert "absent" in printed


def test_page_names_absent_contestants_and_their_reasons():
    from docs.figures_text import absent

    reasons = {"Warp": "No module named 'warp'", "row, CuPy": "takes no arrays of NumPy"}
    assert absent(reasons, ["numba", "Warp", "CuPy"]) == "Absent: Warp (No module named 'warp')."
    assert absent({}, ["Warp"]) == ""
