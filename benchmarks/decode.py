# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Greedy decoding with a static cache, until an end token or a number of tokens, by a transformer of PyTorch.

    python benchmarks/decode.py [--models 125M 1.3B] [--batches 1 8] [--tokens 256] [--rounds 3] [--seconds 280]
                                [--contestants eager "while node"] [--json out.json]

The contestants make the same tokens:

    eager               PyTorch, and the host asks after each token whether to go on
    torch.cuda.graph    a graph of one step, launched for each token, and the same question
    reduce-overhead     torch.compile(mode="reduce-overhead") of one step, and the same question
    while node          one launch: the step is the body of a while node of cuda_graphs, whose flag the step writes
    while node, compiled    the same with the kernels of torch.compile, without its graphs

It needs a GPU and PyTorch 2.5 or newer. A contestant that would begin after `--seconds` is left out, and the table says
so. Tokens a second are those of all rows of the batch.
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from statistic import cell, record
from torch import nn
from torch.nn import functional

import cuda_graphs as cg

VOCABULARY = 50304
PROMPT = 8  # tokens at the begin
NEVER = -1  # an end token that no row makes


@dataclass
class Size:
    layers: int
    width: int
    heads: int


SIZES = {"tiny": Size(2, 64, 2), "125M": Size(12, 768, 12), "1.3B": Size(24, 2048, 16)}


