# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""IR for mbarrier objects, which count arrivals and expected bytes, and have phases.

The object is one word. It changes by compare-and-swap, because blocks of a cluster may arrive at each other's objects.
The state that an arrival returns is the previous word. A phase is complete when no arrival and no byte is pending:

    bit 63      phase, 0 or 1
    bits 40-60  pending bytes, signed ("tx-count", in -(2^20 - 1) .. 2^20 - 1)
    bits 20-39  arrivals that the next phase expects
    bits 0-19   pending arrivals of this phase

    mbarrier.update(object, arrivals, how many of them leave the later phases, bytes) -> previous word
"""

from __future__ import annotations

COUNT_BITS = 20
COUNT_MASK = (1 << COUNT_BITS) - 1
_TX_MASK = (1 << 21) - 1
_PHASE = -(1 << 63)

UPDATE = f"""define internal i64 @mbarrier.update(ptr %at, i64 %arrivals, i64 %dropped, i64 %bytes) noinline nounwind {{
entry:
  %first = load atomic i64, ptr %at monotonic, align 8
  br label %again
again:
  %old = phi i64 [ %first, %entry ], [ %seen, %again ]
  %phase = and i64 %old, {_PHASE}
  %pending.old = and i64 %old, {COUNT_MASK}
  %expected.up = lshr i64 %old, {COUNT_BITS}
  %expected.old = and i64 %expected.up, {COUNT_MASK}
  %bytes.up = shl i64 %old, 3
  %bytes.old = ashr i64 %bytes.up, 43
  %pending = sub i64 %pending.old, %arrivals
  %expected = sub i64 %expected.old, %dropped
  %to.come = add i64 %bytes.old, %bytes
  %open = or i64 %pending, %to.come
  %is.over = icmp eq i64 %open, 0
  %other = xor i64 %phase, {_PHASE}
  %phase.new = select i1 %is.over, i64 %other, i64 %phase
  %pending.new = select i1 %is.over, i64 %expected, i64 %pending
  %pending.low = and i64 %pending.new, {COUNT_MASK}
  %expected.low = and i64 %expected, {COUNT_MASK}
  %expected.at = shl i64 %expected.low, {COUNT_BITS}
  %bytes.low = and i64 %to.come, {_TX_MASK}
  %bytes.at = shl i64 %bytes.low, {2 * COUNT_BITS}
  %counts = or i64 %pending.low, %expected.at
  %all = or i64 %counts, %bytes.at
  %new = or i64 %all, %phase.new
  %pair = cmpxchg ptr %at, i64 %old, i64 %new acq_rel acquire, align 8
  %seen = extractvalue {{ i64, i1 }} %pair, 0
  %is.done = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %is.done, label %done, label %again
done:
  ret i64 %old
}}
"""
