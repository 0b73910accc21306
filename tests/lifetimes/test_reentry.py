# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: looking at an argument may run code of the user, which closes what the call is about. Then the call is refused,
or does its work; the process goes on."""

import pytest

import cuda_graphs as cg


class Theirs:
    """A stream of others, and a number, that do something when they are looked at."""

    def __init__(self, act, stream):
        self.act, self.stream = act, stream

    def __cuda_stream__(self):
        self.act()
        return (0, self.stream.handle)

    def __index__(self):
        self.act()
        return 1


class Nothing(cg.MemoryResource):
    """Allocates nothing."""

    is_device_accessible = is_host_accessible = True
    device_id = 0

    def allocate(self, size, *, stream=None):
        return None

    def deallocate(self, ptr, size, *, stream):
        pass


USES = {
    "fill": lambda buffer, other, stream: buffer.fill(1, stream=stream),
    "copy_to": lambda buffer, other, stream: buffer.copy_to(other, stream=stream),
    "copy_from": lambda buffer, other, stream: buffer.copy_from(other, stream=stream),
    "set_deallocation_stream": lambda buffer, other, stream: buffer.set_deallocation_stream(stream),
}


@pytest.mark.parametrize("use", USES)
def test_a_buffer_that_is_closed_meanwhile_is_refused(use, device, stream):
    buffer, other = (device.allocate(64, stream=stream) for _ in range(2))
    with pytest.raises(cg.ClosedBufferError):
        USES[use](buffer, other, Theirs(buffer.close, stream))


def test_a_buffer_that_is_closed_while_it_is_closed_is_closed(device, stream):
    buffer = device.allocate(64, stream=stream)
    buffer.close(stream=Theirs(buffer.close, stream))
    assert buffer.is_closed


def test_a_stream_that_is_closed_while_it_is_told_to_wait_waits(device, stream):
    waiting = device.create_stream()
    waiting.wait(Theirs(waiting.close, stream))
    assert waiting.is_closed


def test_a_resource_that_makes_no_buffer_is_a_type_error(device, stream, pinned):
    buffer = cg.Buffer.from_handle(pinned(1).ctypes.data, 4, mr=Nothing())
    with pytest.raises(TypeError, match=r"Nothing\.allocate must return a Buffer, got NoneType"):
        buffer.copy_to(stream=stream)


def test_a_body_that_goes_meanwhile_is_refused(device, stream):
    uses = (
        lambda body, act: body.create_condition(Theirs(act, stream)),
        lambda body, act: body.instantiate(upload_stream=Theirs(act, stream)),
        lambda body, act: body.alloc(Theirs(act, stream)),
    )
    for use in uses:
        g = cg.GraphDef()
        loop = g.while_loop(g.create_condition(0))
        body = loop.body
        with pytest.raises(RuntimeError, match="no longer valid") as caught:
            use(body, loop.destroy)
        assert not isinstance(caught.value, cg.CUDAError)
        assert g.nodes() == set()
