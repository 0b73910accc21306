# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A server in one launch: requests enter and leave a running device loop through a mailbox in pinned memory.

A small recurrent network writes a text for each request, one token in each pass of a while node, until it writes the
token END. Its weights are integers, so NumPy gives the same texts. Requests share the passes: a request enters when a
place of the mailbox is free, and its answer leaves as soon as its last token is written. The host only reads and writes
pinned memory. Nothing is launched and no one waits for the device until the server stops.

python examples/serving.py [requests]
"""

import sys
import time
from collections import deque

import numpy as np

import cuda_graphs as cg

PLACES, TOKENS, WIDTH, MOST, END = 8, 24, 16, 48, 0  # MOST: tokens of an answer
FREE, REQUEST, ANSWER = 0, 1, 2  # states of a place
IDLE, WRITING, DONE = 0, 1, 2  # what the device does with a place
MODULUS = 97

Numbers = cg.Array1[cg.i32]
Table = cg.Array2[cg.i32]


@cg.kernel
def write_tokens(
    state: Numbers, prompt: Numbers, answers: Table, lengths: Numbers,
    work: Numbers, last: Numbers, hidden: Table, fresh: Table, mix: Table, embed: Table, read: Table,
) -> None:  # fmt: skip
    for p in state:
        if state[p] == REQUEST and work[p] == IDLE:
            work[p] = WRITING
            last[p] = prompt[p]
            lengths[p] = 0
            for j in range(WIDTH):
                hidden[p, j] = 1
        if work[p] == WRITING:
            for j in range(WIDTH):
                total = embed[last[p], j]
                for k in range(WIDTH):
                    total += mix[j, k] * hidden[p, k]
                fresh[p, j] = total % MODULUS
            best, most = 0, -1
            for token in range(TOKENS):
                score = 0
                for j in range(WIDTH):
                    score += read[token, j] * fresh[p, j]
                if score > most:
                    best, most = token, score
            for j in range(WIDTH):
                hidden[p, j] = fresh[p, j]
            answers[p, lengths[p]] = best
            lengths[p] += 1
            last[p] = best
            if best == END or lengths[p] == MOST:
                work[p] = DONE


@cg.kernel
def publish(state: Numbers, work: Numbers) -> None:
    """Tell the host of answers, in a kernel of its own: all of an answer is written before its state."""
    for p in state:
        if work[p] == DONE:
            work[p] = IDLE
            state[p] = ANSWER


device = cg.Device()
device.set_current()
stream = device.create_stream()
pinned = cg.PinnedMemoryResource()


def mailbox(*shape: int) -> tuple[cg.NDArray, np.ndarray]:
    """Return integers in pinned memory, as the device sees them and as the host does."""
    buffer = pinned.allocate(4 * int(np.prod(shape)), stream=stream)
    seen = np.from_dlpack(buffer).view(np.int32).reshape(shape)
    seen[...] = 0
    return buffer.view(cg.i32, shape), seen


state, host_state = mailbox(PLACES)
prompt, host_prompt = mailbox(PLACES)
lengths, host_lengths = mailbox(PLACES)
answers, host_answers = mailbox(PLACES, MOST)
stop, host_stop = mailbox(1)

rng = np.random.default_rng(7)
weights = [
    rng.integers(0, MODULUS, shape).astype(np.int32)
    for shape in ((WIDTH, WIDTH), (TOKENS, WIDTH), (TOKENS, WIDTH))
]
mix, embed, read = (cg.array(each, cg.i32) for each in weights)
work, last = cg.zeros(PLACES, cg.i32), cg.zeros(PLACES, cg.i32)
hidden, fresh = cg.zeros((PLACES, WIDTH), cg.i32), cg.zeros((PLACES, WIDTH), cg.i32)

g = cg.GraphDef()
loop = g.while_loop(lambda stop: stop[0] == 0, args=(stop,), do=True)
written = loop.body.call(
    write_tokens, state, prompt, answers, lengths, work, last, hidden, fresh, mix, embed, read
)
written.call(publish, state, work)
graph = g.instantiate()


def serve(prompts: list[int]) -> dict[int, list[int]]:
    """Return the answer to each request, by its number. The device loop is running."""
    waiting, owner, found = deque(enumerate(prompts)), dict[int, int](), dict[int, list[int]]()
    while len(found) < len(prompts):
        for place in range(PLACES):
            if host_state[place] == ANSWER:
                found[owner.pop(place)] = host_answers[place, : host_lengths[place]].tolist()
                host_state[place] = FREE
            if host_state[place] == FREE and waiting:
                owner[place], host_prompt[place] = waiting.popleft()
                host_state[place] = REQUEST
        time.sleep(0)  # other threads run
    return found


def expected(token: int) -> list[int]:
    """Return the answer by NumPy."""
    mix, embed, read = (each.astype(np.int64) for each in weights)
    state, written = np.ones(WIDTH, np.int64), list[int]()
    while not written or (written[-1] != END and len(written) < MOST):
        state = (mix @ state + embed[token]) % MODULUS
        token = int(np.argmax(read @ state))
        written.append(token)
    return written


count = int(sys.argv[1]) if len(sys.argv) > 1 else 64
prompts = rng.integers(1, TOKENS, count).tolist()
graph.launch(stream)  # the server starts
try:
    begun = time.perf_counter()
    found = serve(prompts)
    seconds = time.perf_counter() - begun
finally:
    host_stop[0] = 1  # the loop ends after this pass
stream.sync()

assert all(found[number] == expected(token) for number, token in enumerate(prompts))
tokens = sum(map(len, found.values()))
print(
    f"{count} requests, {tokens} tokens of {len({tuple(each) for each in found.values()})} texts, in one launch"
)
print(f"{tokens / seconds:.0f} tokens a second on the {cg.driver_info().kind} driver; NumPy agrees")