class Block(nn.Module):
    """Attention over the cache, and two matrices with a GELU."""

    def __init__(self, size: Size, batch: int, length: int) -> None:
        super().__init__()
        self.heads, self.depth = size.heads, size.width // size.heads
        self.before, self.between = nn.LayerNorm(size.width), nn.LayerNorm(size.width)
        self.inputs = nn.Linear(size.width, 3 * size.width)
        self.output = nn.Linear(size.width, size.width)
        self.up, self.down = nn.Linear(size.width, 4 * size.width), nn.Linear(4 * size.width, size.width)
        shape = batch, size.heads, length, self.depth
        self.register_buffer("keys", torch.zeros(shape))
        self.register_buffer("values", torch.zeros(shape))

    def forward(self, x: torch.Tensor, place: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        batch = x.shape[0]
        rows = self.inputs(self.before(x)).view(batch, 3, self.heads, 1, self.depth)
        query, key, value = rows.unbind(1)
        self.keys.index_copy_(2, place, key)
        self.values.index_copy_(2, place, value)
        scores = query @ self.keys.transpose(2, 3) * self.depth**-0.5 + mask
        found = functional.softmax(scores, dim=-1) @ self.values
        x = x + self.output(found.reshape(batch, -1))
        return x + self.down(functional.gelu(self.up(self.between(x))))


class Decoder(nn.Module):
    """One step: from the token at a place to the next one."""

    def __init__(self, size: Size, batch: int, length: int) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, size.width)
        self.places = nn.Embedding(length, size.width)
        self.blocks = nn.ModuleList(Block(size, batch, length) for _ in range(size.layers))
        self.last = nn.LayerNorm(size.width)
        self.register_buffer("numbers", torch.arange(length), persistent=False)

    def forward(self, token: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
        x = self.words(token) + self.places(place)
        mask = torch.zeros_like(self.numbers, dtype=x.dtype).masked_fill(self.numbers > place, float("-inf"))
        for block in self.blocks:
            x = block(x, place, mask)
        return (self.last(x) @ self.words.weight.T).argmax(-1)


class Task:
    """The state of a decoding, in memory that stays: tokens, the place, the ended rows, and whether to go on."""

    def __init__(self, size: Size, batch: int, count: int, end: int) -> None:
        torch.manual_seed(1)
        self.length = PROMPT + count
        with torch.device("cuda"):
            self.model = Decoder(size, batch, self.length).to(torch.bfloat16).eval()
            self.tokens = torch.zeros(batch, self.length, dtype=torch.int64)
            self.prompt = torch.randint(VOCABULARY, (batch, PROMPT))
            self.place = torch.zeros(1, dtype=torch.int64)
            self.ended = torch.zeros(batch, dtype=torch.bool)
            self.more = torch.ones(1, dtype=torch.int32)
            self.end = torch.tensor(end)
        self.next: Callable[..., torch.Tensor] = self.model

    def reset(self) -> None:
        """Begin again behind the prompt, all of whose tokens but the last are in the cache."""
        self.tokens.zero_()
        self.tokens[:, :PROMPT] = self.prompt
        self.ended.zero_()
        self.more.fill_(1)
        for place in range(PROMPT - 1):
            self.place.fill_(place)
            self.model(self.tokens[:, place], self.place)
        self.place.fill_(PROMPT - 1)
        torch.cuda.synchronize()

    def step(self) -> None:
        """Make one token for each row, and write whether another step follows."""
        found = self.next(self.tokens.index_select(1, self.place).squeeze(1), self.place)
        found = torch.where(self.ended, self.end, found)
        self.ended |= found == self.end
        self.place += 1
        self.tokens.index_copy_(1, self.place, found.unsqueeze(1))
        self.more.copy_((self.place < self.length - 1) & ~self.ended.all())

    def made(self) -> int:
        """The number of tokens that each row got."""
        return int(self.place) + 1 - PROMPT


def asking(step: Callable[[], None], task: Task) -> Callable[[], None]:
    def run() -> None:
        while True:
            step()
            if not int(task.more):
                return

    return run


def eager(task: Task) -> Callable[[], None]:
    return asking(task.step, task)


def one_graph(task: Task) -> Callable[[], None]:
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        task.step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        task.step()
    return asking(graph.replay, task)


def compiled(task: Task) -> Callable[[], None]:
    task.next = torch.compile(task.model, mode="reduce-overhead", fullgraph=True, dynamic=False)

    def step() -> None:
        torch.compiler.cudagraph_mark_step_begin()
        task.step()

    for _ in range(3):
        step()
    return asking(step, task)


def while_node(task: Task) -> Callable[[], None]:
    stream = cg.Device().create_stream()
    with cg.stream(stream):
        for _ in range(3):
            task.step()
    torch.cuda.synchronize()
    with cg.capture(stream) as builder, builder.while_loop(task.more):
        task.step()
    graph = builder.complete()

    def run() -> None:
        graph.launch(stream)
        stream.sync()

    return run


def compiled_while_node(task: Task) -> Callable[[], None]:
    task.next = torch.compile(task.model, fullgraph=True, dynamic=False)
    return while_node(task)


CONTESTANTS: dict[str, Callable[[Task], Callable[[], None]]] = {
    "eager": eager,
    "torch.cuda.graph": one_graph,
    "while node": while_node,
    "reduce-overhead": compiled,
    "while node, compiled": compiled_while_node,
}


def timed(task: Task, run: Callable[[], None]) -> float:
    """Milliseconds for each step of one decoding."""
    task.reset()
    start = time.perf_counter()
    run()
    torch.cuda.synchronize()
    return 1e3 * (time.perf_counter() - start) / task.made()


@torch.inference_mode()
def compare(
    names: Sequence[str], size: Size, batch: int, count: int, rounds: int, deadline: float
) -> dict[str, Any]:
    """Run contestants. Each entry has the record of milliseconds for a step, the tokens a second of all rows, the
    share of the tokens that are those of the first contestant, and whether it ends at an end token.
    """
    task = Task(size, batch, count, NEVER)
    found: dict[str, Any] = {}
    wanted: torch.Tensor | None = None
    for name in names:
        if time.monotonic() > deadline:
            found[name] = None
            continue
        task.next = task.model
        task.end.fill_(NEVER)
        task.reset()
        run = CONTESTANTS[name](task)
        timed(task, run)
        turns = [timed(task, run) for _ in range(rounds)]
        tokens = task.tokens.clone()
        if wanted is None:
            wanted = tokens
        found[name] = {
            "ms_a_step": record(turns),
            "tokens_a_second": batch * 1e3 / statistics.median(turns),
            "same_tokens": float((tokens == wanted).float().mean()),
            "ends": end_of(task, run, tokens),
        }
    return found


def end_of(task: Task, run: Callable[[], None], tokens: torch.Tensor) -> bool:
    """Return whether a decoding ends where the last row has its first end token. That is the token in the middle of the
    first row.
    """
    end = int(tokens[0, tokens.shape[1] // 2])
    task.end.fill_(end)
    task.reset()
    run()
    places = []
    for row in tokens[:, PROMPT:].tolist():
        places.append(row.index(end) + 1 if end in row else len(row))
    return task.made() == max(places)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", choices=SIZES, nargs="+", default=["125M", "1.3B"])
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--contestants", choices=CONTESTANTS, nargs="+", default=list(CONTESTANTS))
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=280)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    os.environ["CUDA_GRAPHS_DRIVER"] = "cuda"
    cg.Device().set_current()
    deadline = time.monotonic() + args.seconds
    table: dict[str, Any] = {}
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, decodings of {args.tokens} tokens")
    print(f"median (best, spread) of {args.rounds}")
    for model in args.models:
        for batch in args.batches:
            key = f"{model}, batch {batch}"
            table[key] = compare(args.contestants, SIZES[model], batch, args.tokens, args.rounds, deadline)
            torch.compiler.reset()
            torch.cuda.empty_cache()
            for name, one in table[key].items():
                print(f"{key:16} {name:22} {line(one)}", flush=True)
            if args.json:
                args.json.write_text(json.dumps(table, indent=1))


def line(one: dict[str, Any] | None) -> str:
    if one is None:
        return "not run: the time was over"
    speed = f"{one['tokens_a_second']:8.0f} tokens/s, {cell(one['ms_a_step'], 3)} ms a step"
    return f"{speed:48} {one['same_tokens']:7.2%} as the first, ends at its token: {one['ends']}"


if __name__ == "__main__":
    main()
