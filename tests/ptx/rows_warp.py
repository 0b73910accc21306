# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Instructions of warps, after the PTX ISA. Every row is launched with blocks of BLOCK threads, two warps."""

import numpy as np

from tests.ptx.table import COUNT, op

LANE = np.arange(COUNT) % 32
FIRST = np.arange(COUNT) - LANE


def shuffled(mode, a, b, c):
    """d and p of shfl.sync (PTX ISA 9.7.9.6): c is a clamp in bits 0 to 4 and a mask of segments in bits 8 to 12."""
    b, c = b.astype(np.int64), c.astype(np.int64) + np.zeros(COUNT, np.int64)
    count, clamp, segment = b & 31, c & 31, (c >> 8) & 31
    most = (LANE & segment) | (clamp & ~segment & 31)
    least = LANE & segment
    source = {
        "up": LANE - count,
        "down": LANE + count,
        "bfly": LANE ^ count,
        "idx": least | (count & ~segment & 31),
    }[mode]
    there = source >= most if mode == "up" else source <= most
    return np.stack([a[FIRST + np.where(there, source, LANE)], there.astype(np.uint32)], axis=1).reshape(-1)


for mode, clamps in {
    "up": (0, 0x1800),
    "down": (31, 0x181F),
    "bfly": (31, 0x101F),
    "idx": (31, 0x1C1F),
}.items():
    for clamp in clamps:
        for b in ("%b", "1", "9", "31"):
            op(
                f"shfl.sync.{mode} by {b} with {clamp:#x}",
                "u32 u32 -> u32*2",
                lambda a, given, mode=mode, clamp=clamp, b=b: shuffled(
                    mode, a, given if b == "%b" else np.full(COUNT, int(b)), np.array(clamp)
                ),
                body=f"shfl.sync.{mode}.b32 %d0|%q, %a, {b}, {clamp}, -1;\n  selp.u32 %d1, 1, 0, %q;",
            )


def ballots(flags):
    """The mask of each warp, for each of its lanes."""
    bits = (flags.astype(np.uint64) << LANE.astype(np.uint64)).reshape(-1, 32).sum(1)
    return bits.astype(np.uint32).repeat(32)


def odd(a):
    return (a & 1).astype(bool)


SET = "and.b32 %n, %a, 1;\n  setp.ne.u32 %q, %n, 0;\n  "
WHOLE = np.uint32(0xFFFFFFFF)
op("vote.sync.ballot", "u32 -> u32", lambda a: ballots(odd(a)), body=f"{SET}vote.sync.ballot.b32 %d, %q, -1;")
op(
    "vote.sync.ballot of not",
    "u32 -> u32",
    lambda a: ~ballots(odd(a)),
    body=f"{SET}vote.sync.ballot.b32 %d, !%q, -1;",
)
VOTES = {
    "any": lambda mask: mask != 0,
    "all": lambda mask: mask == WHOLE,
    "uni": lambda mask: (mask == 0) | (mask == WHOLE),
}
# One warp in three says yes, one says no, and one both.
SOME = (
    "mov.u32 %k, %ctaid.x;\n  mov.u32 %n, %tid.x;\n  shr.u32 %n, %n, 5;\n  mad.lo.u32 %k, %k, 2, %n;\n  "
    "rem.u32 %k, %k, 3;\n  and.b32 %n, %a, 1;\n  setp.eq.u32 %q, %k, 0;\n  selp.u32 %n, 1, %n, %q;\n  "
    "setp.eq.u32 %q, %k, 1;\n  selp.u32 %n, 0, %n, %q;\n  setp.ne.u32 %q, %n, 0;\n  "
)


def mixed(a):
    turn = np.arange(COUNT) // 32 % 3
    return np.where(turn == 0, True, np.where(turn == 1, False, odd(a)))


for mode, decide in VOTES.items():
    op(
        f"vote.sync.{mode}",
        "u32 -> u32",
        lambda a, decide=decide: decide(ballots(mixed(a))).astype(np.uint32),
        body=f"{SOME}vote.sync.{mode}.pred %q, %q, -1;\n  selp.u32 %d, 1, 0, %q;",
        regs=".reg .b32 %k;",
    )

REDUCTIONS = {
    **{f"{name}.{kind}": (kind, ufunc) for kind in ("u32", "s32") for name, ufunc in (
        ("add", np.add), ("min", np.minimum), ("max", np.maximum))},
    "and.b32": ("u32", np.bitwise_and), "or.b32": ("u32", np.bitwise_or), "xor.b32": ("u32", np.bitwise_xor),
}  # fmt: skip
for name, (kind, ufunc) in REDUCTIONS.items():
    op(
        f"redux.sync.{name}",
        f"{kind} -> {kind}",
        lambda a, ufunc=ufunc: ufunc.reduce(a.reshape(-1, 32), axis=1, dtype=a.dtype).repeat(32),
        body=f"redux.sync.{name} %d, %a, -1;",
    )


