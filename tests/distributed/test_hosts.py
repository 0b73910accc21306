# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the connections between ranks of several hosts (cuda_graphs/distributed/links.py).

The ranks are processes of this machine that take themselves for ranks of two hosts.
"""

import logging
import socket
import subprocess
import threading

import pytest

from cuda_graphs.distributed import links, watch
from cuda_graphs.distributed.health import Health
from tests.distributed.ranks import run
from tests.distributed.test_deaths import HYDRA, ranks_here

LIMIT_S = 60


@pytest.mark.parametrize("program", ["late", "closed", "forked"])
def test_the_program_ends_well_on_ranks_of_two_hosts(program):
    """A late rank is not taken for one that has ended, nor a closed communicator; a forked child hides no end."""
    run(ranks_here(3), "-m", "tests.distributed.hosts", program, limit=LIMIT_S, options=HYDRA)


def test_ranks_that_cannot_connect_go_on_and_a_warning_says_which_and_why():
    output = run(ranks_here(3), "-m", "tests.distributed.hosts", "unreachable", limit=LIMIT_S)
    assert output.count("the end of ranks of other hosts is not found") == 1
    assert "ranks have connected (timed out)" in output


def in_thread(function, *args):
    """Return a thread that has started, and the list that gets the result of the function."""
    found = []
    thread = threading.Thread(target=lambda: found.append(function(*args)))
    thread.start()
    return thread, found


def test_another_program_that_connects_is_no_rank_and_keeps_no_rank_out(monkeypatch):
    monkeypatch.setattr(links, "HELLO_S", 0.2)
    monkeypatch.setattr(links, "addresses", lambda: ["localhost"])
    server, offer = links.offered()
    port = server.getsockname()[1]
    strangers = [socket.create_connection(("localhost", port)) for _ in range(3)]
    strangers[0].sendall(b"GET / HTTP/1.1\r\n\r\n")
    strangers[1].close()
    thread, found = in_thread(links.accepted, server, offer, 1)
    mine = links.connected(offer, 5)
    thread.join()
    assert list(found[0]) == [5]
    for each in (mine, *strangers, *found[0].values(), server):
        each.close()


def greet(server, line):
    with server.accept()[0] as connection:
        connection.sendall(line)


def test_a_rank_refuses_another_program_at_the_port_of_rank_0_and_names_each_address():
    with socket.create_server(("localhost", 0)) as server:
        port = server.getsockname()[1]
        thread, _ = in_thread(greet, server, b"220 mail\n")
        with pytest.raises(OSError, match=f"another program listens at port {port}; host.invalid: "):
            links.connected(f"secret answer {port} localhost host.invalid", 1)
        thread.join()


def pair():
    """Return the Links of rank 0 and of rank 1 of a communicator of two hosts."""
    with socket.create_server(("localhost", 0)) as server:
        theirs = socket.create_connection(server.getsockname())
        ours, _ = server.accept()
    return links.Link(ours, 1, 4712, True), links.Link(theirs, 0, 4711, False)


def test_rank_0_tells_other_hosts_of_an_end_on_its_own_host():
    """It may end soon itself, and they would take that for the reason."""
    health, (ours, theirs) = Health(), pair()
    with subprocess.Popen(["sleep", "60"]) as child:
        watch.add_link(health, ours)
        watch.add(health, 2, child.pid)
        watch.start_thread()
        child.kill()
        wait_for(theirs)
        assert theirs.find_reason().startswith(f"rank 2 has ended (process {child.pid})")
        watch.unwatch(health)
    theirs.forget()


def wait_for(link):
    """Wait until something has come."""
    with link._socket.dup() as copy:
        copy.settimeout(LIMIT_S)
        copy.recv(1, socket.MSG_PEEK)


def test_a_link_tells_an_end_a_farewell_and_the_reason_of_rank_0():
    ours, theirs = pair()
    assert ours.find_reason() is None and not ours.is_over
    ours.tell("rank 7 has ended")
    wait_for(theirs)
    assert theirs.find_reason() == "rank 7 has ended" and not theirs.is_over
    theirs.close()
    wait_for(ours)
    assert ours.find_reason() is None and ours.is_over
    ours.forget()
    ours, theirs = pair()
    theirs.forget()  # as the kernel does when the process ends
    wait_for(ours)
    assert ours.find_reason().startswith("rank 1 has ended (process 4712)") and ours.is_over
    ours.forget()


def test_the_kernel_ends_a_connection_whose_host_answers_no_probe_for_some_seconds():
    """The options that the kernel gets. test_lost_host.py sees their effect, where network namespaces may be made."""
    ours, theirs = pair()
    option = ours._socket.getsockopt
    assert option(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 1000 * links.LOST_S
    assert option(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
    idle, interval = (
        option(socket.IPPROTO_TCP, each) for each in (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL)
    )
    assert idle + interval <= links.LOST_S
    ours.forget(), theirs.forget()


def test_a_connection_that_is_lost_is_no_end_of_the_rank():
    class Lost:
        def recv(self, size):
            raise TimeoutError(110, "Connection timed out")

    ours, theirs = pair()
    ours.forget(), theirs.forget()
    ours._socket = Lost()
    assert ours.find_reason().startswith("the connection to rank 1 on another host is lost ([Errno 110]")
    assert ours.is_over


def test_a_warning_is_given_by_rank_0_only(caplog, monkeypatch):
    monkeypatch.setattr(links, "ACCEPT_S", 0.2)
    with caplog.at_level(logging.WARNING, "cuda_graphs.distributed"):
        assert links.connect_hosts(0, [1, 2], lambda data: [data, b"rank 1: no route"]) == []
    assert len(caplog.records) == 1 and "rank 0: 0 of 1 ranks have connected" in caplog.text
