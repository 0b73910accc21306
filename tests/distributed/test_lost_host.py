# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a host that loses its power or its network is found within 5 s.

The other host is a network namespace of Linux, whose cable is a pair of virtual interfaces. Its processes live on, and
send nothing any more, as after a loss of power.
"""

import os
import shutil
import subprocess
import sys
import time

import pytest

import cuda_graphs as cg
from cuda_graphs.distributed import links, watch
from cuda_graphs.distributed.health import Health
from tests.distributed.ranks import ROOT

LIMIT_S = 5
OURS, THEIRS = "10.213.77.1", "10.213.77.2"
RANK_1 = """
import sys, time
from cuda_graphs.distributed import links
link = links.Link(links.connected(sys.argv[1], 1), 0, 4711, False)
print("connected", flush=True)
time.sleep(60)
"""


def ip(*words):
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=False)


@pytest.fixture
def other_host():
    """Make a network namespace with a cable to this one, and return its name."""
    name = f"cg{os.getpid()}"
    if os.geteuid() or shutil.which("ip") is None or ip("netns", "add", name).returncode:
        pytest.skip("needs the right to make network namespaces, and the program ip")
    try:
        for words in (
            ("link", "add", f"{name}a", "type", "veth", "peer", "name", f"{name}b", "netns", name),
            ("address", "add", f"{OURS}/30", "dev", f"{name}a"),
            ("-n", name, "address", "add", f"{THEIRS}/30", "dev", f"{name}b"),
            ("link", "set", f"{name}a", "up"),
            ("-n", name, "link", "set", f"{name}b", "up"),
        ):
            done = ip(*words)
            if done.returncode:
                pytest.skip(f"ip {' '.join(words)}: {done.stderr}")
        yield name
    finally:
        ip("netns", "delete", name)  # with the cable


@pytest.fixture
def rank_1(other_host, monkeypatch):
    """Start a process on the other host that connects, and return it with our Link to it."""
    monkeypatch.setattr(links, "addresses", lambda: [OURS])
    server, offer = links.offered()
    child = subprocess.Popen(
        ["ip", "netns", "exec", other_host, sys.executable, "-c", RANK_1, offer],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        found = links.accepted(server, offer, 1)
        assert child.stdout.readline() == "connected\n"
        yield child, links.Link(found[1], 1, child.pid, True)
    finally:
        server.close()
        child.kill()
        child.communicate()


def watched(link):
    cg.Device().set_current()
    health = Health()
    watch.add_link(health, link)
    watch.start_thread()
    return health


def seconds_until_a_reason(health):
    begin = time.monotonic()
    while health.reason is None and time.monotonic() - begin < 2 * LIMIT_S:
        time.sleep(0.01)
    return time.monotonic() - begin


def test_a_host_without_a_network_is_lost_and_before_that_nothing_is_wrong(other_host, rank_1):
    health = watched(rank_1[1])
    time.sleep(links.LOST_S + 1)
    assert health.reason is None  # probes are answered
    assert ip("-n", other_host, "link", "set", f"{other_host}b", "down").returncode == 0
    assert seconds_until_a_reason(health) < LIMIT_S
    assert health.reason.startswith("the connection to rank 1 on another host is lost (")


def test_a_rank_of_another_host_that_is_killed_has_ended(other_host, rank_1):
    health = watched(rank_1[1])
    rank_1[0].kill()
    assert seconds_until_a_reason(health) < LIMIT_S
    assert health.reason.startswith("rank 1 has ended (process ")