def groups(a):
    """The lanes of the warp with the same value."""
    rows = a.reshape(-1, 32)
    same = rows[:, :, None] == rows[:, None, :]
    return (same.astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(2).astype(np.uint32).reshape(-1)


op(
    "match.any.sync.b32",
    "u32 -> u32",
    lambda a: groups(a & 3),
    body="and.b32 %n, %a, 3;\n  match.any.sync.b32 %d, %n, -1;",
)
op(
    "match.any.sync.b64", "u64 -> u32", lambda a: groups(a & np.uint64(1 << 40 | 1)),
    body="and.b64 %at, %a, 1099511627777;\n  match.any.sync.b64 %d, %at, -1;",
)  # fmt: skip
op(
    "match.all.sync.b32",
    "u32 -> u32*2",
    lambda a: np.stack([np.where(groups(mixed(a)) == WHOLE, WHOLE, 0),
                        groups(mixed(a)) == WHOLE], axis=1).astype(np.uint32).reshape(-1),
    body=f"{SOME}selp.u32 %n, 1, 0, %q;\n  match.all.sync.b32 %d0|%q, %n, -1;\n  selp.u32 %d1, 1, 0, %q;",
    regs=".reg .b32 %k;",
)  # fmt: skip
op(
    "activemask of all lanes", "-> u32", lambda: np.full(COUNT, WHOLE),
    body="bar.warp.sync -1;\n  activemask.b32 %d;",
)  # fmt: skip
op(
    "halves of a warp meet by themselves",
    "u32 -> u32",
    lambda a: np.add.reduce(a.reshape(-1, 2, 16), axis=2, dtype=np.uint32).repeat(16),
    body="""mov.u32 %n, %laneid;
  setp.lt.u32 %q, %n, 16;
  @%q bra LOW;
  redux.sync.add.u32 %d, %a, 0xFFFF0000;
  bra.uni JOIN;
LOW:
  redux.sync.add.u32 %d, %a, 0xFFFF;
JOIN:
  bar.warp.sync -1;""",
)


# ---- barriers that join what threads say: each block is two warps ----


def by_block(flags, join, size=64):
    """Returns, for each thread, the result of `join` for its group of `size` threads."""
    return join(flags.reshape(-1, size), axis=1).astype(np.uint32).repeat(size)


op(
    "bar.red.popc.u32",
    "u32 -> u32",
    lambda a: by_block(odd(a), np.sum),
    body=f"{SET}bar.red.popc.u32 %d, 0, %q;",
)
op(
    "barrier.cta.red.popc.aligned.u32 of not",
    "u32 -> u32",
    lambda a: by_block(~odd(a), np.sum),
    body=f"{SET}barrier.cta.red.popc.aligned.u32 %d, 15, 64, !%q;",
)
for kind, join in {"and": np.all, "or": np.any}.items():
    op(
        f"bar.red.{kind}.pred",
        "u32 -> u32",
        lambda a, join=join: by_block(mixed(a), join),
        body=f"{SOME}bar.red.{kind}.pred %q, 3, %q;\n  selp.u32 %d, 1, 0, %q;",
        regs=".reg .b32 %k;",
    )
    op(
        f"barrier.red.{kind}.pred of a warp",
        "u32 -> u32",
        lambda a, join=join: by_block(mixed(a), join, 32),
        body=f"""{SOME}mov.u32 %k, %tid.x;
  shr.u32 %k, %k, 5;
  barrier.red.{kind}.pred %q, %k, 32, %q;
  selp.u32 %d, 1, 0, %q;""",
        regs=".reg .b32 %k;",
    )
op(
    "bar.red 100 times, each with other votes",
    "u32 -> u32",
    lambda a: sum(((a.reshape(-1, 64) >> np.uint32(k % 32)) & 1).sum(1) * np.uint32(k + 1) for k in range(100))
    .astype(np.uint32).repeat(64),
    body="""mov.u32 %k, 0;
  mov.u32 %sum, 0;
TURN:
  and.b32 %n, %k, 31;
  shr.u32 %n, %a, %n;
  and.b32 %n, %n, 1;
  setp.ne.u32 %q, %n, 0;
  bar.red.popc.u32 %n, 1, %q;
  add.u32 %k, %k, 1;
  mad.lo.u32 %sum, %n, %k, %sum;
  setp.lt.u32 %q, %k, 100;
  @%q bra TURN;
  mov.u32 %d, %sum;""",
    regs=".reg .b32 %k, %sum;",
)  # fmt: skip

# ---- one lane leads ----

op(
    "elect.sync of all lanes",
    "-> u32*2",
    lambda: np.stack([0 * LANE, LANE == 0], axis=1).astype(np.uint32).reshape(-1),
    body="elect.sync %d0|%q, -1;\n  selp.u32 %d1, 1, 0, %q;",
)
op(
    "elect.sync of half a warp",
    "-> u32*2",
    lambda: np.stack([LANE // 16 * 16, LANE % 16 == 0], axis=1).astype(np.uint32).reshape(-1),
    body="""mov.u32 %n, %laneid;
  setp.lt.u32 %q, %n, 16;
  @%q bra LOW;
  elect.sync %d0|%q, 0xFFFF0000;
  bra.uni JOIN;
LOW:
  elect.sync %d0|%q, 0xFFFF;
JOIN:
  selp.u32 %d1, 1, 0, %q;""",
)
