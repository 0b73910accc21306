# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Connections between ranks of several hosts, by which they find out that a rank has ended.

A pidfd sees processes of its own host only (watch.py). So each rank keeps a TCP connection to rank 0. When a process
ends, the kernel of its host closes its connections; rank 0 tells all other ranks. A rank that is only late keeps its
connection, since the kernel of its host answers the probes. A host that answers none for LOST_S has lost its power or
its network. No data of the program goes through these connections.

A line is a farewell, or from rank 0 the reason why the communicator cannot be used any more.
"""

from __future__ import annotations

import logging
import secrets
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

__all__ = ["NOTHING", "Link", "connect_hosts", "text_of"]

LOST_S = 3  # without an answer to the probes of a connection
ACCEPT_S = 10  # for all ranks to connect to rank 0
CONNECT_S = 3  # for one address of rank 0
HELLO_S = 1  # for the first line of a connection
FAREWELL = "-"  # this rank closes its communicator
NOTHING = "-"  # stands for no text, since engines gather one byte or more
MOST_BYTES = 4096
TOKEN_BYTES = 16

log = logging.getLogger("cuda_graphs.distributed")


def text_of(rank: int, process: int) -> str:
    """Return the reason of a communicator whose rank has ended."""
    return (
        f"rank {rank} has ended (process {process}), so this communicator cannot be used any more. Results of its "
        "collectives that had not ended are undefined"
    )


class Link:
    """The connection to one rank.

    Args:
        connection: Its socket.
        rank, process: The number of the rank, and that of its process on its host.
        tells: True on rank 0, which tells the other ranks what it finds.

    Attributes:
        is_over: True if nothing more can come.
    """

    def __init__(self, connection: socket.socket, rank: int, process: int, tells: bool) -> None:
        self._socket, self._rank, self._process, self.tells = connection, rank, process, tells
        self._data, self.is_over = b"", False
        connection.setblocking(False)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in (
            (socket.TCP_KEEPIDLE, 1),
            (socket.TCP_KEEPINTVL, 1),
            (socket.TCP_KEEPCNT, LOST_S),
            (socket.TCP_USER_TIMEOUT, 1000 * LOST_S),
        ):
            connection.setsockopt(socket.IPPROTO_TCP, option, value)

    def fileno(self) -> int:
        return self._socket.fileno()

    def find_reason(self) -> str | None:
        """Return why the communicator cannot be used any more, by what has come; None if nothing says so."""
        try:
            data = self._socket.recv(MOST_BYTES)
        except BlockingIOError:
            return None
        except ConnectionResetError:  # the process has ended before it read all
            data = b""
        except OSError as error:
            self.is_over = True
            return (
                f"the connection to rank {self._rank} on another host is lost ({error}), so this communicator cannot "
                "be used any more"
            )
        if not data:
            self.is_over = True
            return text_of(self._rank, self._process)
        *lines, self._data = (self._data + data).split(b"\n")
        texts = [line.decode(errors="replace") for line in lines]
        self.is_over = FAREWELL in texts
        return next((text for text in texts if text != FAREWELL), None)

    def tell(self, line: str) -> None:
        """Send a line. A rank that cannot get it has ended, which another read finds."""
        with suppress(OSError):
            self._socket.send(line.encode() + b"\n")

    def close(self) -> None:
        self.tell(FAREWELL)
        self._socket.close()

    def forget(self) -> None:
        """Close the socket of a forked child. The parent keeps the connection."""
        self._socket.close()


def connect_hosts(rank: int, processes: Sequence[int], gather: Callable[[bytes], list[bytes]]) -> list[Link]:
    """Return the connections of this rank. All ranks call this. If one of them cannot connect, no rank has any.

    Args:
        rank: The number of this rank.
        processes: The number of the process of each rank.
        gather: A function that returns the bytes that each rank passes to it.
    """
    server, offer = offered() if rank == 0 else (None, NOTHING)
    offer = gather(offer.encode())[0].decode()
    failure, found = NOTHING, dict[int, socket.socket]()
    try:
        found = {0: connected(offer, rank)} if server is None else accepted(server, offer, len(processes) - 1)
    except OSError as error:
        failure = f"rank {rank}: {error}"
    finally:
        if server is not None:
            server.close()
    failures = [each.decode() for each in gather(failure.encode())]
    first = next((each for each in failures if each != NOTHING), None)
    if first is None:
        return [Link(each, other, processes[other], rank == 0) for other, each in found.items()]
    for each in found.values():
        each.close()
    if rank == 0:
        log.warning(
            "the end of ranks of other hosts is not found, as they cannot connect to rank 0: %s", first
        )
    return []


def offered() -> tuple[socket.socket, str]:
    """Return a socket that listens, and what other ranks need to know: two secrets, the port and addresses."""
    family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET
    server = socket.create_server(
        ("", 0), family=family, backlog=socket.SOMAXCONN, dualstack_ipv6=socket.has_dualstack_ipv6()
    )
    secret, answer = (secrets.token_hex(TOKEN_BYTES) for _ in range(2))
    return server, " ".join([secret, answer, str(server.getsockname()[1]), *addresses()])


def addresses() -> list[str]:
    """Return the name of this host, and its address towards other networks, if it has one."""
    found = [socket.gethostname()]
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        asked.connect(("192.0.2.1", 9))  # an address of documentation (RFC 5737): nothing is sent
        found.append(asked.getsockname()[0])
    return found


def connected(offer: str, rank: int) -> socket.socket:
    """Return the socket of a connection to rank 0.

    Raises:
        OSError: There is none. The text has the reason for each address.
    """
    secret, answer, port, *hosts = offer.split()
    refusals = []
    for host in hosts:
        try:
            connection = socket.create_connection((host, int(port)), CONNECT_S)
        except OSError as error:
            refusals.append(f"{host}: {error}")
            continue
        try:
            connection.sendall(f"{secret} {rank}\n".encode())
            connection.settimeout(ACCEPT_S)
            if first_line(connection) == answer:
                return connection
            refusals.append(f"{host}: another program listens at port {port}")
        except OSError as error:
            refusals.append(f"{host}: {error}")
        connection.close()
    raise OSError("; ".join(refusals))


def accepted(server: socket.socket, offer: str, count: int) -> dict[int, socket.socket]:
    """Return the sockets of the other ranks, by their numbers.

    Raises:
        OSError: Some do not connect in time.
    """
    secret, answer, *_ = offer.split()
    found: dict[int, socket.socket] = {}
    end = time.monotonic() + ACCEPT_S
    try:
        while len(found) < count:
            server.settimeout(max(0.001, end - time.monotonic()))
            connection, _ = server.accept()
            rank = greeted(connection, secret, answer)
            if rank is None:
                connection.close()
            else:
                found[rank] = connection
    except OSError as error:
        for each in found.values():
            each.close()
        raise OSError(f"{len(found)} of {count} ranks have connected ({error})") from error
    return found


def greeted(connection: socket.socket, secret: str, answer: str) -> int | None:
    """Return the number of the rank that has connected; None for another program."""
    try:
        connection.settimeout(HELLO_S)
        given, _, rank = first_line(connection).partition(" ")
        if not secrets.compare_digest(given.encode(), secret.encode()):
            return None
        connection.sendall(answer.encode() + b"\n")
        return int(rank)
    except (OSError, ValueError):
        return None


def first_line(connection: socket.socket) -> str:
    """Return what comes up to the end of a line, of the connection, or of what a line may have."""
    data = b""
    while b"\n" not in data and len(data) < MOST_BYTES:
        more = connection.recv(MOST_BYTES)
        if not more:
            break
        data += more
    return data.partition(b"\n")[0].decode(errors="replace")
